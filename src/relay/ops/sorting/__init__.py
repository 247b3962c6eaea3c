"""Operators that order elements: sort, topk, unique, searchsorted."""

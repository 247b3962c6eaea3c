"""Recursive functions over data types, run for all their instances on a level at once: what AutoBatch does."""

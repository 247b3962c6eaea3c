"""Statements of Python."""

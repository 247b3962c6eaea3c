"""Operators that move elements: shapes, axes, slices, padding, concatenation, layouts."""

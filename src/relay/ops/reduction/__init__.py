"""Operators that make one element of many: sums, extrema, their places, running sums."""

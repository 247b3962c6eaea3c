"""Recursion as loops, and what does not change taken out of them."""

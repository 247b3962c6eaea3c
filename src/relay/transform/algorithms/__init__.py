"""Operators by other operators, where another way to compute the same is faster, narrower, or what a target has."""

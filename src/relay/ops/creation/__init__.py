"""Operators that make tensors of numbers: constants, ranges, random numbers, triangles."""

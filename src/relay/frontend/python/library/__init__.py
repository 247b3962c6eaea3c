"""Operators and functions of Python and NumPy, on values of the program."""

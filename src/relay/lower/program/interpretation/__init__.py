"""The interpreter of the program form."""

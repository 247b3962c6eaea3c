"""Functions of NumPy on whole arrays, by what they do."""

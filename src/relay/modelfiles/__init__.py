"""Models in files: reading them, and compiling each of them once."""

"""Graphs that PyTorch captures while it runs: which parts of them Relay takes, and those parts as modules."""

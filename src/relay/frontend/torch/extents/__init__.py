"""Extents of PyTorch: as it writes them, and numbers that are computed from them."""

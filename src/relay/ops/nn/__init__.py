"""Operators of networks: products, convolutions, pooling, normalization, attention, resizing."""

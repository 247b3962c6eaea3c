"""`relay.random`: random numbers as functions of keys."""

from relay.ops.creation.random import multinomial, normal, threefry_generate, threefry_key, threefry_split, uniform

__all__ = [
    "multinomial",
    "normal",
    "threefry_generate",
    "threefry_key",
    "threefry_split",
    "uniform",
]

"""`relay.image`: operators on images."""

from relay.ops.nn.resize import resize2d

__all__ = [
    "resize2d",
]

"""`relay.image`: operators on images."""

from relay.ops.resize import resize2d

__all__ = [
    "resize2d",
]

"""`relay.annotation`: what a program says of itself without changing what it means."""

from relay.ops.device import on_device

__all__ = ["on_device"]

"""An accelerator that is simulated: products of matrices by tiles, driven by a stream of instructions."""

from toy_accelerator.simulator import open_device
from toy_accelerator.target import KIND

__all__ = ["KIND", "open_device"]

"""A GPU that is simulated: blocks of threads with shared memory and barriers."""

from toy_gpu.simulator import open_device
from toy_gpu.target import KIND

__all__ = ["KIND", "open_device"]

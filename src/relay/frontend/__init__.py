"""Importers: programs of other systems become modules of Relay."""

from relay.frontend.onnx import from_onnx, read_onnx
from relay.frontend.torch import from_pytorch

__all__ = ["from_onnx", "from_pytorch", "read_onnx"]

"""ONNX models in."""

from relay.frontend.onnx.converters.table import CONVERTERS
from relay.frontend.onnx.importing import from_onnx, read_onnx

__all__ = ["CONVERTERS", "from_onnx", "read_onnx"]

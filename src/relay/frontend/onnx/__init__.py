"""ONNX models in."""

from relay.frontend.onnx.importing import from_onnx, read_onnx
from relay.frontend.onnx.table import CONVERTERS

__all__ = ["CONVERTERS", "from_onnx", "read_onnx"]

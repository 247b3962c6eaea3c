"""Importers: programs of other systems become modules of Relay."""

from relay.frontend.onnx import from_onnx, read_onnx

__all__ = ["from_onnx", "read_onnx"]

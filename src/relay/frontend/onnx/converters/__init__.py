"""Converters of ONNX operators, by family, and their table."""

"""Random ONNX graphs: valid by ONNX's own checker, of operators of all families with random attributes."""

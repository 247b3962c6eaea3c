"""Networks as ONNX models: made here, and exported from PyTorch and JAX."""

"""`torch.compile(model, backend="relay")`: graphs that PyTorch captures while a model runs, compiled.

`pip install` makes the backend known to PyTorch; where the package is used without, `register()` does.
"""

from relay.dynamo.compiling import backend, register

__all__ = ["backend", "register"]

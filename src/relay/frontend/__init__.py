"""Importers: programs of other systems become modules of Relay. Each is loaded when it is first asked for."""

from typing import TYPE_CHECKING

from relay.base.names.loading import names_when_asked

if TYPE_CHECKING:
    from relay.frontend.onnx import from_onnx, read_onnx
    from relay.frontend.torch import from_pytorch

__all__ = ["from_onnx", "from_pytorch", "read_onnx"]

__getattr__ = names_when_asked(
    __name__,
    {
        "from_onnx": "relay.frontend.onnx",
        "from_pytorch": "relay.frontend.torch",
        "read_onnx": "relay.frontend.onnx",
    },
    ("onnx", "python", "shared", "torch"),
)

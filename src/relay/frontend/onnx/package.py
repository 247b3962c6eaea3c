"""The `onnx` package, which is optional."""

from __future__ import annotations

from types import ModuleType

from relay.frontend.shared.optional_package import optional_package


def onnx_package(part: str = "onnx") -> ModuleType:
    """The module `onnx`, or a `part` of it such as `onnx.defs`.

    Raises `RelayError` (rule `missing-package`) when it is not installed.
    """
    return optional_package(part, "reading ONNX models", "onnx")

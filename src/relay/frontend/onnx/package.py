"""The `onnx` package, which is optional: importing `relay` must neither need it nor pay for it."""

from __future__ import annotations

import importlib
from types import ModuleType

from relay.base.diagnostics import RelayError


def onnx_package(part: str = "onnx") -> ModuleType:
    """The module `onnx`, or a `part` of it such as `onnx.defs`.

    Raises `RelayError` (rule `missing-package`) when it is not installed.
    """
    try:
        return importlib.import_module(part)
    except ModuleNotFoundError as missing:
        raise RelayError(
            rule="missing-package",
            message="reading ONNX models needs the package `onnx`",
            found=f"no module called {missing.name}",
            remedy="pip install relay[onnx]",
        ) from missing

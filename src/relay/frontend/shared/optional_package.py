"""Packages that an importer needs and `relay` does not: importing `relay` must neither need them nor pay for them."""

from __future__ import annotations

import importlib
from types import ModuleType

from relay.base.diagnostics import RelayError


def optional_package(part: str, purpose: str, extra: str) -> ModuleType:
    """The package `part`, or a module in it such as `onnx.defs`; `purpose` is what needs it.

    Raises `RelayError` (rule `missing-package`) when it is not installed.
    """
    try:
        return importlib.import_module(part)
    except ModuleNotFoundError as missing:
        raise RelayError(
            rule="missing-package",
            message=f"{purpose} needs the package `{part.partition('.')[0]}`",
            found=f"no module called {missing.name}",
            remedy=f'pip install "relay-ir[{extra}]"',
        ) from missing

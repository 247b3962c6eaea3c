"""Libraries that not every user of relay has: loaded when they are first needed, and named when they are missing."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from relay.base.diagnostics import RelayError

EXTRAS: Mapping[str, str] = MappingProxyType({"onnx": "onnx", "onnxruntime": "bench", "matplotlib": "bench"})
"""Which extra of relay brings a library; the others come with `peers`."""


def library(name: str) -> Any:
    """The module called `name`. Raises `RelayError` (rule `missing-package`) where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise RelayError(
            rule="missing-package",
            message=f"comparing with {package} needs it to be installed",
            remedy=f"pip install 'relay[{EXTRAS.get(package, 'peers')}]'",
        ) from error

"""Names of a package that stand in a folder above its own, and are loaded when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package some of whose names are those of modules in `homes`.

    >>> late_names("shapes", {"pi": "math"})("pi")
    3.141592653589793
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(homes[name]), name)

    return find

"""Names of packages that are loaded when they are first asked for, so that importing a package is cheap."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def names_when_asked(package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names have `homes`, and whose `modules` are attributes.

    >>> get = names_when_asked("os", {"join": "os.path"}, ("path",))
    >>> get("join")("a", "b"), get("path").basename("a/b")
    ('a/b', 'b')
    >>> get("missing")
    Traceback (most recent call last):
        ...
    AttributeError: module 'os' has no attribute 'missing'
    """

    def find(name: str) -> Any:
        if name in modules:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(homes[name]), name)

    return find


def when_called(module: str, name: str) -> Callable[..., Any]:
    """A function of a module, which is loaded by the first call.

    >>> when_called("math", "sqrt")(4.0)
    2.0
    """

    def call(*arguments: Any) -> Any:
        return getattr(importlib.import_module(module), name)(*arguments)

    return call

"""Relay: a functional, statically typed language for machine learning, and the compiler that makes it fast.

    import relay
    module, params = relay.frontend.from_onnx("model.onnx")
    executable = relay.build(module, target="llvm", params=params, opt_level=3)
    y = executable(x)

Names are loaded when they are first used, so that `import relay` is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from relay._names import NAMES, SUBMODULES

if TYPE_CHECKING:
    from relay._face import *  # noqa: F403

__all__ = [*NAMES, *SUBMODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in SUBMODULES:
        return importlib.import_module(f"relay.{name}")
    if name in NAMES:
        value = getattr(importlib.import_module(NAMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'relay' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)

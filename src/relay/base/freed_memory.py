"""Memory that a compiler freed, given back to the system."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def gives_back_memory(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """When `function` has ended, what it freed is the system's again, and what lies above it can be when it is freed.

    glibc gives back by itself only what lies at the end of its heap, and a compiler frees as much as weights take in
    the midst of what callers keep.
    """

    @wraps(function)
    def called(*positional: Parameters.args, **named: Parameters.kwargs) -> Result:
        try:
            return function(*positional, **named)
        finally:
            _trim()(0)

    return called


@cache
def _trim() -> Callable[[int], Any]:
    """`malloc_trim` (malloc_trim(3)), of glibc alone: other allocators know no such thing."""
    return getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)

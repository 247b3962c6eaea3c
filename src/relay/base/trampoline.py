"""Recursive algorithms without recursion: a generator yields the generator that it calls, and is sent its result."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(call: Generator[Any, Any, Result]) -> Result:
    """The value that `call` returns. Depth is limited by memory alone. What a called generator raises, its caller may
    catch, as if it had called a function.

    >>> def depth(tree):
    ...     depths = [0]
    ...     for branch in tree:
    ...         depths.append((yield depth(branch)))
    ...     return 1 + max(depths)
    >>> run(depth(((), ((),))))
    3
    """
    stack: list[Generator[Any, Any, Any]] = [call]
    value: Any = None
    error: Exception | None = None
    while True:
        try:
            called = stack[-1].send(value) if error is None else stack[-1].throw(error)
        except StopIteration as finished:
            stack.pop()
            value, error = finished.value, None
            if not stack:
                return value
        except Exception as raised:
            stack.pop()
            error = raised
            if not stack:
                raise
        else:
            stack.append(called)
            value, error = None, None

"""Recursive algorithms without recursion: a generator yields the generator that it calls, and is sent its result."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def run(call: Generator[Any, Any, Result]) -> Result:
    """The value that `call` returns. Depth is limited by memory alone.

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
    while True:
        try:
            stack.append(stack[-1].send(value))
            value = None
        except StopIteration as finished:
            stack.pop()
            value = finished.value
            if not stack:
                return value

"""How the work of an action grows with its input: in calls or iterations and not in seconds, so that it holds on any
machine."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from relay.base.dtypes import DType
from relay.tir.expr import Call
from relay.tir.interpretation.interpreter import interpret
from relay.tir.intrinsics import INTRINSICS
from relay.tir.stmt import Evaluate, For, PrimFunc, Stmt
from relay.tir.stmt import Sequence as Statements
from relay.tir.traversal import map_statement


def calls(action: Callable[[], object]) -> int:
    """The number of calls of Python and built-in functions that the action makes."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def is_linear(action: Callable[[int], object], size: int) -> bool:
    """Whether twice the input costs little more than twice the calls (quadratic growth would cost four times)."""
    action(size)  # caches fill
    return calls(lambda: action(2 * size)) < 2.5 * calls(lambda: action(size))


def iterations(func: PrimFunc, arrays: Sequence[np.ndarray]) -> int:
    """How often the bodies of loops run, all loops together."""
    count = 0

    def tick() -> None:
        nonlocal count
        count += 1

    def counted(statement: Stmt) -> Stmt:
        if not isinstance(statement, For):
            return statement
        return replace(statement, body=Statements((Evaluate(Call("tick", (), DType.BOOL)), statement.body)))

    ticking = replace(func, body=map_statement(func.body, counted))
    interpret(ticking, arrays, intrinsics={**INTRINSICS, "tick": tick})
    return count

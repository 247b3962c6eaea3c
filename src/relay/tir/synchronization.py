"""What threads do together: calls with a meaning, which interpreter, verifier and targets know by their names.

`barrier.block`: every thread of a block waits here for all others of it; what they have written is seen behind it.
"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.tir.expr import Call
from relay.tir.stmt import Evaluate, Stmt

_BARRIER = "barrier."


def barrier(level: str) -> Evaluate:
    """All threads in one unit of `level` wait for each other.

    >>> barrier_level(barrier("block"))
    'block'
    """
    return Evaluate(Call(_BARRIER + level, (), DType.INT32))


def barrier_level(statement: Stmt) -> str | None:
    """The level of a barrier; None for any other statement."""
    match statement:
        case Evaluate(Call(name)) if name.startswith(_BARRIER):
            return name.removeprefix(_BARRIER)
        case _:
            return None

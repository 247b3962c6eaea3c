"""Where runs of statements end, and what stands there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.ir.expr import Expr

End = Callable[[Block], Expr]


@frozen
class Exits:
    """What stands where statements end: after the last one, at `return`, at `break` and at `continue`. Each gives the
    whole expression of the block it is handed."""

    fall: End
    give: Callable[[Block, Any, Span], Expr]
    leave: End | None = None
    again: End | None = None


def cannot(block: Block) -> Expr:  # noqa: ARG001
    raise AssertionError("these statements do not leave")


def cannot_give(block: Block, value: Any, span: Span) -> Expr:  # noqa: ARG001
    raise AssertionError("these statements do not return")


NEVER = Exits(cannot, cannot_give)

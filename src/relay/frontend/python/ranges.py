"""What is known of integers while a program is read: so ordinary loops pay for no checks."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from relay.arith.bounds import Interval
from relay.arith.expr import Comparison, IntExpr, add, free_symbols
from relay.arith.prove import Proof, prove
from relay.base.frozen import frozen
from relay.ir.expr import Expr, ExprBase

if TYPE_CHECKING:
    from relay.frontend.python.block import Block

_LARGEST_STEP = 1 << 20  # what is added to a position within some extent stays within 32 bits


@frozen
class Range:
    """`low <= value < stop`, as far as they are known; `exactly` what extent it is."""

    low: int | None = None
    stop: IntExpr | None = None
    exactly: IntExpr | None = None

    @property
    def is_not_negative(self) -> bool:
        return self.low is not None and self.low >= 0

    def may_be(self, number: int) -> bool:
        return self.low is None or self.low <= number

    def is_below(self, extent: IntExpr) -> bool:
        """Whether the value is less than an extent, for certain."""
        if self.stop is None:
            return False
        symbols = free_symbols(self.stop) | free_symbols(extent)
        extents = {symbol: Interval(0, None) for symbol in symbols}
        return prove(Comparison(self.stop, "<=", extent), extents) is Proof.YES


UNKNOWN = Range()


def range_of(block: Block, value: Any) -> Range:
    """What is known of an integer.

    >>> range_of(None, 3)
    Range(low=3, stop=4, exactly=3)
    """
    if isinstance(value, ExprBase):
        return block.session.ranges.get(value, UNKNOWN)  # type: ignore[arg-type]
    return Range(value, value + 1, value) if isinstance(value, int) else UNKNOWN


def range_of_result(block: Block, operator: ast.operator, left: Any, right: Any, result: Expr) -> Expr:
    """The result, of which is known what follows from the operands."""
    known = range_of(block, left)
    match operator, right:
        case ((ast.Add() | ast.Sub()), int()) if known.stop is not None and abs(right) <= _LARGEST_STEP:
            step = right if isinstance(operator, ast.Add) else -right
            low = None if known.low is None else known.low + step
            exactly = None if known.exactly is None else add(known.exactly, step)
            block.session.ranges[result] = Range(low, add(known.stop, step), exactly)
        case ast.Mod(), int() if right > 0 and not isinstance(left, float):
            block.session.ranges[result] = Range(0, right)
        case _:
            pass
    return result

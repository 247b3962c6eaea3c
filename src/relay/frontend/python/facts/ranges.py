"""What is known of integers while a program is read: so ordinary loops pay for no checks."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, cast

from relay.arith.bounds import Interval
from relay.arith.expr import Comparison, IntExpr, add, free_symbols
from relay.arith.prove import Proof, prove
from relay.base.frozen import frozen
from relay.ir.expr import Expr, ExprBase

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


def range_of(ranges: Mapping[Expr, Range], value: Any) -> Range:
    """What is known of an integer, where `ranges` is what is known of those that the program computes.

    >>> range_of({}, 3)
    Range(low=3, stop=4, exactly=3)
    """
    if isinstance(value, ExprBase):
        return ranges.get(cast("Expr", value), UNKNOWN)
    return Range(value, value + 1, value) if isinstance(value, int) else UNKNOWN


def range_of_result(operator: ast.operator, left: Range, right: Any) -> Range:
    """What follows for the result of an operator on an integer and `right`.

    >>> range_of_result(ast.Mod(), UNKNOWN, 3)
    Range(low=0, stop=3, exactly=None)
    """
    match operator, right:
        case ((ast.Add() | ast.Sub()), int()) if left.stop is not None and abs(right) <= _LARGEST_STEP:
            step = right if isinstance(operator, ast.Add) else -right
            low = None if left.low is None else left.low + step
            return Range(low, add(left.stop, step), None if left.exactly is None else add(left.exactly, step))
        case ast.Mod(), int() if right > 0:
            return Range(0, right)
        case _:
            return UNKNOWN

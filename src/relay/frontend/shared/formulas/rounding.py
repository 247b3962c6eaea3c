"""Rounding as importers need it and no operator of Relay does it.   x[..] → [..]"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.ir.expr import Expr, const
from relay.ops.elementwise import elementwise_unary as unary
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.elementwise_binary import multiply, subtract


def round_to_even(x: Expr, dtype: DType) -> Expr:
    """Nearest, halves to even, where Relay's `round` takes halves away from zero: a half is twice a rounded quarter."""
    half = const(0.5, dtype)
    fraction = unary.abs(subtract(x, unary.trunc(x)))
    even = multiply(unary.round(multiply(x, half)), const(2.0, dtype))
    return where(equal(fraction, half), even, unary.round(x))

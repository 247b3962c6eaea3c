"""Rewriting rules of the simplifier, as data: name, left side, right side, condition.

In a rule `w, x, y, z` stand for any integers, `c, d` for positive constants, `q` for a constant, and `n` for anything
but 0 (`w, x, y, z, n` may be whole expressions). A rule holds for all values that meet its condition; a test tries
every rule on all small ones. Rules with a constant divisor never see multiples of it in a sum: construction took them
out.
"""

from __future__ import annotations

from enum import Enum, auto

from relay.arith.expr import Comparison, FloorDiv, FloorMod, IntExpr, Max, Min, Symbol
from relay.base.frozen import frozen

W, X, Y, Z, N = Symbol("w"), Symbol("x"), Symbol("y"), Symbol("z"), Symbol("n")
C, D, Q = Symbol("c"), Symbol("d"), Symbol("q")


class Shape(Enum):
    """How the left side of a rule is found in an expression."""

    QUOTIENT = auto()  # x // c or x % c, with q from the bounds of x
    FACTOR = auto()  # (x*c + y) // (c*d) or (x*c + y) % (c*d), once for each c that divides some coefficient
    INNER_MODULO = auto()  # (x % (c*d) * w + y) % c
    SYMBOLIC_MULTIPLE = auto()  # (x*n + y) // n or (x*n + y) % n
    SYMBOLIC_DIVISOR = auto()  # x // n or x % n
    QUOTIENT_AND_REST = auto()  # terms of a sum: (x // n)*n*z and (x % n)*z
    DIGIT_AND_REST = auto()  # terms of a sum: ((x % (c*d) * w + y) // c)*c*z and ((x*w + y) % c)*z
    VALUE_AND_QUOTIENT = auto()  # terms of a sum: x*z and -(x // c)*c*z
    VALUE_AND_PADDING = auto()  # terms of a sum: x*z and (-x % c)*z
    PAIR = auto()  # min(x, y) or max(x, y)


@frozen
class Rule:
    """`left` may be replaced by `right` where every comparison of `when` holds."""

    name: str
    shape: Shape
    left: IntExpr
    right: IntExpr
    when: tuple[Comparison, ...] = ()


def _within(low: IntExpr, value: IntExpr, end: IntExpr) -> tuple[Comparison, Comparison]:
    """`low <= value < end`."""
    return Comparison(low, "<=", value), Comparison(value, "<", end)


_Y_FITS = _within(Q * C, Y, Q * C + C)

DIVISION = (
    Rule("div-in-one-quotient", Shape.QUOTIENT, FloorDiv(X, C), Q, _within(Q * C, X, Q * C + C)),
    Rule(
        "div-common-factor", Shape.FACTOR, FloorDiv(X * C + Y, C * D), FloorDiv(X + Q, D), _within(Q * C, Y, Q * C + C)
    ),
    Rule("div-symbolic-multiple", Shape.SYMBOLIC_MULTIPLE, FloorDiv(X * N + Y, N), X + FloorDiv(Y, N)),
    Rule("div-symbolic-small", Shape.SYMBOLIC_DIVISOR, FloorDiv(X, N), 0, _within(0, X, N)),
)
MODULO = (
    Rule("mod-in-one-quotient", Shape.QUOTIENT, FloorMod(X, C), X - Q * C, _within(Q * C, X, Q * C + C)),
    Rule("mod-of-mod", Shape.INNER_MODULO, FloorMod(FloorMod(X, C * D) * W + Y, C), FloorMod(X * W + Y, C)),
    Rule(
        "mod-common-factor",
        Shape.FACTOR,
        FloorMod(X * C + Y, C * D),
        FloorMod(X + Q, D) * C + Y - Q * C,
        _Y_FITS,
    ),
    Rule("mod-symbolic-multiple", Shape.SYMBOLIC_MULTIPLE, FloorMod(X * N + Y, N), FloorMod(Y, N)),
    Rule("mod-symbolic-small", Shape.SYMBOLIC_DIVISOR, FloorMod(X, N), X, _within(0, X, N)),
)
SUM = (
    Rule("quotient-and-rest", Shape.QUOTIENT_AND_REST, FloorDiv(X, N) * N * Z + FloorMod(X, N) * Z, X * Z),
    Rule(
        "digit-and-rest",
        Shape.DIGIT_AND_REST,
        FloorDiv(FloorMod(X, C * D) * W + Y, C) * C * Z + FloorMod(X * W + Y, C) * Z,
        (FloorMod(X, C * D) * W + Y) * Z,
    ),
    Rule("value-less-quotient", Shape.VALUE_AND_QUOTIENT, X * Z - FloorDiv(X, C) * C * Z, FloorMod(X, C) * Z),
    Rule(
        "value-and-padding",
        Shape.VALUE_AND_PADDING,
        X * Z + FloorMod(-X, C) * Z,
        FloorDiv(X + C - 1, C) * C * Z,
    ),
)
MINIMUM = (
    Rule("min-is-left", Shape.PAIR, Min(X, Y), X, (Comparison(X, "<=", Y),)),
    Rule("min-is-right", Shape.PAIR, Min(X, Y), Y, (Comparison(Y, "<=", X),)),
)
MAXIMUM = (
    Rule("max-is-left", Shape.PAIR, Max(X, Y), X, (Comparison(Y, "<=", X),)),
    Rule("max-is-right", Shape.PAIR, Max(X, Y), Y, (Comparison(X, "<=", Y),)),
)
RULES = (*DIVISION, *MODULO, *SUM, *MINIMUM, *MAXIMUM)

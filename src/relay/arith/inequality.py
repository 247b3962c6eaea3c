"""Is an expression never negative? Intervals first, then elimination against known facts.

The elimination is the step of Fourier and Motzkin with the facts at hand: to show `e >= 0` when `f >= 0` is known and
both contain the term `t` with the same sign, it is enough that `|f_t|*e - |e_t|*f >= 0`, which is free of `t`.
Quotients bring their own facts (`c*(x//c) <= x <= c*(x//c) + c-1`), and `min` and `max` are cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from relay.arith.bounds import Ranges, bounds_of
from relay.arith.expr import (
    Comparison,
    FloorDiv,
    IntExpr,
    Max,
    Min,
    add,
    linear_parts,
    linear_sum,
    multiply,
)

_DEPTHS = range(5)
_STEPS = 100


def non_negative_forms(comparison: Comparison) -> tuple[IntExpr, ...]:
    """Expressions that are all `>= 0` exactly when `comparison` holds; empty for `!=`, which has no such form.

    >>> from relay.arith.expr import Symbol
    >>> non_negative_forms(Comparison(Symbol("i"), "<", 4))
    (-i + 3,)
    """
    difference = add(comparison.right, multiply(comparison.left, -1))
    match comparison.op:
        case "<":
            return (add(difference, -1),)
        case "<=":
            return (difference,)
        case "==":
            return (difference, multiply(difference, -1))
        case "!=":
            return ()
        case op:
            raise ValueError(f"`{op}` is not a comparison")


def is_non_negative(expr: IntExpr, ranges: Ranges, facts: Sequence[IntExpr] = ()) -> bool:
    """Whether `expr >= 0` is certain, given that every expression of `facts` is `>= 0`. False means not proven.

    The search is bounded in depth and in steps, so an answer takes a millisecond at most.
    """
    search = _Search(ranges, facts)
    return any(search.succeeds(expr, depth) for depth in _DEPTHS)  # short proofs first


class _Search:
    """One search for a proof, with the steps that it may still take. It comes to the same expressions by several ways,
    and again when it looks for longer proofs, so it keeps what it would need for each."""

    __slots__ = ("_facts", "_options", "_ranges", "_steps")

    def __init__(self, ranges: Ranges, facts: Sequence[IntExpr]) -> None:
        self._ranges = ranges
        self._facts = facts
        self._steps = _STEPS
        self._options: dict[IntExpr, tuple[tuple[IntExpr, ...], ...]] = {}

    def succeeds(self, expr: IntExpr, depth: int) -> bool:
        options = self._options.get(expr)
        if options is None:
            low, high = bounds_of(expr, self._ranges)
            if low is not None and low >= 0:
                return True
            if high is not None and high < 0:
                options = self._options[expr] = ()
        self._steps -= 1
        if depth == 0 or self._steps <= 0:
            return False
        if options is None:
            options = self._options[expr] = tuple(_sufficient(expr, self._facts))
        return any(all(self.succeeds(case, depth - 1) for case in cases) for cases in options)


def _sufficient(expr: IntExpr, facts: Sequence[IntExpr]) -> Iterator[tuple[IntExpr, ...]]:
    """Tuples of expressions; all of a tuple `>= 0` implies `expr >= 0`."""
    constant, terms = linear_parts(expr)
    for position, (term, coefficient) in enumerate(terms):
        rest = (*terms[:position], *terms[position + 1 :])
        match term:
            case Min(left, right) | Max(left, right):
                yield from _cases(linear_sum(constant, rest), coefficient, left, right, isinstance(term, Min))
            case FloorDiv(left, int(divisor)) if divisor > 0:
                nearest = left if coefficient < 0 else add(left, 1 - divisor)
                common = gcd(coefficient, divisor)
                scaled = _scaled(linear_sum(constant, rest), divisor // common)
                yield (add(scaled, multiply(nearest, coefficient // common)),)
            case _:
                pass
    present = dict(terms)
    for fact in facts:
        for term, weight in linear_parts(fact)[1]:
            coefficient = present.get(term, 0)
            if coefficient * weight > 0:
                common = gcd(coefficient, weight)
                yield (add(_scaled(expr, abs(weight) // common), multiply(fact, -abs(coefficient) // common)),)


def _scaled(expr: IntExpr, factor: int) -> IntExpr:
    """Something that is `>= 0` exactly when the integer `expr` is: `factor*expr > -factor`."""
    return add(multiply(expr, factor), factor - 1)


def _cases(
    rest: IntExpr, coefficient: int, left: IntExpr, right: IntExpr, is_minimum: bool
) -> Iterator[tuple[IntExpr, ...]]:
    with_left = add(rest, multiply(left, coefficient))
    with_right = add(rest, multiply(right, coefficient))
    if (coefficient > 0) == is_minimum:
        yield (with_left, with_right)  # either may be the one: both must do
    else:
        yield (with_left,)  # the term is at least as good as either side
        yield (with_right,)

"""Intervals of symbolic integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from relay.arith.expr import (
    Atom,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Node,
    Product,
    Sum,
    Symbol,
)


class Interval(NamedTuple):
    """The integers from `low` to `high`, both included; None is without bound on that side.

    >>> Interval(0, 3).contains(Interval(1, 2))
    True
    """

    low: int | None
    high: int | None

    def contains(self, other: Interval) -> bool:
        """Whether every integer of `other` is one of these."""
        return (self.low is None or (other.low is not None and self.low <= other.low)) and (
            self.high is None or (other.high is not None and other.high <= self.high)
        )


UNBOUNDED = Interval(None, None)
NON_NEGATIVE = Interval(0, None)

Ranges = Mapping[Symbol, Interval]


def bounds_of(expr: IntExpr, ranges: Ranges) -> Interval:
    """An interval that holds every value of `expr` when each symbol is anywhere in its range.

    Symbols without a range and atoms are unbounded. Sound, and exact for sums in which every symbol occurs once.

    >>> i, j = Symbol("i"), Symbol("j")
    >>> bounds_of(4 * i - j + 1, {i: Interval(0, 3), j: Interval(0, 1)})
    Interval(low=0, high=13)
    """
    if isinstance(expr, int):
        return Interval(expr, expr)
    if isinstance(expr, Symbol):
        return ranges.get(expr, UNBOUNDED)
    return _BOUNDS[type(expr)](expr, ranges) if not isinstance(expr, Atom) else UNBOUNDED


def _sum(expr: Sum, ranges: Ranges) -> Interval:
    low: int | None = expr.constant
    high: int | None = expr.constant
    for term, coefficient in expr.terms:
        term_low, term_high = bounds_of(term, ranges)
        if coefficient < 0:
            term_low, term_high = term_high, term_low
        low = None if low is None or term_low is None else low + coefficient * term_low
        high = None if high is None or term_high is None else high + coefficient * term_high
        if low is None and high is None:
            return UNBOUNDED
    return Interval(low, high)


def _product(expr: Product, ranges: Ranges) -> Interval:
    result = Interval(1, 1)
    for factor in expr.factors:
        result = _times(result, bounds_of(factor, ranges))
    return result


def _times(left: Interval, right: Interval) -> Interval:
    """The products of two intervals, by the signs of their ends."""
    if left == (0, 0) or right == (0, 0):
        return Interval(0, 0)
    if None not in left and None not in right:
        ends = [a * b for a in left for b in right if a is not None and b is not None]
        return Interval(min(ends), max(ends))
    if left.high is not None and left.high <= 0:
        return _negated(_times(_negated(left), right))
    if right.high is not None and right.high <= 0:
        return _negated(_times(left, _negated(right)))
    if left.low is not None and left.low >= 0 and right.low is not None and right.low >= 0:
        return Interval(left.low * right.low, None)
    if left.low is not None and left.low >= 0:
        return _widest(right, left.high)
    if right.low is not None and right.low >= 0:
        return _widest(left, right.high)
    return UNBOUNDED


def _widest(signed: Interval, largest: int | None) -> Interval:
    """`signed`, whose ends are below and above 0 where it has any, times anything from 0 to `largest`."""
    return Interval(_scaled(signed.low, largest), _scaled(signed.high, largest))


def _scaled(value: int | None, factor: int | None) -> int | None:
    return None if value is None or factor is None else value * factor


def _negated(interval: Interval) -> Interval:
    low, high = interval
    return Interval(None if high is None else -high, None if low is None else -low)


def _floor_div(expr: FloorDiv, ranges: Ranges) -> Interval:
    left, right = bounds_of(expr.left, ranges), _divisor(expr.right, ranges)
    if right.high is not None and right.high < 0:
        left, right = _negated(left), _negated(right)
    smallest, largest = right
    if smallest is not None and smallest > 0:
        return _divided_by_positive(left, smallest, largest)
    if None in left:
        return UNBOUNDED
    size = max(abs(end) for end in left if end is not None)
    return Interval(-size, size)


def _divisor(expr: IntExpr, ranges: Ranges) -> Interval:
    """The bounds of a divisor, which is never 0: what divides by one that can only be 0 is never evaluated."""
    low, high = bounds_of(expr, ranges)
    if low == high == 0:
        return UNBOUNDED
    return Interval(1 if low == 0 else low, -1 if high == 0 else high)


def _divided_by_positive(left: Interval, smallest: int, largest: int | None) -> Interval:
    low, high = left
    if low is not None:
        low = low // smallest if low < 0 else (0 if largest is None else low // largest)
    if high is not None:
        high = high // smallest if high >= 0 else (-1 if largest is None else high // largest)
    return Interval(low, high)


def _floor_mod(expr: FloorMod, ranges: Ranges) -> Interval:
    low, high = bounds_of(expr.left, ranges)
    smallest, largest = _divisor(expr.right, ranges)
    if smallest is not None and smallest > 0:
        if smallest == largest and low is not None and high is not None and low // smallest == high // smallest:
            return Interval(low % smallest, high % smallest)
        ceiling = None if largest is None else largest - 1
        if low is not None and low >= 0 and high is not None:
            ceiling = high if ceiling is None else min(ceiling, high)
        return Interval(0, ceiling)
    if largest is not None and largest < 0:
        return Interval(None if smallest is None else smallest + 1, 0)
    return Interval(None if smallest is None else smallest + 1, None if largest is None else largest - 1)


def _minimum(expr: Min, ranges: Ranges) -> Interval:
    left, right = bounds_of(expr.left, ranges), bounds_of(expr.right, ranges)
    low = None if left.low is None or right.low is None else min(left.low, right.low)
    return Interval(low, _tighter(left.high, right.high, min))


def _maximum(expr: Max, ranges: Ranges) -> Interval:
    left, right = bounds_of(expr.left, ranges), bounds_of(expr.right, ranges)
    high = None if left.high is None or right.high is None else max(left.high, right.high)
    return Interval(_tighter(left.low, right.low, max), high)


def _tighter(left: int | None, right: int | None, choose: Callable[[int, int], int]) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return choose(left, right)


_BOUNDS: Mapping[type[Node], Callable[..., Interval]] = {
    Sum: _sum,
    Product: _product,
    FloorDiv: _floor_div,
    FloorMod: _floor_mod,
    Min: _minimum,
    Max: _maximum,
}

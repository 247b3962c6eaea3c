"""Which part of a tensor is read: an interval for each axis, in terms of the loops outside.

    values in [low, low + width]      low: any index      width: free of loop symbols

All symbols are taken to be at least 0, as loop variables and extents are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from relay.arith.expr import (
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Node,
    Product,
    Sum,
    Symbol,
    add,
    ceil_divide,
    free_symbols,
    linear_parts,
    maximum,
    minimum,
)  # fmt: skip
from relay.base.frozen import frozen


@frozen
class Range:
    """All integers from `low` to `low + width`, both included."""

    low: IntExpr
    width: IntExpr

    @property
    def high(self) -> IntExpr:
        return add(self.low, self.width)


def range_of(expr: IntExpr, extents: Mapping[Symbol, IntExpr]) -> Range | None:
    """The values of `expr` when each symbol of `extents` runs over `range(extent)`; None when nothing is known.

    Exact for sums of constants times symbols.

    >>> i, j = Symbol("i"), Symbol("j")
    >>> range_of(4 * i + 2 * j - 1, {j: 3})
    Range(low=4*i - 1, width=4)
    """
    match expr:
        case int():
            return Range(expr, 0)
        case Symbol():
            return Range(0, add(extents[expr], -1)) if expr in extents else Range(expr, 0)
        case Sum(constant, terms):
            return _range_of_sum(constant, terms, extents)
        case FloorDiv(left, right):
            return _range_of_quotient(expr, range_of(left, extents), right, extents)
        case FloorMod(left, right):
            return _range_of_remainder(expr, range_of(left, extents), right, extents)
        case Min(left, right):
            return _range_of_extreme(minimum, range_of(left, extents), range_of(right, extents))
        case Max(left, right):
            return _range_of_extreme(maximum, range_of(left, extents), range_of(right, extents))
        case Product(factors):
            return _range_of_product(factors, extents)
        case _:
            return None  # a machine integer: nothing is known of it


def _range_of_sum(
    constant: int, terms: tuple[tuple[Node, int], ...], extents: Mapping[Symbol, IntExpr]
) -> Range | None:
    low: IntExpr = constant
    width: IntExpr = 0
    for term, coefficient in terms:
        part = range_of(term, extents)
        if part is None:
            return None
        low = add(low, (part.low if coefficient > 0 else part.high) * coefficient)
        width = add(width, part.width * abs(coefficient))
    return Range(low, width)


def _range_of_product(factors: tuple[Node, ...], extents: Mapping[Symbol, IntExpr]) -> Range | None:
    low: IntExpr = 1
    high: IntExpr = 1
    for factor in factors:
        part = range_of(factor, extents)
        if part is None or not is_at_least(part.low, 0):
            return None
        low, high = low * part.low, high * part.high
    return Range(low, high - low)


def _range_of_quotient(
    expr: FloorDiv, dividend: Range | None, divisor: IntExpr, extents: Mapping[Symbol, IntExpr]
) -> Range | None:
    if dividend is None:
        return None
    if not free_symbols(expr) & extents.keys():
        return Range(expr, 0)
    if free_symbols(divisor) & extents.keys():
        return None
    if not is_at_least(divisor, 1):  # nothing is divided by a 0: no loop of that extent runs
        return dividend if dividend.low == 0 and is_at_least(divisor, 0) else None
    low = dividend.low // divisor
    exact = add(dividend.high // divisor, low * -1)
    return Range(low, exact if isinstance(exact, int) else ceil_divide(dividend.width, divisor))


def _range_of_remainder(
    expr: FloorMod, dividend: Range | None, divisor: IntExpr, extents: Mapping[Symbol, IntExpr]
) -> Range | None:
    if dividend is not None and not free_symbols(expr) & extents.keys():
        return Range(expr, 0)
    if free_symbols(divisor) & extents.keys() or not is_at_least(divisor, 0):
        return None
    if dividend is not None and is_at_least(divisor, 1):
        start = dividend.low % divisor
        if is_at_least(add(divisor, (add(start, dividend.width) + 1) * -1), 0):
            return Range(start, dividend.width)  # does not wrap around
    return Range(0, add(divisor, -1))


def _range_of_extreme(
    pick: Callable[[IntExpr, IntExpr], IntExpr], left: Range | None, right: Range | None
) -> Range | None:
    """Minimum and maximum move at most as far as the wider of their sides."""
    if left is None or right is None:
        return None
    low = pick(left.low, right.low)
    exact = add(pick(left.high, right.high), low * -1)
    return Range(low, exact if isinstance(exact, int) else maximum(left.width, right.width))


def union(left: Range, right: Range) -> Range | None:
    """The smallest range that holds both, when their distance is a constant; else None."""
    distance = add(right.low, left.low * -1)
    if not isinstance(distance, int):
        return None
    low = left.low if distance >= 0 else right.low
    return Range(low, maximum(add(left.high, low * -1), add(right.high, low * -1)))


def is_at_least(expr: IntExpr, bound: int) -> bool:
    """Is `expr >= bound` certain, knowing only that symbols are at least 0? False when not known.

    >>> n = Symbol("n")
    >>> is_at_least(n + 1, 1), is_at_least(n, 1)
    (True, False)
    """
    constant, terms = linear_parts(expr)
    return constant >= bound and all(coefficient >= 0 and _never_negative(term) for term, coefficient in terms)


def _never_negative(term: Node) -> bool:
    match term:
        case Symbol():
            return True
        case Product(factors):
            return all(map(_never_negative, factors))
        case FloorDiv(left, right):
            return is_at_least(left, 0) and is_at_least(right, 0)
        case FloorMod(_, right):
            return is_at_least(right, 0)
        case Min(left, right):
            return is_at_least(left, 0) and is_at_least(right, 0)
        case Max(left, right):
            return is_at_least(left, 0) or is_at_least(right, 0)
        case _:
            return False


def is_below(expr: IntExpr, bound: IntExpr, extents: Mapping[Symbol, IntExpr]) -> bool:
    """Is `expr < bound` certain for all values of the loop symbols in `extents`?"""
    gap = range_of(add(bound, expr * -1), extents)
    return gap is not None and is_at_least(gap.low, 1)


def region_of(
    reads: Sequence[tuple[IntExpr, ...]], shape: tuple[IntExpr, ...], inner: Mapping[Symbol, IntExpr]
) -> tuple[Range, ...]:
    """What indices `reads` touch of a tensor of `shape` while the symbols of `inner` run: one range for each axis.

    A read may have fewer indices, for a component with fewer axes. Where the region is not known, not of constant
    width, or not smaller than the axis, it is the whole axis.
    """
    return tuple(
        _axis_region([read[axis] for read in reads if axis < len(read)], extent, inner)
        for axis, extent in enumerate(shape)
    )


def _axis_region(indices: list[IntExpr], extent: IntExpr, inner: Mapping[Symbol, IntExpr]) -> Range:
    whole = Range(0, add(extent, -1))
    joined: Range | None = None
    for index in indices:
        part = range_of(index, inner)
        joined = part if joined is None or part is None else union(joined, part)
        if joined is None:
            return whole
    if joined is None or not isinstance(joined.width, int):
        return whole
    return _clipped(joined.low, joined.width, extent, whole)


def _clipped(low: IntExpr, width: int, extent: IntExpr, whole: Range) -> Range:
    if isinstance(extent, int) and width + 1 >= extent:
        return whole
    if isinstance(low, int):
        first = max(low, 0)
        last = low + width if not isinstance(extent, int) else min(low + width, extent - 1)
        return Range(first, max(last - first, 0))
    return Range(low, width)

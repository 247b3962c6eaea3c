"""The interval of an expression, exactly: that it is no narrower than the truth is shown beside the simplifier."""

import itertools

import pytest

from relay.arith.bounds import Interval, bounds_of
from relay.arith.expr import Atom, FloorDiv, FloorMod, IntExpr, Max, Min, Product, Symbol

X, Y = Symbol("x"), Symbol("y")
ALL = (None, None)


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ((0, 3), (1, 2), True), ((0, 3), (0, 3), True), ((0, 3), (-1, 2), False), ((0, 3), (1, 4), False),
        (ALL, (1, 2), True), (ALL, ALL, True), ((0, None), (1, None), True), ((0, None), (None, 3), False),
        ((None, 3), (1, None), False), ((None, 3), (None, 3), True), ((0, 3), (0, None), False),
    ],
)  # fmt: skip
def test_contains(outer, inner, expected):
    assert Interval(*outer).contains(Interval(*inner)) is expected


@pytest.mark.parametrize(
    ("expr", "x", "y", "expected"),
    [
        (7, ALL, ALL, (7, 7)),
        (X, (1, 2), ALL, (1, 2)),
        (X, ALL, ALL, ALL),
        (X + 3, (1, 2), ALL, (4, 5)),
        (3 - X, (1, 2), ALL, (1, 2)),
        (4 * X - 2 * Y + 1, (0, 3), (0, 1), (-1, 13)),
        (X + Y, (0, 3), (1, None), (1, None)),
        (X + Y, (0, 3), (None, 1), (None, 4)),
        (X - Y, (0, 3), (1, None), (None, 2)),
        (X - Y, (0, 3), (None, 1), (-1, None)),
        (X - Y, (0, None), (0, None), ALL),
        (X * Y, (0, 0), ALL, (0, 0)),
        (X * Y, ALL, (0, 0), (0, 0)),
        (X * Y, (2, 3), (4, 5), (8, 15)),
        (X * Y, (-2, 3), (-4, 5), (-12, 15)),
        (X * Y, (2, None), (4, 5), (8, None)),
        (X * Y, (2, None), (3, None), (6, None)),
        (X * Y, (0, None), (0, None), (0, None)),
        (X * Y, (None, -2), (3, 4), (None, -6)),
        (X * Y, (None, 0), (3, 4), (None, 0)),
        (X * Y, (3, 4), (None, -2), (None, -6)),
        (X * Y, (3, 4), (None, 0), (None, 0)),
        (X * Y, (None, -2), (None, -3), (6, None)),
        (X * Y, (2, 4), (-3, None), (-12, None)),
        (X * Y, (2, 4), (None, 3), (None, 12)),
        (X * Y, (0, 4), (None, 3), (None, 12)),
        (X * Y, (-3, None), (2, 4), (-12, None)),
        (X * Y, (-3, None), (0, 4), (-12, None)),
        (X * Y, (0, None), (-3, 5), ALL),
        (X * Y, (-3, None), (-3, 5), ALL),
        (X * Y, ALL, ALL, ALL),
        (X // 4, (0, 9), ALL, (0, 2)),
        (X // 4, (-5, 9), ALL, (-2, 2)),
        (X // 4, (-5, -1), ALL, (-2, -1)),
        (X // 4, (8, None), ALL, (2, None)),
        (X // 4, (None, 8), ALL, (None, 2)),
        (X // -4, (0, 9), ALL, (-3, 0)),
        (X // Y, (6, 12), (2, 3), (2, 6)),
        (X // Y, (6, 12), (0, 3), (2, 12)),  # a divisor is never 0
        (X // Y, (6, 12), (2, None), (0, 6)),
        (X // Y, (-6, -3), (2, None), (-3, -1)),
        (X // Y, (-6, 0), (2, 3), (-3, 0)),
        (X // Y, (-6, 12), (1, 3), (-6, 12)),
        (X // Y, (6, 12), (-3, -2), (-6, -2)),
        (X // Y, (6, 12), (None, -2), (-6, -1)),
        (X // Y, (-7, 5), (-3, 3), (-7, 7)),
        (X // Y, (6, 12), ALL, (-12, 12)),
        (X // Y, (6, None), (-3, 3), ALL),
        (X // Y, (None, None), (2, 3), ALL),
        (X // Y, (6, 12), (-3, 0), (-12, -2)),
        (X // Y, (6, 12), (0, 0), (-12, 12)),  # it is never evaluated
        (X % Y, (6, 12), (0, 0), ALL),
        (X % 4, (0, 9), ALL, (0, 3)),
        (X % 4, (5, 6), ALL, (1, 2)),
        (X % 4, (4, 7), ALL, (0, 3)),
        (X % 4, (3, 4), ALL, (0, 3)),
        (X % 4, (0, 2), ALL, (0, 2)),
        (X % 4, ALL, ALL, (0, 3)),
        (X % Y, (0, 2), (1, 9), (0, 2)),
        (X % Y, (0, 20), (1, 9), (0, 8)),
        (X % Y, (-1, 2), (1, 9), (0, 8)),
        (X % Y, (0, 20), (0, None), (0, 20)),
        (X % Y, (-1, 20), (0, None), (0, None)),
        (X % Y, (0, None), (1, 9), (0, 8)),
        (X % -4, (0, 9), ALL, (-3, 0)),
        (X % Y, (0, 9), (-5, 0), (-4, 0)),
        (X % Y, (0, 9), (None, -2), (None, 0)),
        (X % Y, (0, 9), (-5, 3), (-4, 2)),
        (X % Y, (0, 9), (-5, None), (-4, None)),
        (X % Y, (0, 9), (None, 3), (None, 2)),
        (Min(X, Y), (0, 9), (3, 5), (0, 5)),
        (Min(X, Y), (0, None), (3, 5), (0, 5)),
        (Min(X, Y), (0, 9), (None, 5), (None, 5)),
        (Min(X, Y), (0, 9), (3, None), (0, 9)),
        (Min(X, Y), ALL, (3, 5), (None, 5)),
        (Max(X, Y), (0, 9), (3, 5), (3, 9)),
        (Max(X, Y), (0, None), (3, 5), (3, None)),
        (Max(X, Y), (0, 9), (None, 12), (0, 12)),
        (Max(X, Y), (None, 9), (3, 5), (3, 9)),
        (Max(X, Y), ALL, (3, 5), (3, None)),
        (Product((X, X, Y)), (2, 3), (1, 2), (4, 18)),
    ],
    ids=str,
)  # fmt: skip
def test_bounds(expr: IntExpr, x, y, expected):
    ranges = {symbol: Interval(*ends) for symbol, ends in ((X, x), (Y, y)) if ends != ALL}
    assert bounds_of(expr, ranges) == expected


def test_an_atom_may_be_anything():
    assert bounds_of(Atom() + 1, {}) == ALL


@pytest.mark.parametrize("form", [X * Y, FloorDiv(X, Y), FloorMod(X, Y)], ids=str)
def test_bounds_hold_for_all_small_intervals(form):
    """Each value lies inside, also when one end is not known."""
    operation = {FloorDiv: int.__floordiv__, FloorMod: int.__mod__}.get(type(form), int.__mul__)
    some = [(-4, -4), (-4, -1), (-4, 0), (-3, 2), (-1, 4), (0, 0), (0, 3), (1, 4), (3, 3)]
    for (a, b), (c, d) in itertools.product(some, some):
        values = [
            operation(x, y)
            for x in range(a, b + 1)
            for y in range(c, d + 1)
            if y or not isinstance(form, (FloorDiv, FloorMod))
        ]
        for x, y in itertools.product([(a, b), (a, None), (None, b)], [(c, d), (c, None), (None, d)]):
            found = bounds_of(form, {X: Interval(*x), Y: Interval(*y)})
            assert all(found.contains(Interval(value, value)) for value in values), (x, y)

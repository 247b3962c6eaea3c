"""Triangles of matrices, and positions along an axis whose extent may be symbolic."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.creation import create
from relay.ops.elementwise.comparison import equal, greater_equal, less_equal, where
from relay.ops.elementwise.elementwise_binary import subtract
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape

LARGEST_CONSTANT = 2**24
"""Elements of the largest constant that a converter makes."""
_FAR = 2**40  # further from the diagonal than any extent


Axis: TypeAlias = tuple[Value, int]
"""An axis of a tensor, for its extent."""


def triangle(value: Value, shift: int, *, upper: bool) -> Expr:
    """x[.., rows, columns] with 0 above (or, for the upper one, below) the `shift`-th diagonal."""
    kept = in_triangle((value, value.rank - 2), (value, value.rank - 1), shift, upper=upper)
    return where(kept, value.expr, const(0, value.dtype))


def in_triangle(rows: Axis, columns: Axis, shift: int = 0, *, upper: bool = False) -> Expr:
    """bool[rows, columns]: which elements of such a matrix belong to its triangle."""
    shift = max(-_FAR, min(_FAR, shift))
    height, width = (value.shape[axis] for value, axis in (rows, columns))
    if isinstance(height, int) and isinstance(width, int) and height * width <= LARGEST_CONSTANT:
        below = np.tri(height, width, max(-height, min(width, shift - 1 if upper else shift)), dtype=bool)
        return const(below != upper)
    compare = greater_equal if upper else less_equal
    return compare(_diagonals(rows, columns), const(shift, DType.INT64))


def on_diagonal(rows: Axis, columns: Axis, shift: int = 0) -> Expr:
    """bool[rows, columns]: which elements of such a matrix are on the `shift`-th diagonal."""
    return equal(_diagonals(rows, columns), const(max(-_FAR, min(_FAR, shift)), DType.INT64))


def _diagonals(rows: Axis, columns: Axis) -> Expr:
    """int64[rows, columns]: which diagonal each element of such a matrix is on."""
    return subtract(positions(columns), expand_dims(positions(rows), 1))


def positions(axis: Axis) -> Expr:
    """0, 1, … along an axis: int64[extent]"""
    value, place = axis
    first, step = const(0, DType.INT64), const(1, DType.INT64)
    return reshape(create.arange(first, extent(axis), step, dtype=DType.INT64), (value.shape[place],))


def extent(axis: Axis) -> Expr:
    """The number of entries along an axis: int64"""
    value, place = axis
    return take(create.shape_of(value.expr, DType.INT64), const(place, DType.INT64))

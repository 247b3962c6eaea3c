"""Triangles of matrices, and positions along an axis whose extent may be symbolic."""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops import create
from relay.ops.comparison import greater_equal, less_equal, where
from relay.ops.elementwise_binary import subtract
from relay.ops.index import take
from relay.ops.shape import expand_dims, reshape

LARGEST_CONSTANT = 2**24
"""Elements of the largest constant that a converter makes."""
_FAR = 2**40  # further from the diagonal than any extent


def triangle(value: Value, shift: int, *, upper: bool) -> Expr:
    """x[.., rows, columns] with 0 above (or, for the upper one, below) the `shift`-th diagonal."""
    return where(in_triangle(value, shift, upper=upper), value.expr, const(0, value.dtype))


def in_triangle(value: Value, shift: int, *, upper: bool) -> Expr:
    """bool[rows, columns]: which elements of x[.., rows, columns] belong to the triangle."""
    shift = max(-_FAR, min(_FAR, shift))
    rows, columns = value.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= LARGEST_CONSTANT:
        below = np.tri(rows, columns, max(-rows, min(columns, shift - 1 if upper else shift)), dtype=bool)
        return const(below != upper)
    diagonal = subtract(positions(value, value.rank - 1), expand_dims(positions(value, value.rank - 2), 1))
    compare = greater_equal if upper else less_equal
    return compare(diagonal, const(shift, DType.INT64))


def positions(value: Value, axis: int) -> Expr:
    """0, 1, … along an axis of a tensor: int64[extent]"""
    extent = value.shape[axis]
    first, step = const(0, DType.INT64), const(1, DType.INT64)
    stop = take(create.shape_of(value.expr, DType.INT64), const(axis, DType.INT64))
    return reshape(create.arange(first, stop, step, dtype=DType.INT64), (extent,))

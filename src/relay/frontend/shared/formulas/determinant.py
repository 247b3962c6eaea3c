"""Determinants of matrices.   x[.., n, n] → [..]"""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.ir.expr import Expr, const
from relay.ops.creation.create import arange, full
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.elementwise_binary import divide, multiply, subtract
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import negative
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax

LARGEST = 64
"""Rows of the largest matrix: its elimination is written out, a few operators for each row."""


def determinant(x: Expr, outer: Sequence[IntExpr], size: int, dtype: DType) -> Expr:
    """Gaussian elimination with partial pivoting (Golub and Van Loan, Matrix Computations, section 3.4), column by
    column: the product of the pivots, with its sign turned for each exchange of rows."""
    if size == 0:
        return full(const(1, dtype), tuple(outer))
    batch = product(outer)
    rest: Expr = reshape(x, (batch, size, size), allowzero=True)
    result: Expr | None = None
    for left in range(size, 0, -1):
        pivot, rest = _eliminated(rest, batch, left, dtype)
        result = pivot if result is None else multiply(result, pivot)
    return reshape(result, tuple(outer), allowzero=True)  # pyright: ignore[reportArgumentType]


def _eliminated(matrix: Expr, batch: IntExpr, rows: int, dtype: DType) -> tuple[Expr, Expr]:
    """`(the pivot of the first column with its sign, what is left below and behind it)`"""
    first, zero = const(0, DType.INT64), const(0, dtype)
    column = take(matrix, first, axis=2)
    best = argmax(magnitude(column), 1, keepdims=True)
    is_best = equal(arange(0, rows, 1, dtype="int32"), best)  # [batch, rows]
    row = reduce.sum(where(expand_dims(is_best, 2), matrix, zero), (1,))
    pivot = take(row, first, axis=1)
    stays = equal(reshape(best, (batch,), allowzero=True), const(0, DType.INT32))
    signed = where(stays, pivot, negative(pivot))
    if rows == 1:
        return signed, matrix
    # The first row takes the place of the pivot's.
    top = strided_slice(matrix, (0,), (1,), (1,), (1,))
    others = strided_slice(where(expand_dims(is_best, 2), top, matrix), (1, 1), (rows, rows), (1, 1), (1, 2))
    corner = strided_slice(column, (0,), (1,), (1,), (1,))
    below = strided_slice(where(is_best, corner, column), (1,), (rows,), (1,), (1,))
    factor = divide(below, expand_dims(where(equal(pivot, zero), const(1, dtype), pivot), 1))
    behind = strided_slice(row, (1,), (rows,), (1,), (1,))
    return signed, subtract(others, multiply(expand_dims(factor, 2), expand_dims(behind, 1)))

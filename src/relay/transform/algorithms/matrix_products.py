"""Products with matrices as the target's kernels read them: the second in panels of columns, or with columns innermost,
the first with rows of what is summed.

`plain` gives the new version of an argument; it is asked only where the product changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from relay.ir.expr import Call, Constant, Expr, Function
from relay.ir.traversal import body_nodes
from relay.ir.types import Dimension, TensorType
from relay.ops.framework.build import call
from relay.ops.manipulation.layout_transform import layout_transform
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import TransposeAttributes, transpose
from relay.ops.nn.matmul import (
    BATCH_MATMUL,
    MATMUL,
    BatchMatmulAttributes,
    DenseAttributes,
    MatmulAttributes,
    contrib_dense_pack,
    matmul,
)
from relay.transform.framework.context import fitting_block

_FEW_ROWS = 4
_ENOUGH = 32
"""Rows from which on a kernel of a product copies the second matrix by itself, panel by panel."""
_MANY_COLUMNS = 64
"""Each element of the first matrix is multiplied with so many: they gain more than its transposition costs (1.07 to
1.47 times as fast with 64 to 2,048; 0.81 with 10, and 0.8 to 0.9 in batches, whose matrices are in the cache anyhow).
"""


def repeated_matrices(function: Function) -> frozenset[Expr]:
    """Matrices, read in rows, that products of few rows read again and again, as those of a step of a recurrence do:
    together they have rows enough to be worth panels of columns, and none of them has alone."""
    rows: dict[Expr, list[int]] = {}
    for expr in body_nodes(function):
        found, type_ = _second_matrix(expr), expr.checked_type
        if found is not None and isinstance(type_, TensorType) and not _has_few_rows(type_.shape[:-1]):
            known = [extent for extent in type_.shape[:-1] if isinstance(extent, int)]
            count = prod(known) if len(known) == len(type_.shape) - 1 else _ENOUGH
            rows.setdefault(found[0], []).append(count)
    return frozenset(matrix for matrix, each in rows.items() if max(each) < _ENOUGH <= sum(each))


def _second_matrix(product: Expr) -> tuple[Expr, str] | None:
    """The second matrix of a product of rows by a matrix, and its layout. What is transposed is taken as it was."""
    match product:
        case Call(args=(_, matrix), attrs=DenseAttributes()):
            layout = "OI"
        case Call(args=(_, matrix), attrs=MatmulAttributes(transpose_a=False, transpose_b=turned)):
            layout = "OI" if turned else "IO"
        case _:
            return None
    before = _before_transposition(matrix, (1, 0))
    return (matrix, layout) if before is None else (before, layout[::-1])


def in_panels(
    product: Call, plain: Callable[[Expr], Expr], blocks: tuple[int, ...], repeated: frozenset[Expr] = frozenset()
) -> Expr | None:
    """A product with its matrix in panels of columns, where that takes no longer than to have columns innermost: it is
    known, or it fills panels, and its columns are rows, or it is `repeated`. None for others, and for few rows by a
    matrix that the run brings."""
    found, result = _second_matrix(product), product.checked_type
    if found is None or not blocks or not isinstance(result, TensorType):
        return None
    matrix, layout = found
    units = result.shape[-1] if result.shape else None
    is_known = isinstance(product.attrs, DenseAttributes) and isinstance(matrix, Constant)
    is_turned = layout == "OI" and not _has_few_rows(result.shape[:-1])
    if not isinstance(units, int) or not (is_known or is_turned or matrix in repeated):
        return None
    block = fitting_block(blocks, units)
    if not is_known and units % block:
        return None
    packed = _panels(plain(matrix), layout, units, block)
    return contrib_dense_pack(plain(product.args[0]), packed, units, getattr(product.attrs, "out_dtype", None))


def _panels(matrix: Expr, layout: str, units: int, block: int) -> Expr:
    """A matrix as [panels, k, columns of a panel]. What the run brings is turned in squares."""
    type_ = matrix.checked_type
    if isinstance(matrix, Constant) or not isinstance(type_, TensorType):
        return layout_transform(matrix, layout, f"OI{block}o")
    depth = type_.shape[layout.index("I")]
    if layout == "IO":
        return transpose(reshape(matrix, (depth, units // block, block)), (1, 0, 2))
    return transpose(reshape(matrix, (units // block, block, depth)), (0, 2, 1))


def in_order(product: Call, plain: Callable[[Expr], Expr], blocks: tuple[int, ...]) -> Expr | None:
    """A product of matrices that lie as they are read, by transpositions beforehand: columns of the second one are the
    lanes, and what a tile reads of the first lies in its rows, not in a line of the cache for each step of the sum.
    None where that is not wanted, as for few rows, which are sums along the second matrix as it is."""
    type_, attributes = product.checked_type, product.attrs
    if not blocks or not isinstance(type_, TensorType):
        return None
    if isinstance(attributes, DenseAttributes):
        if _has_few_rows(type_.shape[:-1]):
            return None
        data, matrix = map(plain, product.args)
        return matmul(data, _turned(matrix, (1, 0)), None, attributes.out_dtype)
    if not isinstance(attributes, (MatmulAttributes, BatchMatmulAttributes)):
        return None
    first = attributes.transpose_a and isinstance(attributes, MatmulAttributes) and _has_many_columns(type_.shape)
    second = attributes.transpose_b and not _has_few_rows(type_.shape[-2:-1])
    if not first and not second:
        return None
    record, order = (BATCH_MATMUL, (0, 2, 1)) if isinstance(attributes, BatchMatmulAttributes) else (MATMUL, (1, 0))
    matrices = [
        _turned(plain(matrix), order) if turns else plain(matrix)
        for matrix, turns in zip(product.args, (first, second), strict=True)
    ]
    left = {"transpose_a": attributes.transpose_a and not first, "transpose_b": attributes.transpose_b and not second}
    return call(record, matrices, replace(attributes, **left))


def _has_few_rows(rows: Sequence[Dimension]) -> bool:
    """Whether it is known that there are few, or that there is none."""
    if not rows:
        return True
    return isinstance(rows[-1], int) and all(e == 1 for e in rows[:-1]) and rows[-1] <= _FEW_ROWS


def _has_many_columns(shape: Sequence[Dimension]) -> bool:
    return isinstance(shape[-1], int) and shape[-1] >= _MANY_COLUMNS


def _turned(matrix: Expr, order: tuple[int, ...]) -> Expr:
    """A matrix with its last two axes exchanged; what they are exchanged of already is taken as it was."""
    before = _before_transposition(matrix, order)
    return transpose(matrix, order) if before is None else before


def _before_transposition(matrix: Expr, order: tuple[int, ...]) -> Expr | None:
    if isinstance(matrix, Call) and isinstance(matrix.attrs, TransposeAttributes):
        axes = matrix.attrs.axes or tuple(reversed(range(len(order))))
        if tuple(axis % len(order) for axis in axes) == order:
            return matrix.args[0]
    return None

"""Products with the second matrix as the target's kernels read it: in panels of columns, or with columns innermost.

`plain` gives the new version of an argument; it is asked only where the product changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relay.ir.expr import Call, Constant, Expr
from relay.ir.types import TensorType
from relay.ops.framework.build import call
from relay.ops.manipulation.layout_transform import layout_transform
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


def packed_dense(product: Call, plain: Callable[[Expr], Expr], blocks: tuple[int, ...]) -> Expr | None:
    """`nn.dense` with a constant matrix, in panels of columns; None for others."""
    if not blocks or not isinstance(product.attrs, DenseAttributes):
        return None
    data, weight = product.args
    type_ = weight.checked_type
    if not isinstance(weight, Constant) or not isinstance(type_, TensorType):
        return None
    units = type_.shape[0]
    if not isinstance(units, int):
        return None
    packed = layout_transform(plain(weight), "OI", f"OI{fitting_block(blocks, units)}o")
    return contrib_dense_pack(plain(data), packed, units, product.attrs.out_dtype)


def columns_innermost(product: Call, plain: Callable[[Expr], Expr], blocks: tuple[int, ...]) -> Expr | None:
    """A product whose second matrix is transposed beforehand, so that its columns are the lanes; None where that is not
    wanted, as for a few rows: those are sums along the matrix as it is."""
    type_, attributes = product.checked_type, product.attrs
    if not blocks or not isinstance(type_, TensorType):
        return None
    match attributes:
        case DenseAttributes():
            rows = type_.shape[:-1]
        case MatmulAttributes(transpose_b=True) | BatchMatmulAttributes(transpose_b=True):
            rows = type_.shape[-2:-1]
        case _:
            return None
    if not rows or (isinstance(rows[-1], int) and all(e == 1 for e in rows[:-1]) and rows[-1] <= _FEW_ROWS):
        return None
    data, matrix = map(plain, product.args)
    if isinstance(attributes, DenseAttributes):
        return matmul(data, _turned(matrix, (1, 0)), None, attributes.out_dtype)
    record, order = (BATCH_MATMUL, (0, 2, 1)) if isinstance(attributes, BatchMatmulAttributes) else (MATMUL, (1, 0))
    return call(record, (data, _turned(matrix, order)), replace(attributes, transpose_b=False))


def _turned(matrix: Expr, order: tuple[int, ...]) -> Expr:
    """A matrix with its last two axes exchanged; what they are exchanged of already is taken as it was."""
    if isinstance(matrix, Call) and isinstance(matrix.attrs, TransposeAttributes):
        axes = matrix.attrs.axes or tuple(reversed(range(len(order))))
        if tuple(axis % len(order) for axis in axes) == order:
            return matrix.args[0]
    return transpose(matrix, order)

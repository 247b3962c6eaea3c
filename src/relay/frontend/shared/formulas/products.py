"""Products of matrices whose leading axes broadcast.   a[.., m, k] × b[.., k, n] → [.., m, n]"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.frontend.shared.node import Node, Result
from relay.ir.expr import Expr
from relay.ops.manipulation.shape import expand_dims, reshape, squeeze
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import batch_matmul, dense


def matmul(node: Node) -> Result:
    """The product of the first two inputs by NumPy's rules."""
    return numpy_product(node, node.expr(0), node.expr(1))


def numpy_product(node: Node, a: Expr, b: Expr, out_dtype: DType | None = None) -> Expr:
    """NumPy's rules: vectors get an axis that is dropped again, the axes before the last two broadcast. `out_dtype` is
    the type that sums are kept and given in (default: of a)."""
    ranks = [len(node.type_of(each).shape) for each in (a, b)]
    if 0 in ranks:
        node.unsupported("of a scalar")
    left = expand_dims(a, 0) if ranks[0] == 1 else a
    right = expand_dims(b, 1) if ranks[1] == 1 else b
    result = matrix_product(node, left, right, out_dtype)
    if ranks[0] == 1:
        result = squeeze(result, [-2])
    return squeeze(result, [-1]) if ranks[1] == 1 else result


def matrix_product(node: Node, a: Expr, b: Expr, out_dtype: DType | None = None) -> Expr:
    """a[.., m, k] × b[.., k, n] → [.., m, n], of two axes or more each.

    One matrix on the right is a dense layer, whose weight is [n, k] in Relay; a transposed constant costs nothing.
    """
    a_shape, b_shape = node.type_of(a).shape, node.type_of(b).shape
    if len(b_shape) == 2:
        return dense(a, transpose(b, (1, 0)), out_dtype=out_dtype)
    batch = broadcast_shape(node, a_shape[:-2], b_shape[:-2])
    left, right = _stacked(a, batch, a_shape), _stacked(b, batch, b_shape)
    product = batch_matmul(left, right, out_dtype, transpose_b=False)
    return product if len(batch) == 1 else reshape(product, (*batch, a_shape[-2], b_shape[-1]), allowzero=True)


def _stacked(x: Expr, batch: Sequence[IntExpr], shape: Sequence[IntExpr]) -> Expr:
    """x[.., r, c] as [product of batch, r, c]; a batch of 1 stays one, for `batch_matmul` repeats it."""
    own = shape[:-2]
    if all(extent == 1 for extent in own):
        return x if len(own) == 1 else reshape(x, (1, *shape[-2:]), allowzero=True)
    if tuple(own) != tuple(batch):
        x = broadcast_to(x, (*batch, *shape[-2:]))
    if len(batch) == 1:
        return x
    count: IntExpr = 1
    for extent in batch:
        count = count * extent
    return reshape(x, (count, *shape[-2:]), allowzero=True)


def broadcast_shape(node: Node, left: Sequence[IntExpr], right: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
    """The shape that two shapes broadcast to."""
    merged: list[IntExpr] = []
    for a, b in zip_longest(reversed(left), reversed(right), fillvalue=1):
        if a != b and a != 1 and b != 1:
            node.unsupported(f"of batches {tuple(left)} and {tuple(right)}")
        merged.append(b if a == 1 else a)
    return tuple(reversed(merged))

"""Products of matrices whose leading axes broadcast.   a[.., m, k] × b[.., k, n] → [.., m, n]"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from relay.arith.expr import IntExpr
from relay.frontend.shared.node import Node, Result
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.manipulation.shape import expand_dims, reshape, squeeze
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import batch_matmul, dense


def shape_of_expr(node: Node, expr: Expr) -> tuple[IntExpr, ...]:
    """The shape of an expression that a converter built."""
    if not isinstance(expr.checked_type, TensorType):
        node.unsupported("whose operands have no shape before the program runs")
    return expr.checked_type.shape


def matmul(node: Node) -> Result:
    """NumPy's rules: vectors get an axis that is dropped again, the axes before the last two broadcast."""
    a, b = node.value(0), node.value(1)
    if not a.rank or not b.rank:
        node.unsupported("of a scalar")
    left = expand_dims(a.expr, 0) if a.rank == 1 else a.expr
    right = expand_dims(b.expr, 1) if b.rank == 1 else b.expr
    result = matrix_product(node, left, right)
    if a.rank == 1:
        result = squeeze(result, [-2])
    return squeeze(result, [-1]) if b.rank == 1 else result


def matrix_product(node: Node, a: Expr, b: Expr) -> Expr:
    """a[.., m, k] × b[.., k, n] → [.., m, n], of two axes or more each.

    One matrix on the right is a dense layer, whose weight is [n, k] in Relay; a transposed constant costs nothing.
    """
    a_shape, b_shape = shape_of_expr(node, a), shape_of_expr(node, b)
    if len(b_shape) == 2:
        return dense(a, transpose(b, (1, 0)))
    batch = broadcast_shape(node, a_shape[:-2], b_shape[:-2])
    product = batch_matmul(_stacked(a, batch, a_shape), _stacked(b, batch, b_shape), transpose_b=False)
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

"""Heads of attention: apart, and several of the query's that share one of key and value.   x[batch, rows, heads · d]"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.frontend.shared.node import Node
from relay.ir.expr import Expr
from relay.ops.framework.dimensions import quotient
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.tile import repeat
from relay.ops.manipulation.transpose import transpose


def apart(node: Node, x: Expr, shape: tuple[IntExpr, ...], heads: int) -> Expr:
    """x[batch, rows, heads · d] → [batch, heads, rows, d]"""
    batch, rows, width = shape
    depth = quotient(width, heads) if heads > 0 else None
    if depth is None:
        node.unsupported(f"of {heads} heads that are {width} wide together")
    return transpose(reshape(x, (batch, rows, heads, depth), allowzero=True), (0, 2, 1, 3))


def together(x: Expr, shape: tuple[IntExpr, ...]) -> Expr:
    """x[batch, heads, rows, d] → `shape`, [batch, rows, heads · d]"""
    return reshape(transpose(x, (0, 2, 1, 3)), shape, allowzero=True)


def for_each_head(node: Node, x: Expr, shared: IntExpr, heads: IntExpr, axis: int) -> Expr:
    """x[.., shared, rows, d] → [.., heads, rows, d]: each head along `axis` as often as the query has heads for it."""
    if shared == heads:
        return x
    if not isinstance(heads, int) or not isinstance(shared, int) or heads % shared:
        node.unsupported(f"of {heads} heads that share {shared}")
    return repeat(x, heads // shared, axis=axis)

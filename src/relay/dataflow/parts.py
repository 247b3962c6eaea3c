"""The parts of expressions that patterns and rules look into, and the types of what they make."""

from __future__ import annotations

from relay.base.graph import post_order as graph_post_order
from relay.infer.eager import eager_type, type_eagerly
from relay.ir.expr import Call, Expr, Function
from relay.ir.traversal import children

_OPAQUE = ("Primitive", "Compiler", "Composite", "PartitionedFromPattern")


def is_opaque(expr: Expr) -> bool:
    """Whether an expression is a function that belongs to a kernel or to another compiler already."""
    return isinstance(expr, Function) and any(name in expr.attrs for name in _OPAQUE)


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """The parts that rewriting looks into."""
    return () if is_opaque(expr) else children(expr)


def typed(expr: Expr) -> Expr:
    """`expr`, with the types of those of its nodes that can be told without inference. Types that are there stay: they
    may hold symbols of extents that other nodes name."""
    if expr.checked_type is not None:
        return expr
    for node in graph_post_order((expr,), _untyped_parts):
        if isinstance(node, Call):
            type_eagerly(node)
        else:
            eager_type(node)
    return expr


def _untyped_parts(expr: Expr) -> tuple[Expr, ...]:
    return tuple(part for part in parts_of(expr) if part.checked_type is None)

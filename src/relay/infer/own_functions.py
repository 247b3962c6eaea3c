"""Functions whose types the program around them decides, each as a copy of this program's own.

    g = Function([x, y], x + y)        without annotations: `g` is of one type in this program, of another in the next

Types are recorded at nodes, so such a function would keep those of the first program that it is used in.
"""

from __future__ import annotations

from typing import cast

from relay.base.graph import post_order as graph_post_order
from relay.ir.expr import Expr, Function
from relay.ir.traversal import children, rebuild
from relay.ir.variables import refresh


def with_own_functions(function: Function) -> Function:
    """`function`, not typed yet, with copies of the functions inside whose parameters have no annotations, as far as
    these have no types either; the same function if there are none."""
    order = graph_post_order((function.body,), _untyped_parts)
    if not any(map(_is_open, order)):
        return function
    new: dict[Expr, Expr] = {}
    for node in order:
        parts = _untyped_parts(node)
        new[node] = refresh(node) if _is_open(node) else rebuild(node, [new[part] for part in parts]) if parts else node
    return cast(Function, rebuild(function, (new[function.body],)))


def _untyped_parts(node: Expr) -> tuple[Expr, ...]:
    return () if node.checked_type is not None else children(node)


def _is_open(node: Expr) -> bool:
    """Whether a function's types are those of what it is called with."""
    return (
        isinstance(node, Function)
        and node.checked_type is None
        and any(parameter.type_annotation is None and parameter.checked_type is None for parameter in node.params)
    )

"""Make names into edges: graph normal form of the pure bindings.

    before: let %a = exp(%x); let %b = add(%a, %a); multiply(%b, %a)
    after:  %0 = exp(%x); %1 = add(%0, %0); multiply(%1, %0)

What is bound once is one shared node, evaluated once, so nothing is computed twice. Stays bound: a value with an
effect, one that may not end, one whose annotation says something else than its type, a function (which may call
itself), and what a function inside uses: shared, it would be computed whenever that function is called, in every turn
of a loop.
"""

from __future__ import annotations

from collections.abc import Callable

from relay.analysis.effects import effects_of
from relay.base.graph import post_order
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Op,
    Var,
    record_type,
    record_type_args,
)
from relay.ir.traversal import children, rebuild
from relay.ir.traversal import post_order as all_nodes
from relay.ir.variables import free_vars


def to_graph_normal_form(function: Function) -> Function:
    """The function with its pure let bindings replaced by sharing; the same function if it has none."""
    captured = _captured(function.body)
    bound = {
        node.var: node.value
        for node in all_nodes(function.body)
        if isinstance(node, Let) and _becomes_an_edge(node) and (node.var not in captured or _costs_nothing(node.value))
    }
    if not bound:
        return function
    new: dict[int, Expr] = {}
    for node in post_order([function.body], _edges(bound)):
        if isinstance(node, Var):
            new[id(node)] = new[id(bound[node])] if node in bound else node
        elif isinstance(node, Let) and node.var in bound:
            new[id(node)] = new[id(node.body)]
        else:
            rebuilt = rebuild(node, [new[id(part)] for part in children(node)])
            if rebuilt.checked_type is None and node.checked_type is not None:
                record_type(rebuilt, node.checked_type)
                if isinstance(rebuilt, Call) and isinstance(node, Call):
                    record_type_args(rebuilt, node.type_args)  # its callee is the same, perhaps by its own name
            new[id(node)] = rebuilt
    body = new[id(function.body)]
    changed = Function(
        function.params, body, function.ret_type, function.type_params, function.attrs, span=function.span
    )
    return changed if function.checked_type is None else record_type(changed, function.checked_type)


def _edges(bound: dict[Var, Expr]) -> Callable[[Expr], tuple[Expr, ...]]:
    """The parts of a node, where a bound variable has its value as its part, and its let only the body."""

    def parts(node: Expr) -> tuple[Expr, ...]:
        if isinstance(node, Var):
            return (bound[node],) if node in bound else ()
        if isinstance(node, Let) and node.var in bound:
            return (node.body,)
        return children(node)

    return parts


def _captured(body: Expr) -> set[Var]:
    """The variables that a function inside uses and does not bind."""
    found: set[Var] = set()
    for node in all_nodes(body):
        if isinstance(node, Function) and not node.attrs.get("Primitive"):
            found.update(free_vars(node))
    return found


def _costs_nothing(value: Expr) -> bool:
    return isinstance(value, Var | Constant | GlobalVar | Op | Constructor)


def _becomes_an_edge(let: Let) -> bool:
    annotation = let.var.type_annotation
    if isinstance(let.value, Function) or (annotation is not None and annotation != let.value.checked_type):
        return False
    effects = effects_of(let.value)
    return effects.is_removable and effects.is_repeatable

"""A typed function with other types: at the extents, or at the types, that a call has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Function, Let, Var, record_type, record_type_args
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.types import Type
from relay.ir.variables import renaming, vars_bound_at

TypeMap = Callable[[Type], Type]


def retyped(
    function: Function,
    change: TypeMap,
    change_attributes: Callable[[Attributes], Attributes] = lambda attributes: attributes,
) -> Function:
    """A typed copy of a typed function, with `change` made to every type in it, and new bound variables."""
    change, nodes = cache(change), post_order(function)
    fresh = {var: _variable(var, change) for node in nodes for var in vars_bound_at(node)}
    renamed = renaming(fresh)
    new: dict[Expr, Expr] = {}
    for node in nodes:
        parts = [new[child] for child in children(node)]
        match node:
            case Var():
                made = fresh.get(node, node)
            case Let(var):
                made = Let(fresh[var], *parts, span=node.span)
            case Call(_, _, attrs):
                types = tuple(map(change, node.given_type_args))
                made = Call(parts[0], tuple(parts[1:]), attrs and change_attributes(attrs), types, span=node.span)
                record_type_args(made, map(change, node.type_args))
            case Function(params, _, ret_type, type_params, attrs):
                ret_type = None if ret_type is None else change(ret_type)
                own = tuple([fresh[param] for param in params])
                made = Function(own, parts[0], ret_type, type_params, attrs, span=node.span)
            case _:
                made = renamed(rebuild(node, parts))
        if made.checked_type is None and node.checked_type is not None:
            record_type(made, change(node.checked_type))
        new[node] = made
    return cast("Function", new[function])


def _variable(var: Var, change: TypeMap) -> Var:
    annotation, type_ = var.type_annotation, var.checked_type
    changed = Var(var.name_hint, None if annotation is None else change(annotation), span=var.span)
    return changed if type_ is None else record_type(changed, change(type_))

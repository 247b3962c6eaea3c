"""A typed function with other types: at the extents, or at the types, that a call has."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Function, Var, record_type, record_type_args
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
    nodes = post_order(function)
    renamed = renaming({var: _variable(var, change) for node in nodes for var in vars_bound_at(node)})
    new: dict[Expr, Expr] = {}
    for node in nodes:
        parts = [new[child] for child in children(node)]
        if isinstance(node, Call):
            types = tuple(map(change, node.given_type_args))
            attrs = node.attrs and change_attributes(node.attrs)
            made = Call(parts[0], tuple(parts[1:]), attrs, types, span=node.span)
            record_type_args(made, map(change, node.type_args))
        else:
            made = renamed(rebuild(node, parts))
        if isinstance(made, Function) and made.ret_type is not None:
            made = Function(made.params, made.body, change(made.ret_type), made.type_params, made.attrs, span=made.span)
        if made.checked_type is None and node.checked_type is not None:
            record_type(made, change(node.checked_type))
        new[node] = made
    return cast("Function", new[function])


def _variable(var: Var, change: TypeMap) -> Var:
    annotation, type_ = var.type_annotation, var.checked_type
    changed = Var(var.name_hint, None if annotation is None else change(annotation), span=var.span)
    return changed if type_ is None else record_type(changed, change(type_))

"""A typed function with other types: at the extents, or at the types, that a call has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Function, Var, record_type, record_type_args
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import map_type
from relay.ir.types import Type, TypeVar
from relay.ir.variables import bound_vars, renaming

TypeMap = Callable[[Type], Type]
TypeArguments = Mapping[TypeVar, Type]
"""What type parameters stand for."""


def instantiated(type_: Type, types: TypeArguments) -> Type:
    """A type in which type parameters stand for `types`."""
    if not types:
        return type_
    return map_type(type_, variable=lambda each: types.get(each, each) if isinstance(each, TypeVar) else each)


def retyped(
    function: Function,
    change: TypeMap,
    change_attributes: Callable[[Attributes], Attributes] = lambda attributes: attributes,
) -> Function:
    """A typed copy of a typed function, with `change` made to every type in it, and new bound variables."""
    renamed = renaming({var: _variable(var, change) for var in bound_vars(function)})
    new: dict[Expr, Expr] = {}
    for node in post_order(function):
        made = renamed(rebuild(node, [new[child] for child in children(node)]))
        made = _with_annotations(made, change, change_attributes)
        if made.checked_type is None and node.checked_type is not None:
            record_type(made, change(node.checked_type))
        if isinstance(node, Call) and isinstance(made, Call):
            record_type_args(made, map(change, node.type_args))
        new[node] = made
    return cast("Function", new[function])


def _with_annotations(expr: Expr, change: TypeMap, change_attributes: Callable[[Attributes], Attributes]) -> Expr:
    match expr:
        case Call(op, args, attrs):
            types = tuple(map(change, expr.given_type_args))
            return Call(op, args, attrs and change_attributes(attrs), types, span=expr.span)
        case Function(params, body, ret_type, type_params, attrs) if ret_type is not None:
            return Function(params, body, change(ret_type), type_params, attrs, span=expr.span)
        case _:
            return expr


def _variable(var: Var, change: TypeMap) -> Var:
    annotation, type_ = var.type_annotation, var.checked_type
    changed = Var(var.name_hint, None if annotation is None else change(annotation), span=var.span)
    return changed if type_ is None else record_type(changed, change(type_))

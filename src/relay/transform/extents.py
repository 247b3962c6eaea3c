"""A function of symbolic extents as one of the extents that a call has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from relay.arith.expr import IntExpr, Node, Symbol, substitute
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, Function, Var, record_type
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import map_type, type_leaves
from relay.ir.types import TensorType, Type
from relay.ir.variables import bound_vars, renaming

Extents = Mapping[Symbol, IntExpr]


def extents_of_call(params: Sequence[Type], args: Sequence[Type]) -> Extents | None:
    """What the symbols in `params` are, so that these are the types `args`, exactly; None when there is no such thing.

    >>> from relay.base.dtypes import DType
    >>> n = Symbol("n")
    >>> extents_of_call([TensorType((n, 4), DType.INT8)], [TensorType((3, 4), DType.INT8)])
    {n: 3}
    """
    found: dict[Symbol, IntExpr] = {}
    for param, arg in zip(params, args, strict=True):
        for inner, outer in zip(type_leaves(param), type_leaves(arg), strict=False):
            if isinstance(inner, TensorType) and isinstance(outer, TensorType):
                pairs = zip(inner.shape, outer.shape, strict=False)
                found.update((own, extent) for own, extent in pairs if isinstance(own, Symbol) and own not in found)
    matches = all(type_at(param, found) == arg for param, arg in zip(params, args, strict=True))
    return found if matches else None


def type_at(type_: Type, extents: Extents) -> Type:
    return map_type(type_, dimension=lambda extent: substitute(extent, extents))


def function_at(function: Function, extents: Extents) -> Function:
    """A typed copy of a typed function, with these extents for its symbols and new bound variables.

    The function must have no run-time checks: without them its types at other extents are these types with the extents
    put in, and no check is lost.
    """
    renamed = renaming({var: _variable_at(var, extents) for var in bound_vars(function)})
    new: dict[int, Expr] = {}
    for node in post_order(function):
        made = _node_at(renamed(rebuild(node, [new[id(child)] for child in children(node)])), extents)
        if made.checked_type is None and node.checked_type is not None:
            record_type(made, type_at(node.checked_type, extents))
        new[id(node)] = made
    return cast("Function", new[id(function)])


def _node_at(expr: Expr, extents: Extents) -> Expr:
    match expr:
        case Call(op, args, attrs):
            types = tuple(type_at(each, extents) for each in expr.given_type_args)
            return Call(op, args, attrs and _attributes_at(attrs, extents), types, span=expr.span)
        case Function(params, body, ret_type, type_params, attrs) if ret_type is not None:
            return Function(params, body, type_at(ret_type, extents), type_params, attrs, span=expr.span)
        case _:
            return expr


def _variable_at(var: Var, extents: Extents) -> Var:
    annotation, type_ = var.type_annotation, var.checked_type
    changed = Var(var.name_hint, None if annotation is None else type_at(annotation, extents), span=var.span)
    return changed if type_ is None else record_type(changed, type_at(type_, extents))


def _attributes_at(attributes: Attributes, extents: Extents) -> Attributes:
    old = {field.name: getattr(attributes, field.name) for field in fields(attributes)}
    new = {name: _value_at(value, extents) for name, value in old.items()}
    return attributes if new == old else replace(attributes, **new)


def _value_at(value: Any, extents: Extents) -> Any:
    match value:
        case Node():
            return substitute(cast("IntExpr", value), extents)
        case tuple():
            return tuple(_value_at(each, extents) for each in cast("tuple[Any, ...]", value))
        case Mapping():
            return {key: _value_at(each, extents) for key, each in cast("Mapping[str, Any]", value).items()}
        case _:
            return value

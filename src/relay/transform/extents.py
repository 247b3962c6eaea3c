"""A function of symbolic extents as one of the extents that a call has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from relay.arith.expr import IntExpr, Symbol, substitute
from relay.ir.attributes import with_extents
from relay.ir.expr import Call, Expr, Function, Var, record_type
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import map_type, type_leaves, type_symbols
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
    """A typed copy of a typed function, with these extents for its symbols and new bound variables. Extents that are
    found inside it (of `arange`) get new symbols, so that both bodies may stand in one function.

    A function that is given extents must have no run-time checks: without them its types at other extents are these
    types with the extents put in, and no check is lost.
    """
    extents = {**_new_symbols(function), **extents}
    renamed = renaming({var: _variable_at(var, extents) for var in bound_vars(function)})
    new: dict[int, Expr] = {}
    for node in post_order(function):
        made = _node_at(renamed(rebuild(node, [new[id(child)] for child in children(node)])), extents)
        if made.checked_type is None and node.checked_type is not None:
            record_type(made, type_at(node.checked_type, extents))
        new[id(node)] = made
    return cast("Function", new[id(function)])


def _new_symbols(function: Function) -> Extents:
    """New symbols for those that stand in a function's body, but not in the types of its parameters."""
    params = [param.checked_type or param.type_annotation for param in function.params]
    own = {symbol for type_ in params if type_ is not None for symbol in type_symbols(type_)}
    types = [node.checked_type for node in post_order(function)]
    types += [var.checked_type for var in bound_vars(function)]
    inner = dict.fromkeys(symbol for type_ in types if type_ is not None for symbol in type_symbols(type_))
    return {symbol: Symbol(symbol.name) for symbol in inner if symbol not in own}


def _node_at(expr: Expr, extents: Extents) -> Expr:
    match expr:
        case Call(op, args, attrs):
            types = tuple(type_at(each, extents) for each in expr.given_type_args)
            return Call(op, args, attrs and with_extents(attrs, extents), types, span=expr.span)
        case Function(params, body, ret_type, type_params, attrs) if ret_type is not None:
            return Function(params, body, type_at(ret_type, extents), type_params, attrs, span=expr.span)
        case _:
            return expr


def _variable_at(var: Var, extents: Extents) -> Var:
    annotation, type_ = var.type_annotation, var.checked_type
    changed = Var(var.name_hint, None if annotation is None else type_at(annotation, extents), span=var.span)
    return changed if type_ is None else record_type(changed, type_at(type_, extents))

"""A function of symbolic extents as one of the extents that a call has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from relay.arith.expr import IntExpr, Node, Symbol, substitute
from relay.ir.attributes import Attributes
from relay.ir.expr import Function
from relay.ir.type_traversal import map_type, type_leaves
from relay.ir.types import TensorType, Type
from relay.transform.retyping import retyped

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
    return retyped(
        function, lambda type_: type_at(type_, extents), lambda attributes: _attributes_at(attributes, extents)
    )


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

"""Primitive functions whose extents are symbols, where callers know them as products and quotients of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relay.arith.expr import IntExpr, Symbol
from relay.arith.naming import named_parts, with_names
from relay.ir.attributes import attribute_extents, with_extents
from relay.ir.expr import Call, Function
from relay.ir.traversal import post_order
from relay.ir.type_traversal import map_type, tensor_types
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.value_extents import open_symbols
from relay.transform.functions.retyping import retyped


def with_named_extents(function: Function) -> tuple[Function, Mapping[Symbol, IntExpr]]:
    """A primitive function in which a symbol stands for each part of an extent of which it knows no more than that, and
    what these symbols are in terms of `function`. What a kernel is told of extents, each call computes once; and
    functions that differ in where their extents come from have one kernel.

    Extents that `function` finds in values stay: they are told by their places.
    """
    if tells_of_body(function):
        return function, {}
    names = named_parts(list(dict.fromkeys(_extents(function))), frozenset(open_symbols(function)))
    if not names:
        return function, {}
    named = retyped(
        function,
        lambda type_: map_type(type_, dimension=lambda extent: with_names(extent, names)),
        lambda attributes: with_extents(attributes, lambda extent: with_names(extent, names)),
    )
    return named, {symbol: part for part, symbol in names.items()}


def _extents(function: Function) -> Iterator[IntExpr]:
    for node in post_order(function):
        if node.checked_type is not None:
            for type_ in tensor_types(node.checked_type):
                yield from type_.shape
        if isinstance(node, Call) and node.attrs is not None:
            yield from attribute_extents(node.attrs)

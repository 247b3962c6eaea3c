"""Definitions of algebraic data types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.ir.expr import Constructor
from relay.ir.types import GlobalTypeVar, Type, TypeCall, TypeVar, type_children


@frozen(eq=False)
class TypeData:
    """`type header[type_vars] { constructors }`; no constructors for an `extern type`."""

    header: GlobalTypeVar
    type_vars: tuple[TypeVar, ...]
    constructors: tuple[Constructor, ...]
    extern: bool = False
    span: Span | None = None


def held_types(type_: Type, definitions: Mapping[GlobalTypeVar, TypeData]) -> Iterator[Type]:
    """The types that stand in a type, and in the data types that it names."""
    stack = [type_]
    met: set[GlobalTypeVar] = set()
    while stack:
        each = stack.pop()
        yield each
        if isinstance(each, GlobalTypeVar | TypeCall):
            name = each if isinstance(each, GlobalTypeVar) else each.func
            if name not in met and name in definitions:
                met.add(name)
                stack += [part for made in definitions[name].constructors for part in made.inputs]
        stack += type_children(each)

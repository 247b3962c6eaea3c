"""The attributes of a call: one frozen dataclass per operator family, printed and parsed by its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, TypeAlias, Union, cast

import numpy as np

from relay.arith.expr import IntExpr, Node, Symbol, free_symbols
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.sugar import ExprSugar

AttributeValue: TypeAlias = Union[
    bool, int, float, str, DType, IntExpr, "tuple[AttributeValue, ...]", "Mapping[str, AttributeValue]", None
]


@frozen
class Attributes:
    """Base of all operator attributes. Fields are of `AttributeValue`; lists given are stored as tuples, mappings so
    that they have a hash, and constants and NumPy's numbers as the numbers that they are. Raises `RelayError` (rule
    `value-not-known`) for other expressions.

    >>> NoAttributes().shown()
    ()
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list | tuple | Mapping | ExprSugar | np.generic):
                object.__setattr__(self, field.name, _plain(value))

    def shown(self) -> tuple[tuple[str, AttributeValue], ...]:
        """`(name, value)` of each field that differs from its default: what the text format prints."""
        return tuple(
            (field.name, getattr(self, field.name))
            for field in fields(self)
            if field.default is MISSING or getattr(self, field.name) != field.default
        )


@frozen
class NoAttributes(Attributes):
    """Of an operator that has none."""


def attribute_extents(attributes: Attributes) -> tuple[Node, ...]:
    """The expressions of dimension symbols in attributes, by field."""
    found: list[Node] = []
    stack: list[object] = [getattr(attributes, field.name) for field in reversed(fields(attributes))]
    while stack:
        value = stack.pop()
        if isinstance(value, tuple):
            stack.extend(reversed(cast("tuple[object, ...]", value)))
        elif isinstance(value, Mapping):
            stack.extend(reversed(list(cast("Mapping[str, object]", value).values())))
        elif isinstance(value, Node):
            found.append(value)
    return tuple(found)


def attribute_symbols(attributes: Attributes) -> tuple[Symbol, ...]:
    """The dimension symbols in attributes, each once, by field."""
    sorted_by_name = (
        sorted(free_symbols(value), key=lambda symbol: symbol.name) for value in attribute_extents(attributes)
    )
    return tuple(dict.fromkeys(symbol for symbols in sorted_by_name for symbol in symbols))


def with_extents(attributes: Attributes, extent: Callable[[Node], IntExpr]) -> Attributes:
    """The attributes with `extent` of each expression of dimension symbols in its place; the same ones if that changes
    none."""
    if all(extent(value) == value for value in attribute_extents(attributes)):
        return attributes
    changes = {field.name: _with_extents(getattr(attributes, field.name), extent) for field in fields(attributes)}
    return replace(attributes, **cast("dict[str, Any]", changes))


def _with_extents(value: object, extent: Callable[[Node], IntExpr]) -> object:
    if isinstance(value, tuple):
        return tuple(_with_extents(item, extent) for item in cast("tuple[object, ...]", value))
    if isinstance(value, Mapping):
        return {key: _with_extents(item, extent) for key, item in cast("Mapping[str, object]", value).items()}
    return extent(value) if isinstance(value, Node) else value


def _plain(value: Any) -> Any:
    known = value.known_value() if isinstance(value, ExprSugar) else value
    known = known.item() if isinstance(known, np.generic) else known
    if isinstance(known, Mapping):
        return HashableDict((key, _plain(each)) for key, each in cast("Mapping[str, Any]", known).items())
    return tuple(map(_plain, known)) if isinstance(known, list | tuple) else known


class HashableDict(dict[str, Any]):
    """A mapping among attributes, which are compared and looked up as a whole."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

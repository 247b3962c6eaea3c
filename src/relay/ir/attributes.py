"""The attributes of a call: one frozen dataclass per operator family, printed and parsed by its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType

AttributeValue: TypeAlias = Union[
    bool, int, float, str, DType, IntExpr, "tuple[AttributeValue, ...]", "Mapping[str, AttributeValue]", None
]


@dataclass(frozen=True, slots=True)
class Attributes:
    """Base of all operator attributes. Fields are of `AttributeValue`; lists given are stored as tuples.

    >>> NoAttributes().shown()
    ()
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):
                object.__setattr__(self, field.name, _tuples(value))

    def shown(self) -> tuple[tuple[str, AttributeValue], ...]:
        """`(name, value)` of each field that differs from its default: what the text format prints."""
        return tuple(
            (field.name, getattr(self, field.name))
            for field in fields(self)
            if field.default is MISSING or getattr(self, field.name) != field.default
        )


@dataclass(frozen=True, slots=True)
class NoAttributes(Attributes):
    """Of an operator that has none."""


def _tuples(value: object) -> object:
    return tuple(_tuples(item) for item in value) if isinstance(value, (list, tuple)) else value

"""Attributes held against their declared types, where users give them to builder functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from types import UnionType
from typing import Union, get_args, get_origin

from relay.base.arguments import described
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.ir.attributes import Attributes
from relay.text.attributes import Mismatch, coerce, declared_types, show_hint


@frozen
class _Field:
    """A field of attributes: its default and values of `plain` types fit as they are."""

    name: str
    hint: object
    default: object
    plain: frozenset[type]


def check_attributes(owner: str, attributes: Attributes) -> None:
    """Raise `RelayError` (rule `bad-attribute`) unless the values of attributes are of their declared types.

    >>> from relay.ops.reduction.reduce import ReduceAttributes
    >>> check_attributes("sum", ReduceAttributes(axis=(0, 1)))
    >>> try:
    ...     check_attributes("sum", ReduceAttributes(axis="abc"))
    ... except RelayError as error:
    ...     print(error.message, error.expected, error.found, sep="; ")
    `axis` of sum is of another type; [a whole number, ...] or None; a str: 'abc'
    """
    for field in _fields(type(attributes)):
        value: object = getattr(attributes, field.name)
        if value is not field.default and type(value) not in field.plain and not fits(value, field.hint):
            raise RelayError(
                rule="bad-attribute", message=f"`{field.name}` of {owner} is of another type",
                expected=show_hint(field.hint), found=described(value), span=caller_span(),
            )  # fmt: skip


def fits(value: object, hint: object) -> bool:
    """Whether a value is of a declared type.

    >>> fits((1, 2), tuple[int, ...]), fits((1, "a"), tuple[int, ...]), fits(None, int | None)
    (True, False, True)
    """
    try:
        coerce(value, hint)
    except (Mismatch, TypeError, ValueError):  # what cannot even be compared does not fit
        return isinstance(hint, type) and issubclass(hint, Enum) and isinstance(value, hint)
    return True


@cache
def _fields(declared: type[Attributes]) -> tuple[_Field, ...]:
    hints: Mapping[str, object] = declared_types(declared)
    return tuple(
        _Field(each.name, hints[each.name], each.default, _plain_types(hints[each.name])) for each in fields(declared)
    )


def _plain_types(hint: object) -> frozenset[type]:
    """The types whose values all fit."""
    arms = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return frozenset(arm for arm in arms if isinstance(arm, type) and get_origin(arm) is None)

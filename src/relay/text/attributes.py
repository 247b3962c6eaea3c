"""Attributes as text, both ways. What a value may be is declared by the field's type; the table that turns what was
written into what is declared stands here and nowhere else."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from relay.arith.expr import Node, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.names.near_names import near_names
from relay.base.span import Span
from relay.ir.attributes import Attributes
from relay.ir.expr import Constant, Op
from relay.text.cursor import Cursor, Depth
from relay.text.lexer import Kind
from relay.text.literals import number
from relay.text.types import DTYPE_NAMES, TypeNames, TypeReader

MAX_VALUE_DEPTH = 64
_WORDS: Mapping[str, object] = {
    "True": True,
    "False": False,
    "None": None,
    "nullptr": None,
    "inf": float("inf"),
    "nan": float("nan"),
}


class Mismatch(Exception):
    """A value is not of the declared type; the caller knows the place and writes the message."""


# ------------------------------------------------------------------------------------------------------- printing


def show_value(value: object, names: TypeNames) -> str:
    """An attribute as text.

    >>> show_value((1, 0.5, None, "NCHW"), TypeNames())
    '[1, 0.5, None, "NCHW"]'
    """
    match value:
        case Enum() if not isinstance(value, str):
            return show_value(value.value, names)
        case bool() | None:
            return str(value)
        case float():
            return repr(value) if isfinite(value) else str(value)
        case str():
            return json.dumps(str(value), ensure_ascii=False)
        case int() | Node():
            return names.dimension(value)
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            return "{" + ", ".join(f"{json.dumps(k)}: {show_value(v, names)}" for k, v in items) + "}"
        case tuple() | list():
            return f"[{', '.join(show_value(item, names) for item in cast('tuple[object, ...]', value))}]"
        case _:
            raise RelayError(
                rule="attribute-without-text",
                message="an attribute has a value that the text format cannot show",
                expected="a number, bool, string, dtype, dimension, None, or tuples and mappings of these",
                found=type(value).__name__,
            )


def show_key(key: str) -> str:
    """The name of a function's attribute, quoted when it is not a plain name."""
    return key if key.isidentifier() and key.isascii() and key not in _WORDS else json.dumps(key, ensure_ascii=False)


# -------------------------------------------------------------------------------------------------------- reading


def read_string(token: str, span: Span) -> str:
    """The string that a quoted token stands for (the escapes of JSON)."""
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        remedy = 'write \\" \\\\ \\n \\t or \\u0041'
        raise RelayError(
            rule="bad-string", message="an escape in a string is unknown", span=span, remedy=remedy
        ) from None


class ValueReader:
    """Reads the values of attributes at a cursor."""

    def __init__(self, cursor: Cursor, types_: TypeReader) -> None:
        self.cursor = cursor
        self.types = types_
        self._depth = Depth("a value", MAX_VALUE_DEPTH, cursor)

    def at_attribute(self) -> bool:
        """Whether `name = ...` stands here."""
        return self.cursor.kind in (Kind.NAME, Kind.STRING) and self.cursor.peek() == "="

    def key(self) -> str:
        """`name =` or `"any name" =`."""
        span, quoted = self.cursor.span(), self.cursor.kind is Kind.STRING
        text = self.cursor.advance()
        self.cursor.expect("=", "after the name of an attribute")
        return read_string(text, span) if quoted else text

    def value(self) -> object:
        """The value that stands here, as written."""
        with self._depth:
            return self._value()

    def _value(self) -> object:
        cursor = self.cursor
        if cursor.kind is Kind.STRING:
            span = cursor.span()
            return read_string(cursor.advance(), span)
        if cursor.accept("["):
            return tuple([self.value() for _ in cursor.items("]", "values")])
        if cursor.accept("{"):
            return dict([self._entry() for _ in cursor.items("}", "entries")])
        minus = cursor.at("-")
        token = cursor.peek() if minus else cursor.text
        if cursor.kind is Kind.NAME and cursor.text in _WORDS and cursor.peek() not in ("(", "*", "+", "-"):
            return _WORDS[cursor.advance()]
        value = number(token)
        if not isinstance(value, float):
            return self.types.dimension()
        if minus:
            cursor.advance()
        cursor.advance()
        return -value if minus else value

    def _entry(self) -> tuple[str, object]:
        cursor = self.cursor
        span = cursor.span()
        key = read_string(cursor.expect_kind(Kind.STRING, "as the key of a mapping"), span)
        cursor.expect(":", "after a key")
        return key, self.value()


def inputs_left_out(op: Op, given: int, written: dict[str, tuple[object, Span | None]], span: Span) -> list[Constant]:
    """The inputs behind the `given` first ones that the operator has defaults for: as they were written as attributes
    (which are taken out of `written`), or the defaults.

    Raises `RelayError` (rule `bad-attribute`).
    """
    defaults = dict(op.operator.input_defaults)
    inputs: list[Constant] = []
    for name in op.operator.inputs[given:]:
        if name in defaults:
            value, place = written.pop(name, (defaults[name], span))
            if not isinstance(value, int | float):
                raise RelayError(
                    rule="bad-attribute", message=f"attribute `{name}` of {op.name} is of another type", span=place,
                    expected="a number", found=show_value(value, TypeNames()),
                )  # fmt: skip
            inputs.append(Constant(np.asarray(value, np.float32), span=place))
    return inputs


def build_attributes(
    owner: str, declared: type[Attributes], written: Mapping[str, tuple[object, Span | None]]
) -> Attributes:
    """The attributes of a call of `owner`, of the declared class, from what was written (value and place).

    Raises `RelayError` (rules `unknown-attribute`, `bad-attribute`, `missing-attribute`).
    """
    if not written:
        return _defaults(owner, declared)
    return _build(owner, declared, written)


@cache
def _defaults(owner: str, declared: type[Attributes]) -> Attributes:
    """Attributes that nothing was written for: the same frozen value each time."""
    return _build(owner, declared, {})


def _build(owner: str, declared: type[Attributes], written: Mapping[str, tuple[object, Span | None]]) -> Attributes:
    hints = declared_types(declared)
    values: dict[str, object] = {}
    for name, (value, span) in written.items():
        if name not in hints:
            raise RelayError(
                rule="unknown-attribute",
                message=f"{owner} has no attribute `{name}`",
                span=span,
                expected="one of " + ", ".join(hints) if hints else "no attributes",
                remedy=near_names(name, hints),
            )
        try:
            values[name] = coerce(value, hints[name])
        except Mismatch:
            raise RelayError(
                rule="bad-attribute",
                message=f"attribute `{name}` of {owner} is of another type",
                span=span,
                expected=show_hint(hints[name]),
                found=show_value(value, TypeNames()),
            ) from None
    for field in fields(declared):
        if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise RelayError(
                rule="missing-attribute",
                message=f"{owner} needs the attribute `{field.name}`",
                expected=f"{field.name}={show_hint(hints[field.name])}",
            )
    return declared(**cast("dict[str, Any]", values))


@cache
def declared_types(declared: type[Attributes]) -> Mapping[str, object]:
    """The declared type of each field, resolved."""
    hints = get_type_hints(declared)
    return {field.name: hints[field.name] for field in fields(declared)}


def coerce(value: object, hint: object) -> object:
    """`value`, as written, as a value of the type `hint`. Raises `Mismatch`.

    >>> coerce((1, 2), tuple[int, ...]), coerce(1, float), coerce("float32", DType)
    ((1, 2), 1.0, <DType.FLOAT32: 'float32'>)
    """
    if hint is Any or hint is object:
        return value
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _coerce_union(value, get_args(hint))
    if origin is tuple:
        return _coerce_tuple(value, get_args(hint))
    if origin is Literal:
        return _check(value, value in get_args(hint))
    if origin is not None:
        return _check(value, isinstance(value, origin))
    if isinstance(hint, type):
        for parent, convert in _COERCIONS:
            if issubclass(hint, parent):
                return convert(value, hint)
    raise Mismatch


def _coerce_union(value: object, arms: tuple[object, ...]) -> object:
    """The first arm that takes the value as it is, else the first that can be made of it."""
    results: list[object] = []
    for arm in arms:
        try:
            result = coerce(value, arm)
        except Mismatch:
            continue
        if type(result) is type(value):
            return result
        results.append(result)
    if not results:
        raise Mismatch
    return results[0]


def _coerce_tuple(value: object, arms: tuple[object, ...]) -> object:
    if not isinstance(value, tuple):
        raise Mismatch
    items = cast("tuple[object, ...]", value)
    if len(arms) == 2 and arms[1] is Ellipsis:
        return tuple(coerce(item, arms[0]) for item in items)
    if len(arms) != len(items):
        raise Mismatch
    return tuple(coerce(item, arm) for item, arm in zip(items, arms, strict=True))


def _check(value: object, fits: bool) -> object:
    if not fits:
        raise Mismatch
    return value


def _to_bool(value: object, _: type) -> object:
    return bool(_check(value, isinstance(value, bool) or value in (0, 1)))


def _to_int(value: object, _: type) -> object:
    return _check(value, isinstance(value, int) and not isinstance(value, bool))


def _to_float(value: object, _: type) -> object:
    return float(cast("float", _check(value, isinstance(value, (int, float)) and not isinstance(value, bool))))


def _to_dtype(value: object, _: type) -> object:
    name = value.name if isinstance(value, Symbol) else value
    return DTYPE_NAMES[cast("str", _check(name, isinstance(name, str) and name in DTYPE_NAMES))]


def _to_enum(value: object, enum: type) -> object:
    name = value.name if isinstance(value, Symbol) else value
    for member in cast("type[Enum]", enum):
        if member.value == name:
            return member
    raise Mismatch


def _to_str(value: object, _: type) -> object:
    return _check(value.name if isinstance(value, Symbol) else value, isinstance(value, (str, Symbol)))


def _to_dimension(value: object, _: type) -> object:
    return _check(value, isinstance(value, Node))


def _to_none(value: object, _: type) -> object:
    return _check(value, value is None)


def _to_mapping(value: object, _: type) -> object:
    return _check(value, isinstance(value, Mapping))


_COERCIONS: tuple[tuple[type, Callable[[object, type], object]], ...] = (
    (bool, _to_bool),
    (DType, _to_dtype),
    (Enum, _to_enum),
    (int, _to_int),
    (float, _to_float),
    (str, _to_str),
    (Node, _to_dimension),
    (type(None), _to_none),
    (Mapping, _to_mapping),
)


def show_hint(hint: object) -> str:
    """A declared type in the words of the text format."""
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(show_hint, get_args(hint))))
    if get_origin(hint) is tuple:
        parts = get_args(hint)
        if len(parts) == 2 and parts[1] is Ellipsis:
            return f"[{show_hint(parts[0])}, ...]"
        return f"[{', '.join(map(show_hint, parts))}]"
    if hint is DType:
        return "an element type"
    if isinstance(hint, type) and issubclass(hint, Node):
        return "a dimension"
    if hint is type(None):
        return "None"
    return {"int": "a whole number", "str": "a string", "float": "a number", "bool": "True or False"}.get(
        getattr(hint, "__name__", str(hint)), getattr(hint, "__name__", str(hint))
    )

"""Values of Python that are tuples in a program, whose parts have names: NamedTuples, frozen dataclasses and dicts with
keys that are known now; and lists that keep their length through a loop, whose parts have places. The type of such a
tuple has its form, wherever it goes: into lists, through loops, branches and calls. What is read of the program is
again what it was."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Sequence
from typing import Any, cast

from relay.base.frozen import frozen
from relay.ir.types import TupleType, Type


@frozen
class Form:
    """How parts make a value: one of a `kind` (a class, `dict` or `list`) that has them under `names`."""

    kind: type
    names: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.kind.__name__} of {', '.join(map(str, self.names))}"

    def made(self, parts: Sequence[Any]) -> Any:
        """The value of these parts."""
        if self.kind is list:
            return list(parts)
        named = dict(zip(self.names, parts, strict=True))
        if self.kind is dict:
            return named
        return record(self.kind, named) if dataclasses.is_dataclass(self.kind) else self.kind(**named)


def form_of(value: Any) -> Form | None:
    """The form of a value; None where its parts have no names."""
    if isinstance(value, dict):
        return Form(dict, tuple(cast("dict[Any, Any]", value)))
    return Form(type(value), tuple(field_values(value))) if is_named_tuple(type(value)) else None


def form_of_list(value: Sequence[Any]) -> Form:
    """The form of a list that keeps its length."""
    return Form(list, tuple(range(len(value))))


def form_in(type_: Type | None) -> Form | None:
    """The form of the values of a type; None where these are as they are."""
    return cast("Form | None", type_.form) if isinstance(type_, TupleType) else None


def has_names_only(form: Form) -> bool:
    """Whether values of a form are no tuples themselves."""
    return not issubclass(form.kind, tuple)


def parts_of_form(value: Any) -> tuple[Any, ...]:
    """The parts of a value that has a form, in order."""
    if isinstance(value, list):
        return tuple(cast("list[Any]", value))
    return tuple((cast("dict[Any, Any]", value) if isinstance(value, dict) else field_values(value)).values())


def record(kind: type, named: dict[str, Any]) -> Any:
    """A value of a dataclass with these fields; nothing is computed of them, as `__post_init__` may do."""
    made = object.__new__(kind)
    for name, value in named.items():
        object.__setattr__(made, name, value)
    return made


def is_named_tuple(callee: Any) -> bool:
    """Whether a class is a `NamedTuple`, or a frozen dataclass: a value of it is its fields, under their names."""
    if not isinstance(callee, type) or hasattr(callee, "__relay_type__"):
        return False
    is_tuple = issubclass(callee, tuple) and hasattr(callee, "_fields")
    return is_tuple or (dataclasses.is_dataclass(callee) and cast("Any", callee).__dataclass_params__.frozen)


def field_values(value: Any) -> dict[str, Any]:
    """The fields of a NamedTuple or a dataclass, in order."""
    return {name: getattr(value, name) for name in _field_names(type(value))}


def field_types(definition: Any) -> dict[str, Any]:
    """What the fields of a NamedTuple or a dataclass are annotated with, in order. Raises `NameError` for a field whose
    annotation speaks of what is not at the top of its file."""
    hints = typing.get_type_hints(definition)
    return {name: hints.get(name) for name in _field_names(definition)}


def _field_names(definition: Any) -> Sequence[str]:
    if dataclasses.is_dataclass(definition):
        return [each.name for each in dataclasses.fields(definition) if each.init]
    return definition._fields

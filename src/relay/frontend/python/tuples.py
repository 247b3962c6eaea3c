"""Values of Python that are tuples in a program, whose parts have names: NamedTuples, frozen dataclasses and dicts with
keys that are known now. What a loop or a branch changes, and what a function takes, is a tuple of the program; outside
it is again what it was."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Sequence
from typing import Any, cast

from relay.base.frozen import frozen
from relay.ir.expr import Expr


@frozen
class Form:
    """How parts make a value: those of a `kind` (a class; `dict`, `tuple`) under `names`. Parts without a form are
    plain values of the program."""

    kind: type
    names: tuple[Any, ...]
    parts: tuple[Form | None, ...]

    def made(self, parts: Sequence[Any]) -> Any:
        """The value of these parts."""
        inner = [each if form is None else form.made(each) for form, each in zip(self.parts, parts, strict=True)]
        if self.kind is tuple:
            return tuple(inner)
        if self.kind is dict:
            return dict(zip(self.names, inner, strict=True))
        return self.kind(**dict(zip(self.names, inner, strict=True)))

    def of_result(self, value: Sequence[Any]) -> Any:
        """The value that a tuple which a program gave stands for."""
        return self.made(_parts_of(self, value, lambda whole, position: whole[position]))

    def of(self, value: Expr, field: Callable[[Expr, int], Expr]) -> Any:
        """The value that a tuple of the program stands for; `field` takes a field of one."""
        return self.made(_parts_of(self, value, field))


def _parts_of(form: Form, value: Any, field: Callable[[Any, int], Any]) -> list[Any]:
    fields = [field(value, position) for position in range(len(form.parts))]
    return [
        each if inner is None else _parts_of(inner, each, field) for inner, each in zip(form.parts, fields, strict=True)
    ]


def form_of(value: Any) -> Form | None:
    """The form of a value; None where its parts have no names."""
    if isinstance(value, dict):
        named = cast("dict[Any, Any]", value)
        return Form(dict, tuple(named), tuple(map(form_of, named.values())))
    if is_named_tuple(type(value)):
        fields = field_values(value)
        return Form(type(value), tuple(fields), tuple(map(form_of, fields.values())))
    if isinstance(value, tuple):
        parts = tuple(map(form_of, cast("tuple[Any, ...]", value)))
        return Form(tuple, (), parts) if any(parts) else None
    return None


def plain(value: Any) -> Any:
    """A value as the tuple that a program takes for it."""
    if isinstance(value, dict):
        return tuple(map(plain, cast("dict[Any, Any]", value).values()))
    if is_named_tuple(type(value)):
        return tuple(map(plain, field_values(value).values()))
    return tuple(map(plain, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else value


def form_of_annotation(annotation: Any) -> Form | None:
    """The form of the values that an annotation speaks of."""
    if isinstance(annotation, type) and is_named_tuple(annotation):
        hints = field_types(annotation)
        return Form(annotation, tuple(hints), tuple(map(form_of_annotation, hints.values())))
    if typing.get_origin(annotation) is tuple:
        parts = tuple(map(form_of_annotation, typing.get_args(annotation)))
        return Form(tuple, (), parts) if any(parts) else None
    return None


def common(forms: Sequence[Form | None]) -> Form | None:
    """The form of a value that has one of several."""
    return forms[0] if forms and all(each == forms[0] for each in forms) else None


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

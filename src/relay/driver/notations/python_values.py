"""Values of Python and those of programs, each made of the other. Where a program has tuples and data, Python has
lists, None or what is there, NamedTuples, dataclasses, and instances of the classes that `@relay.datatype` made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, TypeAlias, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.frontend.python.datatype import DataTypes, field_names
from relay.frontend.python.reader import Reading
from relay.frontend.python.tuples import form_in, form_of, has_names_only, parts_of_form
from relay.ir.types import GlobalTypeVar, TupleType, Type, TypeCall
from relay.runtime.artefact.manifest import HeapResult
from relay.runtime.executable import Executable
from relay.runtime.values.values import LIST, OPTION, DataValue

_Types: TypeAlias = "Iterable[Type | None]"


def between_python(run: Executable, reading: Reading | None = None) -> Callable[..., Any]:
    """A program that takes and gives values of Python. `reading` is what it was made from, where that is known: if it
    is not, no part of a value has a name."""
    result = run.manifest.entry("main").result
    gives_data = isinstance(result, HeapResult) and result.copied is None
    if reading is None:
        return BetweenPython(run, {}, (), None, DataTypes()) if gives_data else run
    takes, gives, types = reading.takes, reading.gives, reading.types
    if not takes and not gives_data and (gives is None or not types.have_forms(gives)):
        return run
    parameters = tuple(takes.get(each.name_hint) for each in reading.module["main"].params)
    return BetweenPython(run, takes, parameters, gives, types)


@frozen(eq=False)
class BetweenPython:
    """A program that takes and gives values of Python. `takes` are the types of what is converted, by name, and
    `parameters` by position; `gives` is the type of the result, where that is known."""

    run: Executable
    takes: Mapping[str, Type]
    parameters: Sequence[Type | None]
    gives: Type | None
    types: DataTypes

    def __call__(self, *positional: Any, **named: Any) -> Any:
        if self.takes:
            wanted = chain(self.parameters, repeat(None))
            positional = tuple([as_program(*each, self.types) for each in zip(positional, wanted, strict=False)])
            named = {name: as_program(each, self.takes.get(name), self.types) for name, each in named.items()}
        return as_python(self.run(*positional, **named), self.gives, self.types)


def call_with_copies(run: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The call of a program as Python calls functions: arrays whose elements do not lie one behind another, such as
    `x.T`, are copied for it."""
    try:
        return run(*positional, **named)
    except RelayError as error:
        if error.rule != "input-memory":
            raise
    return run(*map(_in_order, positional), **{name: _in_order(each) for name, each in named.items()})


def _in_order(value: Any) -> Any:
    match value:
        case np.ndarray():
            return np.require(value, requirements=["C", "A"])
        case list() | tuple() if type(value) in (list, tuple):
            return type(value)(map(_in_order, cast("Sequence[Any]", value)))
        case _ if (form := form_of(value)) is not None:
            return form.made([_in_order(each) for each in parts_of_form(value)])
        case _ if hasattr(value, "contiguous"):  # a tensor of torch
            return value.contiguous()
        case _:
            return value


def as_python(value: Any, type_: Type | None = None, types: DataTypes | None = None) -> Any:
    """What a value, of a type where that is known, is in Python. Values of data types that are none of Python's are as
    they are.

    >>> as_python((DataValue(OPTION, "None"), DataValue(OPTION, "Some", (DataValue(LIST, "Nil"),))))
    (None, [])
    """
    return _AsPython(types or DataTypes()).whole(value, type_)


def as_program(value: Any, type_: Type | None, types: DataTypes) -> Any:
    """The value of a type that a program takes for one of Python's. What does not fit is left as it is: the program
    refuses it."""
    return _AsProgram(types).whole(value, type_)


class _Conversion(ABC):
    """Values made anew. What may hold many is made empty and filled later, so only types are recursed along."""

    def __init__(self, types: DataTypes) -> None:
        self._types = types
        self._waiting: list[Callable[[], None]] = []
        self._instances: dict[int, Any] = {}

    def whole(self, value: Any, type_: Type | None) -> Any:
        made = self.part(value, type_)
        while self._waiting:
            self._waiting.pop()()
        return made

    @abstractmethod
    def part(self, value: Any, type_: Type | None) -> Any:
        """A value, whose own parts may be still to come."""

    def _parts(self, values: Iterable[Any], types: _Types) -> tuple[Any, ...]:
        return tuple([self.part(each, wanted) for each, wanted in zip(values, types, strict=False)])

    def _list(self, values: Iterable[Any], inside: Type | None) -> list[Any]:
        made: list[Any] = []
        self._waiting.append(lambda: made.extend([self.part(each, inside) for each in values]))
        return made

    def _instance(self, value: Any, kind: type, fields: Sequence[Any], types: _Types) -> Any:
        """An instance of a class, the same one for the same value; nothing is computed of its fields."""
        if id(value) not in self._instances:
            made = self._instances[id(value)] = object.__new__(kind)

            def fill() -> None:
                for name, part in zip(field_names(kind), self._parts(fields, types), strict=True):
                    object.__setattr__(made, name, part)

            self._waiting.append(fill)
        return self._instances[id(value)]


class _AsPython(_Conversion):
    def part(self, value: Any, type_: Type | None) -> Any:
        match value:
            case np.ndarray():
                return cast("np.ndarray[Any, Any]", value)
            case tuple():
                values = cast("tuple[Any, ...]", value)
                wanted = type_.fields if isinstance(type_, TupleType) else ()
                made = self._parts(values, wanted if len(wanted) == len(values) else repeat(None))
                form = form_in(type_)
                return made if form is None else form.made(made)
            case DataValue(type_name=name, fields=fields) if name == OPTION:
                return self.part(fields[0], _argument(type_)) if fields else None
            case DataValue(type_name=name) if name == LIST:
                return self._list(value, _argument(type_))
            case DataValue(type_name=name, constructor=constructor, fields=fields):
                known = self._types.classes.get(GlobalTypeVar(name))
                if known is None:
                    return value
                types: _Types = (
                    self._types.fields(type_)[constructor]
                    if isinstance(type_, TypeCall | GlobalTypeVar)
                    else repeat(None)
                )
                return self._instance(value, known.__relay_variants__[constructor], fields, types)
            case _:
                return value


class _AsProgram(_Conversion):
    def part(self, value: Any, type_: Type | None) -> Any:
        if type_ is None or not self._types.have_forms(type_, has_names_only):
            return value
        match type_:
            case TupleType(types):
                form = form_in(type_)
                names = () if form is None or not isinstance(value, form.kind) else form.names
                parts = tuple([getattr(value, name) for name in names]) if names else value
                fits = isinstance(parts, tuple) and len(cast("tuple[Any, ...]", parts)) == len(types)
                return self._parts(cast("tuple[Any, ...]", parts), types) if fits else value
            case TypeCall(GlobalTypeVar("List")) if isinstance(value, list | tuple):
                return self._list(cast("list[Any]", value), _argument(type_))
            case TypeCall(GlobalTypeVar("Option")) if value is not None and not isinstance(value, DataValue):
                return self.part(value, _argument(type_))
            case TypeCall() | GlobalTypeVar():
                kind: Any = type(value)
                fields = self._types.fields(type_).get(getattr(kind, "__relay_variant__", ""))
                header = type_.func if isinstance(type_, TypeCall) else type_
                if fields is None or kind.__relay_type__ != header:
                    return value
                return self._instance(value, kind, [getattr(value, name) for name in field_names(kind)], fields)
            case _:
                return value


def _argument(type_: Type | None) -> Type | None:
    """What a list, or an option, is of."""
    return type_.args[0] if isinstance(type_, TypeCall) else None

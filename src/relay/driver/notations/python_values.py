"""What a program gives a Python function: values of Python, whose parts have names where the program's have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from relay.frontend.python.tuples import form_in, plain
from relay.ir.types import TupleType, Type, TypeCall
from relay.runtime.artefact.manifest import HeapResult
from relay.runtime.executable import Executable
from relay.runtime.values.values import LIST, OPTION, DataValue


def between_python(run: Executable, takes_names: bool = False, gives: Type | None = None) -> Callable[..., Any]:
    """A program that takes and gives values of Python. `takes_names`: its arguments have parts with names; `gives` is
    the type of its result, where parts of that have names."""
    result = run.manifest.entry("main").result
    gives_data = isinstance(result, HeapResult) and result.copied is None
    if not takes_names and gives is None and not gives_data:
        return run

    def converted(*positional: Any, **named: Any) -> Any:
        if takes_names:
            positional, named = tuple(map(plain, positional)), {name: plain(each) for name, each in named.items()}
        return as_python(run(*positional, **named), gives)

    return converted


def as_python(value: Any, type_: Type | None = None) -> Any:
    """What a value, of a type where that is known, is in Python: lists are lists, what may be missing is None or what
    is there. Values of other data types are as they are.

    >>> as_python((DataValue(OPTION, "None"), DataValue(OPTION, "Some", (DataValue(LIST, "Nil"),))))
    (None, [])
    """
    match value:
        case DataValue(type_name=name) if name == LIST:
            inside = _argument(type_)
            return [as_python(each, inside) for each in value]
        case DataValue(type_name=name, fields=fields) if name == OPTION:
            return as_python(fields[0], _argument(type_)) if fields else None
        case tuple():
            parts = cast("tuple[Any, ...]", value)
            types: Sequence[Type | None] = type_.fields if isinstance(type_, TupleType) else [None] * len(parts)
            made = tuple(as_python(each, wanted) for each, wanted in zip(parts, types, strict=True))
            form = form_in(type_)
            return made if form is None else form.made(made)
        case _:
            return value


def _argument(type_: Type | None) -> Type | None:
    """What a list, or an option, is of."""
    return type_.args[0] if isinstance(type_, TypeCall) else None

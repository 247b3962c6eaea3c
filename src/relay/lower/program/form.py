"""How the parts of a program are written: each class says it in one line, which is filled to print it, and followed to
parse it.

    "{result} = tensor label{label} [{shape}] {size_bytes} bytes"        %2 = tensor label0 [4, n] 16*n bytes

Braces hold a field; of a tuple the items stand with commas between. A word or sign that touches the brace outside is
part of the same token (`block{number}`). Inside, before and behind the name, stands what comes and goes with the field:
`{ + offset_bytes?}` or `{ over source?}` is left out where the field is what it is by default; one that is true stands
as its name. What follows `//` is for people.
"""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, ClassVar, TypeAlias, Union, cast

from relay.arith.expr import Comparison, Node
from relay.base.frozen import frozen
from relay.ir.types import TensorType
from relay.runtime.artefact.value_types import (
    DataOf,
    FunctionOf,
    ParameterOf,
    RefOf,
    TensorOf,
    TupleOf,
    type_to_json,
)
from relay.text.names import sigil_name
from relay.text.types import TypeNames

_FIELD = re.compile(
    r"(?P<prefix>[\w%@.]*)\{(?P<before>(?:[^{}\w]|\w+ )*)(?P<name>\w+)(?P<optional>\??)(?P<behind>[^{}\w?]*)\}",
    re.ASCII,
)


@frozen
class FieldPart:
    """A field, the `prefix` of its token, and what comes and goes with it if it is `optional`."""

    name: str
    prefix: str = ""
    before: str = ""
    behind: str = ""
    optional: bool = False


Part: TypeAlias = Union[str, FieldPart]


class Form:
    """What is written as its `form` says, if it has one."""

    __slots__ = ()
    form: ClassVar[str]

    def __str__(self) -> str:
        return self.written(TypeNames())

    def written(self, names: TypeNames) -> str:
        """The text, in which symbols have these names."""
        return "".join(_part(self, part, names) for part in parts_of(self.form)).strip()


@cache
def parts_of(form: str) -> tuple[Part, ...]:
    """The fields of a form, and the text between them.

    >>> [each if isinstance(each, str) else each.name for each in parts_of("jump block{block}({arguments})")]
    ['jump ', 'block', '(', 'arguments', ')']
    """
    found: list[Part] = []
    end = 0
    for match in _FIELD.finditer(form):
        found.append(form[end : match.start()])
        prefix, before, name, optional, behind = match.groups()
        if before:  # it parts the token from the field
            found.append(prefix)
            prefix = ""
        found.append(FieldPart(name, prefix, before, behind, bool(optional)))
        end = match.end()
    found.append(form[end:])
    return tuple(each for each in found if each)


def shown(value: object, names: TypeNames, prefix: str = "") -> str:
    """A value as it is written; `names` are those of the symbols around it, each its own."""
    match value:
        case Form():
            return value.written(names)
        case Node():
            return prefix + names.dimension(value)
        case Comparison(left, op, right):
            return f"{names.dimension(left)} {op} {names.dimension(right)}"
        case TensorType():
            return names.show(value)
        case tuple():
            return ", ".join(shown(each, names) for each in cast("tuple[object, ...]", value))
        case str():
            return sigil_name(prefix, value)
        case TensorOf() | TupleOf() | DataOf() | FunctionOf() | RefOf() | ParameterOf():
            return json.dumps(type_to_json(value))
        case _:
            return f"{prefix}{value}"


def _part(node: Form, part: Part, names: TypeNames) -> str:
    if isinstance(part, str):
        return part
    value: Any = getattr(node, part.name)
    if part.optional and value == default_of(type(node), part.name):
        return ""
    return part.before + (part.name if value is True else shown(value, names, part.prefix)) + part.behind


def default_of(cls: Any, name: str) -> object:
    """What a field is where it is left out."""
    (found,) = (each.default for each in fields(cls) if each.name == name)
    return () if found is MISSING else found

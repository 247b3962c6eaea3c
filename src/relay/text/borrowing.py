"""Data types that a text uses but defines elsewhere: one brings those that its fields mention."""

from __future__ import annotations

from collections.abc import Iterable

from relay.ir.datatype import TypeData
from relay.ir.type_traversal import type_calls
from relay.ir.types import GlobalTypeVar


def with_mentioned(wanted: Iterable[TypeData], library: tuple[TypeData, ...]) -> tuple[TypeData, ...]:
    """`wanted`, and the data types of `library` that their fields mention; in the order of the library.

    >>> from relay.text.prelude import prelude_types
    >>> [data.header.name for data in with_mentioned(prelude_types()[2:3], prelude_types())]
    ['List', 'Tree']
    """
    found: set[GlobalTypeVar] = set()
    waiting = list(wanted)
    while waiting:
        data = waiting.pop()
        if data.header not in found:
            found.add(data.header)
            fields = (field for constructor in data.constructors for field in constructor.inputs)
            mentioned = {call.func for field in fields for call in type_calls(field)}
            waiting += [other for other in library if other.header in mentioned]
    return tuple(data for data in library if data.header in found)

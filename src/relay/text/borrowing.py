"""Data types that a text uses but defines elsewhere: one brings those that its fields mention."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from relay.base.diagnostics import RelayError
from relay.ir.datatype import TypeData
from relay.ir.expr import Constructor
from relay.ir.type_traversal import type_calls
from relay.ir.types import GlobalTypeVar
from relay.text.cursor import Cursor

Library: TypeAlias = Callable[[], tuple[TypeData, ...]]
"""Data types that texts may use without defining them, read when they are first asked for."""


def no_types() -> tuple[TypeData, ...]:
    """A library without data types."""
    return ()


class DataTypes:
    """The data types that a text at a cursor knows so far: their names, their constructors, and which of them are
    `borrowed` from the library."""

    def __init__(self, cursor: Cursor, library: Library) -> None:
        self.cursor = cursor
        self.library = library
        self.headers: dict[str, GlobalTypeVar] = {}
        self.constructors: dict[str, Constructor] = {}
        self.borrowed: dict[GlobalTypeVar, TypeData] = {}

    def know(self, data: TypeData) -> None:
        """The text may use a data type that is defined elsewhere."""
        self.headers[data.header.name] = data.header
        self.constructors.update((constructor.name_hint, constructor) for constructor in data.constructors)

    def constructor(self, name: str) -> Constructor | None:
        """The constructor called `name`, of the text or of the library; None when there is none."""
        if name not in self.constructors:
            self._borrow(data for data in self.library() if name in {each.name_hint for each in data.constructors})
        return self.constructors.get(name)

    def borrowed_header(self, name: str) -> GlobalTypeVar | None:
        """The data type of the library called `name`, which the text then knows."""
        self._borrow(data for data in self.library() if data.header.name == name)
        return self.headers.get(name)

    def _borrow(self, wanted: Iterable[TypeData]) -> None:
        """Take data types from the library, and those that they mention."""
        for data in with_mentioned(wanted, self.library()):
            if data.header in self.borrowed:
                continue
            name = data.header.name
            taken = [c.name_hint for c in data.constructors if c.name_hint in self.constructors]
            if name in self.headers or taken:
                raise RelayError(
                    rule="prelude-conflict",
                    message=f"the text needs the prelude's data type {name}, but defines its own "
                    + (f"constructor {taken[0]}" if taken else f"type {name}"),
                    span=self.cursor.span(),
                    remedy="rename the text's own, or define all that it uses",
                )
            self.know(data)
            self.borrowed[data.header] = data


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

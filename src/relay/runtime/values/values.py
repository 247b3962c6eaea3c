"""Values of data types and refs, as programs take and give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from relay.base.frozen import frozen, mutable

LIST = "List"
"""The data type of the prelude that Python's lists stand for."""

OPTION = "Option"
"""The data type of the prelude that None beside another type stands for."""

_SHOWN_DEPTH = 4


@frozen(eq=False)
class DataValue:
    """A value of a data type: the names of the type and of the constructor, and the fields.

    A value of the type `List` can be iterated.

    >>> [int(x) for x in data_list([1, 2])]
    [1, 2]
    """

    type_name: str
    constructor: str
    fields: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        if self.type_name != LIST:
            raise TypeError(f"a value of the data type {self.type_name} is no list")
        cell = self
        while cell.constructor == "Cons":
            yield cell.fields[0]
            cell = cell.fields[1]

    def __repr__(self) -> str:
        return _shown(self, _SHOWN_DEPTH)


@mutable
class RefValue:
    """A mutable cell: the one thing in the language that changes. Whoever is given the same one sees what others write.

    A native program works on a copy of what is in it and writes it back when its call ends, or calls a function of the
    caller's. So calls that share a ref must not run at the same time.

    >>> RefValue(1).value
    1
    """

    value: Any
    holds: Any = field(default=None, repr=False)
    """What native programs know of it: the type of its value, once one has been told."""


def data_list(items: Iterable[Any]) -> DataValue:
    """A Relay list of these elements.

    >>> data_list([1, 2])
    Cons(1, Cons(2, Nil))
    """
    result = DataValue(LIST, "Nil")
    for item in reversed(list(items)):
        result = DataValue(LIST, "Cons", (item, result))
    return result


def as_data(value: Any, type_name: str) -> DataValue | None:
    """A value of a data type: one of relay's, a Python list for a `List`, None or anything else for an `Option`, or an
    instance of a class that `@relay.datatype` made. None for what is no such value."""
    found: DataValue | None = value if isinstance(value, DataValue) else None
    kind: Any = type(value)
    if variant := getattr(kind, "__relay_variant__", ""):
        fields = tuple(getattr(value, name) for name in kind.__dataclass_fields__)
        found = DataValue(kind.__relay_type__.name, variant, fields)
    elif type_name == LIST and isinstance(value, list | tuple):
        found = data_list(value)
    if type_name == OPTION and (found is None or found.type_name != OPTION):
        return DataValue(OPTION, "None") if value is None else DataValue(OPTION, "Some", (value,))
    return found


def _shown(value: Any, depth: int) -> str:
    if not isinstance(value, DataValue):
        return repr(value)
    if not value.fields:
        return value.constructor
    inner = ", ".join(_shown(each, depth - 1) for each in value.fields) if depth else "..."
    return f"{value.constructor}({inner})"

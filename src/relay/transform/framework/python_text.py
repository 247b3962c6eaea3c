"""Values of frozen classes as Python that makes them again, in a file of its own."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any, cast


class PythonText:
    """Writes expressions, and knows what they import.

    >>> text = PythonText()
    >>> from relay.transform.framework.context import FusionLimits
    >>> print(text.of((FusionLimits(max_inputs=3), float("inf"))))
    (FusionLimits(max_operators=64, max_inputs=3, max_outputs=8), float('inf'))
    >>> text.imports
    ['from relay.transform.framework.context import FusionLimits']
    """

    def __init__(self) -> None:
        self._homes: dict[str, str] = {}
        self.unknown: list[str] = []
        """What nobody can import: it stands in the text as None."""

    @property
    def imports(self) -> list[str]:
        return sorted(f"from {home} import {name}" for name, home in self._homes.items())

    def of(self, value: object) -> str:
        match value:
            case Enum():
                return self._after(type(value), value, f".{value.name}")
            case float() if not isfinite(value):
                return f"float({str(value)!r})"
            case None | bool() | int() | float() | str() | bytes():
                return repr(value)
            case tuple():
                parts = [self.of(each) for each in cast("tuple[object, ...]", value)]
                return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
            case _ if is_dataclass(value) and not isinstance(value, type):
                given = [f"{each.name}={self.of(getattr(value, each.name))}" for each in fields(value) if each.init]
                return self._after(type(value), value, f"({', '.join(given)})")
            case _:
                return self._after(value, value, "")

    def _after(self, thing: Any, value: object, rest: str) -> str:
        """The name of a class or a function, which is imported, and the rest of what makes `value` of it."""
        home, name = getattr(thing, "__module__", "__main__"), getattr(thing, "__qualname__", "")
        if home == "__main__" or not name.isidentifier() or self._homes.setdefault(name, home) != home:
            self.unknown.append(repr(value))
            return "None"
        return name + rest

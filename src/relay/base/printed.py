"""Values that are text: what a prompt and a notebook show of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

_MOST_LINES = 40


class Printed:
    """Of what has a long text as its `str`. What notebooks show is handed in by the folder that knows, when it is
    loaded."""

    __slots__ = ()
    notebook: ClassVar[Callable[[Any], str] | None] = None

    def __repr__(self) -> str:
        """The text, for people at a prompt: its beginning, where it is long."""
        return beginning(str(self), _MOST_LINES)

    def _repr_html_(self) -> str | None:
        return None if Printed.notebook is None else Printed.notebook(self)


def beginning(text: str, most_lines: int) -> str:
    """The first lines of a text, and how many there are more.

    >>> print(beginning("a\\nb\\nc", 1))
    a
    … and 2 lines more: print(…) shows all
    """
    lines = [line for line in text.splitlines() if not line.startswith("#[version")]
    rest = len(lines) - most_lines
    return "\n".join([*lines[:most_lines], f"… and {rest} lines more: print(…) shows all"] if rest > 0 else lines)

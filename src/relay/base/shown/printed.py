"""Values that are text: what a prompt and a notebook show of them; numbers for people."""

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


def bytes_text(count: float) -> str:
    """A number of bytes for people.

    >>> bytes_text(4014080), bytes_text(12)
    ('4.0 MB', '12 B')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} B"


def time_text(seconds: float) -> str:
    """A time for people.

    >>> time_text(0.0031), time_text(2.5e-6)
    ('3.10 ms', '2.50 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds >= 100 * size else f"{seconds / size:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def count_text(count: int, noun: str) -> str:
    """How many there are.

    >>> count_text(1, "kernel"), count_text(0, "kernel")
    ('1 kernel', '0 kernels')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

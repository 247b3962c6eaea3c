"""Places in a user's source: Relay text, or the Python line that built a node."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from types import CodeType

from relay.base.frozen import frozen

_READING: ContextVar[Span | None] = ContextVar("reading", default=None)
_PACKAGE_ROOT = str(Path(__file__).resolve().parent.parent)
_OUR_FILES: set[str] = set()
"""Those of this package that were met: a node is built below dozens of its frames."""


@frozen
class Source:
    """A named text. `text` is None when it is a file that is read only when a message needs a line of it."""

    name: str
    text: str | None = field(default=None, repr=False, compare=False)

    def line(self, number: int) -> str | None:
        """The text of line `number` (from 1), or None if it cannot be had."""
        if self.text is None:
            return linecache.getline(self.name, number).rstrip("\n") or None
        lines = self.text.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else None


@frozen
class Span:
    """`width` characters from `column` (from 1; 0 is the whole line) of `line` (from 1) of `source`."""

    source: Source
    line: int
    column: int = 0
    width: int = 1

    def __str__(self) -> str:
        place = f"{self.source.name}:{self.line}"
        return f"{place}:{self.column}" if self.column else place

    def excerpt(self) -> str:
        """The line and, under it, a caret line; the empty string when the line cannot be had.

        >>> print(Span(Source("m.relay", "add(%x, %y)"), 1, 5, 2).excerpt())
          add(%x, %y)
              ^^
        """
        line = self.source.line(self.line)
        if line is None:
            return ""
        if not self.column:
            return f"  {line.strip()}"
        return f"  {line}\n  {' ' * (self.column - 1)}{'^' * max(1, self.width)}"


def _is_ours(code: CodeType) -> bool:
    """Whether code is of this package: in one of its files, or an `__init__` that `dataclasses` wrote."""
    if code.co_filename.startswith(_PACKAGE_ROOT):
        _OUR_FILES.add(code.co_filename)
        return True
    return (code.co_name, code.co_filename) == ("__init__", "<string>")


@contextmanager
def reading(span: Span) -> Generator[None]:
    """What is built inside comes from `span`: a source that is read, not run."""
    token = _READING.set(span)
    try:
        yield
    finally:
        _READING.reset(token)


def caller_span() -> Span | None:
    """The place that nodes built now come from: what is being read, or else the line of the user's Python that is
    running (the innermost frame outside this package)."""
    place = _READING.get()
    if place is not None:
        return place
    frame = inspect.currentframe()
    while frame is not None and (frame.f_code.co_filename in _OUR_FILES or _is_ours(frame.f_code)):
        frame = frame.f_back
    if frame is None:
        return None
    return Span(Source(frame.f_code.co_filename), frame.f_lineno)

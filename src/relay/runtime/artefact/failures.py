"""What is wrong where a call ends early: the failures of a program, by number."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from relay.base.frozen import frozen


class FailureKind(Enum):
    """Of what a failure speaks."""

    EXTENTS = "extents"
    """A statement about extents does not hold: the text is that statement."""
    MATCH = "match"
    """No clause of a match fits: the text says which match, if that is known."""
    CHECKED = "checked"
    """A check of values does not hold: the text is its message."""
    INDEX = "index"
    """An index lies outside of its axis: the text says who was given it."""


@frozen
class Failure:
    """One failure.

    >>> print(Failure(FailureKind.MATCH, "model.relay:7"))
    no clause of a match fits (model.relay:7)
    """

    kind: FailureKind
    text: str

    def __str__(self) -> str:
        match self.kind:
            case FailureKind.MATCH:
                return "no clause of a match fits" + (f" ({self.text})" if self.text else "")
            case FailureKind.INDEX:
                return f"an index is out of range: {self.text}"
            case FailureKind.EXTENTS | FailureKind.CHECKED:
                return self.text
            case _:
                assert_never(self.kind)

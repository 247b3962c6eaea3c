"""The two kinds of error: `RelayError` is the user's to mend, `CompilerBug` is ours.

A message has a fixed order: rule and sentence; place; each side with its origin; the remedy. Above it Python shows the
user's frames alone: how deep in the compiler a mistake was found helps nobody to mend it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from relay.base.frozen import frozen

if TYPE_CHECKING:
    from types import TracebackType

    from relay.base.span import Span

WHOLE_TRACEBACKS = "RELAY_WHOLE_TRACEBACKS"
"""The environment variable that has tracebacks show relay's own frames, too."""

_HIDDEN_FILES = (str(Path(__file__).parents[1]) + os.sep, functools.__file__, contextlib.__file__)
"""Relay's own, and those of Python's that call them."""


@frozen
class Origin:
    """One side of a disagreement: what it is, what was found there, and where that came from.

    >>> print(Origin("data", "Tensor[(32, 784), float32]", "parameter %x"))
    data   Tensor[(32, 784), float32]   from parameter %x
    """

    name: str
    found: str
    came_from: str = ""

    def __str__(self) -> str:
        text = f"{self.name}   {self.found}"
        return f"{text}   from {self.came_from}" if self.came_from else text


class RelayError(Exception):
    """What a user did wrong, in words a person understands.

    `rule` is a stable identifier in kebab case; `message` one sentence; `span` the place; `expected` and `found`
    what was asked for and what came; `origins` where both sides came from; `remedy` what to do. Where nobody catches
    it, the traceback shows no frames of relay's own, unless `RELAY_WHOLE_TRACEBACKS` is set.

    >>> print(RelayError(rule="axes-differ", message="axes differ", expected="784", found="512", remedy="transpose"))
    error[axes-differ]: axes differ
      expected: 784
      found:    512
      help: transpose
    """

    def __init__(
        self,
        *,
        rule: str,
        message: str,
        span: Span | None = None,
        expected: str = "",
        found: str = "",
        origins: tuple[Origin, ...] = (),
        remedy: str = "",
    ) -> None:
        self.rule = rule
        self.message = message
        self.span = span
        self.expected = expected
        self.found = found
        self.origins = origins
        self.remedy = remedy
        super().__init__(rule, message)
        if sys.excepthook is sys.__excepthook__:  # who has put another one there shows errors in a way of their own
            sys.excepthook = _show_uncaught

    def _render_traceback_(self) -> list[str]:
        """What notebooks show."""
        return "".join(_shown(self, self.__traceback__)).splitlines()

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The whole message, in its fixed order. The source is read for it then, so that an error which somebody
        catches, or puts at another place, costs nothing."""
        lines = [f"error[{self.rule}]: {self.message}"]
        if self.span is not None:
            lines.append(f"  at {self.span}")
            excerpt = self.span.excerpt()
            if excerpt:
                lines.extend(f"  {line}" for line in excerpt.splitlines())
        lines.extend(f"  {origin}" for origin in self.origins)
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.found:
            lines.append(f"  found:    {self.found}")
        if self.remedy:
            lines.append(f"  help: {self.remedy}")
        return "\n".join(lines)

    def at(self, span: Span | None) -> RelayError:
        """The same error with a place, unless it has one already."""
        return self if self.span is not None or span is None else self.moved_to(span)

    def moved_to(self, span: Span) -> RelayError:
        """The same error at another place."""
        return RelayError(
            rule=self.rule, message=self.message, span=span, expected=self.expected, found=self.found,
            origins=self.origins, remedy=self.remedy,
        )  # fmt: skip


class CompilerBug(Exception):
    """The compiler broke a promise it made to itself: never the user's fault.

    `stage` names the pass or component at fault; `repro` the folder that holds what is needed to see it again.
    """

    def __init__(self, stage: str, message: str, repro: str = "") -> None:
        self.stage = stage
        self.message = message
        self.repro = repro
        tail = f"\n  repro: {repro}" if repro else ""
        super().__init__(f"compiler bug in {stage}: {message}{tail}")


def _show_uncaught(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
    """Python's way to show an error that nobody caught, less relay's own frames for a `RelayError`."""
    if isinstance(error, RelayError) and not os.environ.get(WHOLE_TRACEBACKS):
        sys.stderr.write("".join(_shown(error, frames)))
    else:
        sys.__excepthook__(kind, error, frames)


def _shown(error: RelayError, frames: TracebackType | None) -> list[str]:
    """The lines of its traceback. What it came from is shown if the user's own code raised that."""
    whole = traceback.TracebackException(type(error), error, frames)
    links: list[traceback.TracebackException] = []
    link: traceback.TracebackException | None = whole
    while link is not None:
        link.stack = traceback.StackSummary.from_list(
            each for each in link.stack if not each.filename.startswith(_HIDDEN_FILES)
        )
        links.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    for above, below in pairwise(links):
        if not below.stack:
            above.__cause__ = above.__context__ = None
    return list(whole.format())

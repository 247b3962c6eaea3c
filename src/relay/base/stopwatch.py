"""Where time goes inside a piece of work, as a tree of named parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field

from relay.base.frozen import mutable


@mutable
class TimedPart:
    """A part of the work: how often it was done, for how many seconds, and what it consists of. What is `beside` ran
    in other processes or threads meanwhile: its seconds are not part of those around it."""

    name: str
    seconds: float = 0.0
    count: int = 0
    note: str = ""
    is_beside: bool = False
    parts: dict[str, TimedPart] = field(default_factory=dict)

    def part(self, name: str) -> TimedPart:
        """The part called `name`, made if there is none."""
        return self.parts.setdefault(name, TimedPart(name))

    @property
    def rest_s(self) -> float:
        """Seconds that no part has."""
        return self.seconds - sum(each.seconds for each in self.parts.values() if not each.is_beside)


class Stopwatch:
    """Times parts, and parts of parts. What is done several times in one place adds up.

    >>> ticks = iter((0.0, 1.0, 1.5, 4.0))
    >>> watch = Stopwatch(lambda: next(ticks))
    >>> with watch.part("outer"):
    ...     with watch.part("inner"):
    ...         pass
    >>> outer = watch.root.parts["outer"]
    >>> outer.seconds, outer.parts["inner"].seconds, outer.rest_s
    (4.0, 0.5, 3.5)
    """

    __slots__ = ("_clock", "_open", "root")

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.root = TimedPart("all")
        self._open = [self.root]
        self._clock = clock

    @property
    def current(self) -> TimedPart:
        """The innermost part that is being timed."""
        return self._open[-1]

    @contextmanager
    def part(self, name: str) -> Generator[TimedPart]:
        """Time what is done in a `with` block, as a part of what is timed around it."""
        timed = self.current.part(name)
        self._open.append(timed)
        started = self._clock()
        try:
            yield timed
        finally:
            timed.seconds += self._clock() - started
            timed.count += 1
            self._open.pop()

    def beside(self, name: str, seconds: float, count: int) -> None:
        """Note what other processes or threads did meanwhile."""
        timed = self.current.part(name)
        timed.is_beside = True
        timed.seconds += seconds
        timed.count += count


def part_of(watch: Stopwatch | None, name: str) -> AbstractContextManager[TimedPart]:
    """A part of what `watch` times; where there is none, of nothing."""
    return nullcontext(TimedPart(name)) if watch is None else watch.part(name)

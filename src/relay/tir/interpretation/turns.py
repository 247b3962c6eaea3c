"""Threads that run side by side: any of them goes on, until it is about to write what others see, or waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import TypeAlias, assert_never

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.stmt import Stmt


@frozen(eq=False)
class Waiting:
    """A unit waits at this barrier."""

    barrier: Stmt
    level: str


@frozen(eq=False)
class Forked:
    """A unit waits for the end of these."""

    children: tuple[Unit, ...]


Event: TypeAlias = Waiting | Forked | None
"""What a unit says when others may go on; None: it may go on itself."""
Group: TypeAlias = tuple[int, tuple[int, ...]]
"""A unit of a level: the depth of the level, and the numbers of all units around it."""


class Unit:
    """A thread that runs, or waits for those that it has started."""

    def __init__(self, groups: dict[str, Group], steps: Iterator[Event]) -> None:
        self.groups = groups
        self.steps = steps
        self.parent: Unit | None = None
        self.children: tuple[Unit, ...] = ()
        self.running = 0  # of the children


def run_together(units: tuple[Unit, ...], random: Random) -> None:
    """Run threads to their end, in a random order between barriers. Raises `RelayError` (`barrier-not-reached`)."""
    _Schedule(random).run(units)


class _Schedule:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._ready: list[Unit] = []
        self._alive: Counter[Group] = Counter()
        self._waiting: dict[Group, list[tuple[Unit, Stmt]]] = {}

    def run(self, units: tuple[Unit, ...]) -> None:
        self._start(units)
        while self._ready:
            position = int(self._random.random() * len(self._ready))
            unit = self._ready[position]
            try:
                event = next(unit.steps)
            except StopIteration:
                self._leave(position)
                self._end(unit)
                continue
            if event is not None:
                self._leave(position)
                self._hold(unit, event)
        if self._waiting:
            raise _not_reached("some threads have ended, or wait at another one")

    def _start(self, units: tuple[Unit, ...]) -> None:
        self._ready.extend(units)
        for unit in units:
            self._alive.update(unit.groups.values())

    def _leave(self, position: int) -> None:
        self._ready[position] = self._ready[-1]
        self._ready.pop()

    def _end(self, unit: Unit) -> None:
        """A unit counts as one that others wait for until all units beside it have ended too."""
        parent = unit.parent
        if parent is None:
            return
        parent.running -= 1
        if parent.running == 0:
            for child in parent.children:
                self._alive.subtract(child.groups.values())
            self._start((parent,))

    def _hold(self, unit: Unit, event: Waiting | Forked) -> None:
        match event:
            case Forked(children):
                self._alive.subtract(unit.groups.values())
                unit.children, unit.running = children, len(children)
                for child in children:
                    child.parent = unit
                self._start(children)
                if not children:
                    self._start((unit,))
            case Waiting(barrier, level):
                group = unit.groups[level]
                self._waiting.setdefault(group, []).append((unit, barrier))
                if len(self._waiting[group]) == self._alive[group]:
                    self._release(group)
            case _:
                assert_never(event)

    def _release(self, group: Group) -> None:
        waiting = self._waiting.pop(group)
        if len({id(barrier) for _, barrier in waiting}) > 1:
            raise _not_reached("others of the same unit wait at another one")
        self._ready.extend(unit for unit, _ in waiting)


def _not_reached(why: str) -> RelayError:
    return RelayError(
        rule="barrier-not-reached",
        message=f"threads wait at a barrier that not all of them come to: {why}",
        expected="a barrier where all threads of a unit come by equally often",
        found="a barrier in a branch or loop that differs between threads",
        remedy="put the barrier outside of it",
    )

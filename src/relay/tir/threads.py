"""Running threads, in a random order that a seed repeats.

Units of a level that can wait for each other (the threads of a block) run side by side: any of them goes on, until it
is about to write what others see, or waits at a barrier. Others (blocks) run one after another. What a thread issues to
its queues runs at some time until it is awaited (`queues`). So a program whose result depends on the order of its
threads, or of what they have issued, gives different results for different seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, TypeAlias, assert_never

import numpy as np

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.hierarchy import Hierarchy
from relay.tir.machine import Machine, Run
from relay.tir.queues import GivenSignal, Queues
from relay.tir.semantics import Numbers
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Sequence, Stmt, Store
from relay.tir.synchronization import Await, atomic_update, awaited, barrier_level, signal_name
from relay.tir.traversal import walk_statement


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
Steps: TypeAlias = Callable[[], Iterator[Event]]
Group: TypeAlias = tuple[int, tuple[int, ...]]
"""A unit of a level: the depth of the level, and the numbers of all units around it."""


class ThreadedMachine(Machine):
    """A machine that starts threads, and the memory of one of them."""

    def __init__(
        self,
        symbols: dict[Symbol, int],
        intrinsics: Mapping[str, Callable[..., Numbers]],
        hierarchy: Hierarchy,
        random: Random,
        place: tuple[tuple[int, int], ...] = (),
    ) -> None:
        super().__init__(symbols, intrinsics)
        self.hierarchy = hierarchy
        self.random = random
        self.place = place  # the depth and number of each unit that this thread is in
        self.queues = Queues(hierarchy, random)

    def loop(self, loop: For) -> Run:
        if loop.kind is not LoopKind.THREAD:
            return super().loop(loop)
        waits = self.hierarchy.can_wait(self.hierarchy.thread(loop.thread))
        return self._side_by_side(loop) if waits else self._one_by_one(loop)

    def _one_by_one(self, loop: For) -> Run:
        extent, body, symbols = self.index(loop.extent), self.statement(loop.body), self.symbols

        def run() -> None:
            for number in self._shuffled(extent()):
                symbols[loop.variable] = number
                body()
                self.queues.finish()

        return run

    def evaluation(self, statement: Evaluate) -> Run:
        wanted = awaited(statement)
        return super().evaluation(statement) if wanted is None else self._taking(wanted)

    def _taking(self, wanted: Await) -> Run:
        return lambda: self.queues.take(wanted.signal, wanted.count)

    def issue(self, issue: Issue) -> Run:
        """The operation knows the symbols and variables of its issue, and finds memory as it is when it runs."""
        name = signal_name(issue)
        if name is not None:
            return lambda: self.queues.issue(issue.queue, GivenSignal(name))
        body, symbols, values = self.statement(issue.body), self.symbols, self.values

        def run() -> None:
            known, named = dict(symbols), dict(values)

            def operation() -> None:
                now, current = dict(symbols), dict(values)
                symbols.update(known)
                values.update(named)
                body()
                symbols.update(now)
                values.update(current)

            self.queues.issue(issue.queue, operation)

        return run

    def _shuffled(self, count: int) -> list[int]:
        order = list(range(count))
        self.random.shuffle(order)
        return order

    def _side_by_side(self, loop: For) -> Run:
        fork = self.fork(loop)

        def run() -> None:
            run_together(fork(), self.random)

        return run

    # --- one thread among others -------------------------------------------------------------------------------------

    def fork(self, loop: For) -> Callable[[], tuple[Unit, ...]]:
        """The threads of a loop, each with a memory of its own, made once, and of what they do not share."""
        extent, axis = self.index(loop.extent), self.hierarchy.thread(loop.thread)
        depth = self.hierarchy.depth(axis.level)
        made: list[tuple[ThreadedMachine, Steps]] = []

        def units() -> tuple[Unit, ...]:
            count = extent()
            for number in range(len(made), count):
                place = (*self.place, (depth, number))
                machine = ThreadedMachine({}, self.intrinsics, self.hierarchy, self.random, place)
                made.append((machine, machine.steps(loop.body)))
            for number, (machine, _) in enumerate(made[:count]):
                machine.symbols.update(self.symbols)
                machine.symbols[loop.variable] = number
                machine.values.update(self.values)
                machine.arrays.update(self.arrays)
                machine.written.update(self.written)
                for buffer in self.written:
                    if not self.hierarchy.shares(buffer.scope, axis):
                        machine.arrays[buffer] = self.arrays[buffer].copy()
                        machine.written[buffer] = self.written[buffer].copy()
            return tuple(Unit(machine.groups(), machine.ending(steps)()) for machine, steps in made[:count])

        return units

    def ending(self, steps: Steps) -> Steps:
        return _one_after_another((steps, _at_once(self.queues.finish)))

    def groups(self) -> dict[str, Group]:
        """The unit of each level with barriers that this thread is in."""
        found: dict[str, Group] = {}
        for level in self.hierarchy.barriers:
            depth = self.hierarchy.depth(level)
            found[level] = depth, tuple(number for at, number in self.place if at <= depth)
        return found

    def steps(self, statement: Stmt) -> Steps:
        """A statement as the steps of a thread, between which others may run."""
        if not any(map(self._concerns_others, walk_statement(statement))):
            return _at_once(self.statement(statement))
        match statement:
            case For():
                return self._forked(statement) if statement.kind is LoopKind.THREAD else self._repeated(statement)
            case Store():
                return self._shared_store(statement)
            case LetValue(variable, value, body):
                return _after(self.binding(variable, self.value(value)), self.steps(body))
            case Sequence(statements):
                return _one_after_another(tuple(map(self.steps, statements)))
            case If(condition, then, otherwise):
                test, first = self.value(condition), self.steps(then)
                second = _nothing if otherwise is None else self.steps(otherwise)
                return lambda: first() if test() else second()
            case Allocate(buffer, body):
                return _after(self.allocation(buffer), self.steps(body))
            case Issue():
                return _one_after_another((_at_once(self.statement(statement)), _let_others))
            case Evaluate():
                level = barrier_level(statement)
                if level is None:
                    return _one_after_another((_let_others, _at_once(self.statement(statement))))
                return lambda: iter((Waiting(statement, level),))
            case _:
                assert_never(statement)

    def _concerns_others(self, statement: Stmt) -> bool:
        match statement:
            case Store(buffer):
                return self._is_shared(buffer)
            case For(kind=kind):
                return kind is LoopKind.THREAD
            case Issue():
                return True
            case _:
                update = atomic_update(statement)
                return barrier_level(statement) is not None or (
                    update is not None and self._is_shared(update.target.buffer)
                )

    def _is_shared(self, buffer: Buffer) -> bool:
        return self.hierarchy.depth(buffer.scope.level) < len(self.hierarchy.levels) - 1

    def _forked(self, loop: For) -> Steps:
        fork = self.fork(loop)

        def steps() -> Iterator[Event]:
            yield Forked(fork())

        return steps

    def _repeated(self, loop: For) -> Steps:
        extent, body, symbols = self.index(loop.extent), self.steps(loop.body), self.symbols

        def steps() -> Iterator[Event]:
            for iteration in range(extent()):
                symbols[loop.variable] = iteration
                yield from body()

        return steps

    def _shared_store(self, store: Store) -> Steps:
        """The value is known before others may run, and written after that: with it, all of its storage word."""
        prepare, commit, buffer, arrays = self.prepared(store), self.commit(store.buffer), store.buffer, self.arrays
        in_words = buffer.scope.word_bytes > buffer.dtype.item_bytes

        def steps() -> Iterator[Event]:
            change = prepare()
            if change is not None:
                words = _Words(buffer, arrays[buffer], change[0]) if in_words else None
                yield None
                if words is not None:
                    words.write()
                commit(*change)

        return steps


class _Words:
    """The storage words around elements of a buffer as they were, which a write of one element writes again."""

    def __init__(self, buffer: Buffer, array: np.ndarray[Any, Any], positions: Any) -> None:
        width = buffer.scope.word_bytes
        self._bytes = array.reshape(-1).view(np.uint8)
        flat = np.ravel_multi_index(positions, array.shape) if positions else 0
        words = np.unique(np.asarray(flat) * buffer.dtype.item_bytes // width)
        at = (words[:, None] * width + np.arange(width)).reshape(-1)
        self._at = at[at < self._bytes.size]
        self._before = self._bytes[self._at]

    def write(self) -> None:
        self._bytes[self._at] = self._before


def _at_once(run: Run) -> Steps:
    def steps() -> Iterator[Event]:
        run()
        return iter(())

    return steps


def _after(run: Run, then: Steps) -> Steps:
    def steps() -> Iterator[Event]:
        run()
        return then()

    return steps


def _nothing() -> Iterator[Event]:
    return iter(())


def _let_others() -> Iterator[Event]:
    return iter((None,))


def _one_after_another(parts: tuple[Steps, ...]) -> Steps:
    def steps() -> Iterator[Event]:
        for part in parts:
            yield from part()

    return steps


# --- the threads together ---------------------------------------------------------------------------------------------


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

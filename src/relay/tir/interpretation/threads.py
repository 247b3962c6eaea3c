"""Running threads, in a random order that a seed repeats.

Units of a level that can wait for each other (the threads of a block) run side by side: any of them goes on, until it
is about to write what others see, or waits at a barrier. Others (blocks) run one after another. What a thread issues to
its queues runs at some time until it is awaited (`queues`). So a program whose result depends on the order of its
threads, or of what they have issued, gives different results for different seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias, assert_never

import numpy as np

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.hierarchy import Hierarchy
from relay.tir.interpretation.machine import Machine, Run
from relay.tir.interpretation.queues import GivenSignal, Queues
from relay.tir.interpretation.turns import Event, Forked, Group, Unit, Waiting, run_together
from relay.tir.semantics import Numbers
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Sequence, Stmt, Store
from relay.tir.threads.synchronization import (
    Await,
    Shuffle,
    atomic_update,
    awaited,
    barrier_level,
    shuffled,
    signal_name,
)
from relay.tir.traversal import walk_statement

Steps: TypeAlias = Callable[[], Iterator[Event]]


@frozen
class Numbered:
    """A unit that a thread is in: the depth of its level, and its number along an axis."""

    depth: int
    axis: str
    number: int


class ThreadedMachine(Machine):
    """A machine that starts threads, and the memory of one of them."""

    def __init__(
        self,
        symbols: dict[Symbol, int],
        intrinsics: Mapping[str, Callable[..., Numbers]],
        hierarchy: Hierarchy,
        random: Random,
        place: tuple[Numbered, ...] = (),
        given: dict[tuple[Stmt, tuple[Numbered, ...]], Numbers] | None = None,
    ) -> None:
        super().__init__(symbols, intrinsics)
        self.hierarchy = hierarchy
        self.random = random
        self.place = place
        self.given = {} if given is None else given  # to others, by the statements where they take it
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
        count = self.index(wanted.count)
        return lambda: self.queues.take(wanted.signal, count())

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
                place = (*self.place, Numbered(depth, axis.name, number))
                machine = ThreadedMachine({}, self.intrinsics, self.hierarchy, self.random, place, self.given)
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
            found[level] = depth, tuple(unit.number for unit in self.place if unit.depth <= depth)
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
            case LetValue(body=body) if (wanted := shuffled(statement)) is not None:
                return _one_after_another((self._shuffle(statement, wanted), self.steps(body)))
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
                updates = update is not None and self._is_shared(update.target.buffer)
                return updates or barrier_level(statement) is not None or shuffled(statement) is not None

    def _is_shared(self, buffer: Buffer) -> bool:
        return self.hierarchy.depth(buffer.scope.level) < len(self.hierarchy.levels) - 1

    def _shuffle(self, let: LetValue, wanted: Shuffle) -> Steps:
        """Each gives its own and waits for all others, takes what it wants, and waits until they have theirs."""
        level = self.hierarchy.exchange_level(wanted.axis)
        if level is None:
            raise RelayError(
                rule="shuffle-axis", message=f"threads along `{wanted.axis}` take no values from each other"
            )
        own, source, given = self.value(wanted.value), self.index(wanted.source), self.given

        def steps() -> Iterator[Event]:
            given[let, self.place] = own()
            yield Waiting(let, level)
            number = source()
            giver = tuple(replace(x, number=number) if x.axis == wanted.axis else x for x in self.place)
            if (let, giver) not in given:
                raise RelayError(rule="shuffle-range", message=f"there is no thread {number} along `{wanted.axis}`")
            self.values[let.variable] = given[let, giver]
            yield Waiting(let, level)

        return steps

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

"""What is under way in a thread's queues at each place of a program: what inserts awaits and what checks them follow
the program by it, each with an answer of its own to what is found.

A *way* is how a thread may have come to a place: what it has issued and not awaited, in order, and what holds then. A
loop is followed iteration by iteration, what is under way in terms of the iteration that runs, until no iteration
begins as none did before.

    issue load {a[0] = …}; signal             k = 0: {a[0], signal}
    serial k in 8
      if k + 1 < 8: issue load {a[(k + 1) % 2] = …}; signal
      await 1                                  k = 0: {a[(k + 1) % 2], signal};  k = 7: {}
      … = a[k % 2]                             k > 0 begins with {a[k % 2], signal}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from relay.arith.expr import Comparison, IntExpr, Symbol, add, free_symbols
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.conditions import facts_unless, facts_when, function_assumptions, negated
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.synchronization import awaited, signal_name
from relay.tir.touches import Extents, Touch, all_touches, overlap, touches
from relay.tir.traversal import statement_children

MOST_ROUNDS = 4
"""How many iterations of a loop are followed until they repeat."""


@frozen(eq=False)
class Entry:
    """An operation in a queue and what it touches, or a signal."""

    queue: str
    touches: tuple[Touch, ...] = ()
    signal: str | None = None

    def where(self, values: Mapping[Symbol, IntExpr]) -> Entry:
        return replace(self, touches=tuple(touch.where(values) for touch in self.touches))

    @property
    def key(self) -> object:
        return self.queue, self.signal, tuple((touch.buffer, touch.indices, touch.writes) for touch in self.touches)


@frozen(eq=False)
class Way:
    """One way to come to a place: what is under way, in the order of issue, and what holds."""

    entries: tuple[Entry, ...] = ()
    facts: tuple[Comparison, ...] = ()

    def issuing(self, entry: Entry) -> Way:
        return replace(self, entries=(*self.entries, entry))

    def taking(self, name: str, count: int) -> Way | None:
        """Behind an await: what the queue has begun with is done. None where so many signals do not come."""
        places = [place for place, entry in enumerate(self.entries) if entry.signal == name]
        if len(places) < count:
            return None
        last = places[count - 1]
        queue = self.entries[last].queue
        left = (entry for place, entry in enumerate(self.entries) if place > last or entry.queue != queue)
        return replace(self, entries=tuple(left))

    def where(self, values: Mapping[Symbol, IntExpr]) -> Way:
        entries = tuple(entry.where(values) for entry in self.entries)
        return Way(entries, tuple(fact.substitute(values) for fact in self.facts))

    def assuming(self, facts: tuple[Comparison, ...]) -> Way:
        return replace(self, facts=(*self.facts, *(fact for fact in facts if fact not in self.facts)))

    @property
    def key(self) -> tuple[object, ...]:
        return tuple(entry.key for entry in self.entries)


Ways: TypeAlias = tuple[Way, ...]


@frozen(eq=False)
class Around:
    """The loops around a place, and what is known there of their symbols."""

    loops: Extents
    known: Assumptions

    def inside(self, loop: For) -> Around:
        return Around({**self.loops, loop.variable: loop.extent}, self.known.with_loop(loop.variable, loop.extent))


@dataclass
class TooManyWays(Exception):
    """What is under way at the start of a loop's iterations is ever different."""

    loop: For


class Follower(ABC):
    """Follows a thread through a function. Those who derive say what they do where something is touched, issued,
    awaited, and where nothing may be under way any more."""

    def __init__(self, func: PrimFunc) -> None:
        self.hierarchy: Hierarchy = func.hierarchy
        self._func = func
        self._depths: dict[Symbol, int] = {}  # of the units that thread loops count
        self._concerned: set[int] = set()  # statements with queues in them, by identity
        self._note(func.body)

    def _note(self, statement: Stmt) -> bool:
        parts = [self._note(part) for part in statement_children(statement)]
        if any(parts) or isinstance(statement, Issue) or awaited(statement) is not None:
            self._concerned.add(id(statement))
            return True
        return False

    def follow(self) -> None:
        """Through the whole function."""
        if id(self._func.body) in self._concerned:
            around = Around({}, function_assumptions(self._func))
            ways = self.statement(self._func.body, (Way(),), around)
            self.ending(self._func.body, ways)

    # --- what others say ----------------------------------------------------------------------------------------------

    @abstractmethod
    def touching(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> Ways:
        """Something is about to be touched by the thread itself."""

    @abstractmethod
    def issuing(self, issue: Issue, entry: Entry, ways: Ways, around: Around) -> Ways:
        """Something is about to be issued. The ways behind it."""

    def awaiting(self, statement: Stmt, name: str, count: int, ways: Ways) -> Ways:  # noqa: ARG002
        """The ways behind an await; those on which so many signals do not come end there."""
        return tuple(behind for way in ways if (behind := way.taking(name, count)) is not None)

    @abstractmethod
    def ending(self, statement: Stmt, ways: Ways, buffer: Buffer | None = None, behind: bool = True) -> Ways:
        """A buffer is gone behind a statement (or in front of it), or without one the thread is."""

    # --- what is under way --------------------------------------------------------------------------------------------

    def collides(self, touch: Touch, found: Iterable[Touch], around: Around) -> bool:
        """Whether something under way may be at an element that is touched now: by any of the threads that share it."""
        depth = self.hierarchy.depth(touch.buffer.scope.level)
        fixed = (*self._func.symbols, *around.loops)
        same = frozenset(symbol for symbol in fixed if self._depths.get(symbol, 0) <= depth)
        return any(overlap(touch, now, same) for now in found)

    def under_way(self, way: Way, found: list[Touch], around: Around) -> Iterator[tuple[int, Touch]]:
        """The entries that collide with what is touched, by place, and what of them does."""
        now = [replace(touch, facts=(*touch.facts, *way.facts)) for touch in found]
        for place, entry in enumerate(way.entries):
            for touch in entry.touches:
                if self.collides(touch, now, around):
                    yield place, touch
                    break

    def statement(self, statement: Stmt, ways: Ways, around: Around) -> Ways:
        """The ways behind a statement, by those to it."""
        if id(statement) not in self._concerned and not isinstance(statement, Sequence):
            found = list(all_touches(statement, around.loops, (), self.hierarchy))
            return self.touching(statement, found, ways, around) if found else ways
        wanted = awaited(statement)
        if wanted is not None:
            return self.awaiting(statement, wanted.signal, wanted.count, ways)
        found = list(touches(statement, around.loops, (), self.hierarchy))
        if found:
            ways = self.touching(statement, found, ways, around)
        match statement:
            case For():
                return self._loop(statement, ways, around)
            case Sequence(statements):
                for part in statements:
                    ways = self.statement(part, ways, around)
                return ways
            case If():
                return self._if(statement, ways, around)
            case LetValue(body=body):
                return self.statement(body, ways, around)
            case Allocate(buffer, body):
                return self.ending(body, self.statement(body, ways, around), buffer)
            case Issue(queue, body):
                inside = tuple(all_touches(body, around.loops, (), self.hierarchy))
                return self.issuing(statement, Entry(queue, inside, signal_name(statement)), ways, around)
            case Store() | Evaluate():
                return ways
            case _:
                assert_never(statement)

    def _if(self, statement: If, ways: Ways, around: Around) -> Ways:
        first = self._possible(ways, facts_when(statement.condition), around)
        second = self._possible(ways, facts_unless(statement.condition), around)
        if first:
            first = self.statement(statement.then, first, around)
        if second and statement.otherwise is not None:
            second = self.statement(statement.otherwise, second, around)
        return _merged((*first, *second))

    def _possible(self, ways: Iterable[Way], facts: tuple[Comparison, ...], around: Around) -> Ways:
        """The ways on which these hold too."""
        found = (way.assuming(facts) for way in ways)
        return tuple(way for way in found if not _contradicts(way.facts, around.known))

    def _loop(self, loop: For, ways: Ways, around: Around) -> Ways:
        inside, k = around.inside(loop), loop.variable
        if loop.kind is LoopKind.THREAD:
            self._depths[k] = self.hierarchy.depth(self.hierarchy.thread(loop.thread).level)
            ways = self.ending(loop, ways, behind=False)
            return self.ending(loop.body, self.statement(loop.body, ways, inside))
        behind = () if isinstance(loop.extent, int) and loop.extent > 0 else ways
        begun: set[object] = set()
        heads = self._possible(ways, (Comparison(k, "==", 0),), inside)
        for _ in range(MOST_ROUNDS):
            begun.update(way.key for way in heads)
            ends = self.statement(loop.body, heads, inside)
            last = (way.where({k: add(loop.extent, -1)}) for way in ends)
            behind = (*behind, *self._possible(last, (), around))
            heads = self._next(ends, k, inside)
            heads = tuple(way for way in heads if way.key not in begun)
            if not heads:
                return _merged(behind)
        raise TooManyWays(loop)

    def _next(self, ends: Ways, k: Symbol, inside: Around) -> Ways:
        """The ways to the next iteration: of the loop's symbol no more is kept than that this is not the first."""
        later = Comparison(1, "<=", k)
        found = self._possible((way.where({k: add(k, -1)}) for way in ends), (later,), inside)
        kept = (replace(way, facts=tuple(x for x in way.facts if x == later or not _is_of(x, k))) for way in found)
        return _merged(kept)


def _is_of(fact: Comparison, symbol: Symbol) -> bool:
    return symbol in free_symbols(fact.left) or symbol in free_symbols(fact.right)


def _contradicts(facts: tuple[Comparison, ...], known: Assumptions) -> bool:
    """Whether the facts refute one of them."""
    assumed = known.assuming(*facts)
    return any(prove_under(negated(fact), assumed) is Proof.YES for fact in facts)


def _merged(ways: Iterable[Way]) -> Ways:
    """Ways with the same under way as one, on which holds what holds on all of them."""
    found: dict[tuple[object, ...], Way] = {}
    for way in ways:
        known = found.get(way.key)
        facts = way.facts if known is None else tuple(fact for fact in known.facts if fact in way.facts)
        found[way.key] = replace(way, facts=facts)
    return tuple(found.values())

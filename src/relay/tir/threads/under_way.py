"""What is under way in a thread's queues at each place of a program: what inserts awaits and what checks them follow
the program by it, each with an answer of its own to what is found.

A *way* (`ways.py`) is how a thread may have come to a place: what it has issued and not awaited, in order, and what
holds then. A loop is followed iteration by iteration, what is under way in terms of the iteration that runs, until no
iteration begins as none did before.

    issue load {a[0] = …}; signal             k = 0: {a[0], signal}
    serial k in 8
      if k + 1 < 8: issue load {a[(k + 1) % 2] = …}; signal
      await 1                                  k = 0: {a[(k + 1) % 2], signal};  k = 7: {}
      … = a[k % 2]                             k > 0 begins with {a[k % 2], signal}

Loops that only issue, each time with a signal behind, are one entry in turns (`turns.py`), of which so many are done:

    serial i in 4 { issue load {t[i] = …}; signal }     {t[i], signal for 0 <= i < 4}
    serial k in 4
      await 1                                  {t[i], signal for k + 1 <= i < 4}
      … = t[k]                                 k > 0 begins with {t[i], signal for k <= i < 4}

Extents and counts are expressions: with n for 4 the same is said, and what follows from less than numbers is proven.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from relay.arith.expr import Comparison, IntExpr, Symbol, add, free_symbols
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.tir.buffer import Buffer
from relay.tir.conditions import facts_unless, facts_when, function_assumptions, negated
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.threads.synchronization import awaited, signal_name
from relay.tir.threads.touches import Touch, all_touches, is_apart, overlap, touches
from relay.tir.threads.turns import in_turns
from relay.tir.threads.ways import Around, Entry, Way, Ways, in_step, merged, told_as
from relay.tir.traversal import statement_children

MOST_ROUNDS = 4
"""How many iterations of a loop are followed until they repeat."""


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
            self.ending(self._func.body, ways, around)

    # --- what others say ----------------------------------------------------------------------------------------------

    @abstractmethod
    def touching(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> Ways:
        """Something is about to be touched by the thread itself."""

    @abstractmethod
    def issuing(self, issue: Issue | For, entry: Entry, ways: Ways, around: Around) -> Ways:
        """Something is about to be issued, or in turns by a loop. The ways behind it."""

    def looks_into(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> bool:  # noqa: ARG002
        """Whether what has neither issues nor awaits inside is followed part by part, too."""
        return False

    def awaiting(self, statement: Stmt, name: str, count: IntExpr, ways: Ways, around: Around) -> Ways:  # noqa: ARG002
        """The ways behind an await; those on which so many signals do not come end there."""
        return tuple(behind for way in ways if (behind := way.taking(name, count, around.known)) is not None)

    def signal_behind(self, operation: Issue) -> str | None:  # noqa: ARG002
        """The signal that is taken to be behind an operation that has none yet."""
        return None

    @abstractmethod
    def ending(
        self, statement: Stmt, ways: Ways, around: Around, buffer: Buffer | None = None, behind: bool = True
    ) -> Ways:
        """A buffer is gone behind a statement (or in front of it), or without one the thread is."""

    # --- what is under way --------------------------------------------------------------------------------------------

    def collides(self, touch: Touch, found: Iterable[Touch], around: Around) -> bool:
        """Whether something under way may be at an element that is touched now: by any of the threads that share it."""
        depth = self.hierarchy.depth(touch.buffer.scope.level)
        fixed = (*self._func.symbols, *around.loops)
        same = frozenset(symbol for symbol in fixed if self._depths.get(symbol, 0) <= depth)
        return any(overlap(touch, now, same) and not is_apart(touch, now, same, around.known) for now in found)

    def under_way(
        self, way: Way, found: list[Touch], around: Around, own: str | None = None
    ) -> Iterator[tuple[int, Touch]]:
        """The entries that collide with what is touched, by place, and what of them does. Where the queue `own` touches
        it and keeps an order, what that has before does not."""
        but = own if own is not None and self.hierarchy.queue(own).ordered else None
        now = [replace(touch, facts=(*touch.facts, *way.facts)) for touch in found]
        for place, entry in enumerate(way.entries):
            if entry.queue == but:
                continue
            for touch in entry.left(around.loops):
                if self.collides(touch, now, around):
                    yield place, touch
                    break

    def statement(self, statement: Stmt, ways: Ways, around: Around) -> Ways:
        """The ways behind a statement, by those to it."""
        if id(statement) not in self._concerned and not isinstance(statement, Sequence):
            found = list(all_touches(statement, around.loops, (), self.hierarchy))
            if not found:
                return ways
            is_whole = not self.looks_into(statement, found, ways, around)
            ways = self.touching(statement, found if is_whole else [], ways, around)
            if is_whole:
                return ways
        wanted = awaited(statement)
        if wanted is not None:
            return self.awaiting(statement, wanted.signal, wanted.count, ways, around)
        found = list(touches(statement, around.loops, (), self.hierarchy))
        if found:
            ways = self.touching(statement, found, ways, around)
        match statement:
            case For():
                turns = in_turns(statement, around, self.hierarchy, self.signal_behind)
                if turns is not None:
                    return self.issuing(statement, turns, ways, around)
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
                return self.ending(body, self.statement(body, ways, around), around, buffer)
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
        return merged((*first, *second))

    def _possible(self, ways: Iterable[Way], facts: tuple[Comparison, ...], around: Around) -> Ways:
        """The ways on which these hold too; turns that are all done are gone there."""
        found = (way.assuming(facts) for way in ways)
        return tuple(way.settled(around.known) for way in found if not _contradicts(way.facts, around.known))

    def _loop(self, loop: For, ways: Ways, around: Around) -> Ways:
        inside, k = around.inside(loop), loop.variable
        if loop.kind is LoopKind.THREAD:
            self._depths[k] = self.hierarchy.depth(self.hierarchy.thread(loop.thread).level)
            ways = self.ending(loop, ways, around, behind=False)
            return self.ending(loop.body, self.statement(loop.body, ways, inside), inside)
        passed_by = self._possible(ways, (Comparison(loop.extent, "<=", 0),), around)
        behind: Ways = ()
        begun: Ways = ()  # of iterations behind the first, of which other things hold
        heads = self._possible(ways, (Comparison(k, "==", 0),), inside)
        for number in range(MOST_ROUNDS):
            ends = self.statement(loop.body, heads, inside)
            if number == 0:
                ends = tuple(in_step(way, heads, k) for way in ends)
            else:
                begun = (*begun, *heads)
            last = (way.where({k: add(loop.extent, -1)}) for way in ends)
            behind = (*behind, *self._possible(last, (), around))
            heads = self._next(ends, k, inside)
            heads = tuple(way for way in heads if not any(map(way.is_case_of, begun)))
            if not heads:
                return merged((*behind, *(told_as(way, behind, around.known) for way in passed_by)))
        raise TooManyWays(loop)

    def _next(self, ends: Ways, k: Symbol, inside: Around) -> Ways:
        """The ways to the next iteration: of the loop's symbol no more is kept than that this is not the first."""
        later = Comparison(1, "<=", k)
        found = self._possible((way.where({k: add(k, -1)}) for way in ends), (later,), inside)
        kept = (replace(way, facts=tuple(x for x in way.facts if x == later or not _is_of(x, k))) for way in found)
        return merged(kept)


def _is_of(fact: Comparison, symbol: Symbol) -> bool:
    return symbol in free_symbols(fact.left) or symbol in free_symbols(fact.right)


def _contradicts(facts: tuple[Comparison, ...], known: Assumptions) -> bool:
    """Whether the facts refute one of them."""
    assumed = known.assuming(*facts)
    return any(prove_under(negated(fact), assumed) is Proof.YES for fact in facts)

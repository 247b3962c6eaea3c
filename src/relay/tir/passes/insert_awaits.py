"""Signals behind what is issued to queues, and awaits where the thread needs it done.

before:  issue load { a.inputs[i] = a[i]; }        after:  issue load { a.inputs[i] = a[i]; }
         b[i] = a.inputs[i];                               issue load { evaluate call("signal.load", int32); }
                                                           evaluate call("await.load", int32, int32(1));
                                                           b[i] = a.inputs[i];

An await stands in front of the first statement that touches what an operation still writes, or writes what it still
reads, and takes as many signals as have been given up to that operation's. One text of awaits must do for all
iterations of a loop; where none does, what is issued in that loop is awaited right behind its issue. What loops issue
in turns is awaited as far as it is needed: a loop that reads it in step takes the signals of each iteration in that.
Counts are expressions: of `n` turns, all are awaited by `n`, and a few by a number where there are so many for certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, assert_never

from relay.arith.expr import Comparison, IntExpr, add
from relay.arith.simplify import Assumptions
from relay.base.diagnostics import CompilerBug
from relay.tir.buffer import Buffer
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, PrimFunc, Sequence, Stmt, Store
from relay.tir.threads.synchronization import await_signals, signal
from relay.tir.threads.touches import Touch, all_touches
from relay.tir.threads.turns import TURNING
from relay.tir.threads.under_way import Follower, TooManyWays
from relay.tir.threads.ways import Around, Entry, Way, Ways, is_at_most
from relay.tir.traversal import statement_children, walk_statement

Spot: TypeAlias = tuple[int, bool]
"""In front of a statement (by identity), or behind it."""
Counts: TypeAlias = dict[str, IntExpr]
"""How many signals of each queue are awaited."""

MOST_TURNS = 64
"""How many turns are tried of an operation that has no constant number of them; then all are awaited."""


def insert_awaits(func: PrimFunc) -> PrimFunc:
    """`func`, which has none, with the signals and awaits that it needs; the same object where it issues nothing."""
    if not any(isinstance(part, Issue) for part in walk_statement(func.body)):
        return func
    at_once: set[int] = set()
    apart: set[int] = set()
    while True:
        inserter = _Inserter(func, at_once, apart)
        try:
            inserter.follow()
        except (_Differs, TooManyWays) as differs:
            around = _loops_around(func.body, differs)
            looked_into = next((each for each in around if each in inserter.looked_into - apart), None)
            if looked_into is not None:
                apart.add(looked_into)
            else:
                at_once.add(_culprit(around, at_once))
            continue
        return replace(func, body=inserter.placed(func.body))


class _Differs(Exception):
    """No one number of signals does at a spot."""

    def __init__(self, statement: Stmt) -> None:
        super().__init__()
        self.statement = statement


def _loops_around(body: Stmt, differs: _Differs | TooManyWays) -> list[int]:
    """The loops around the place, the innermost first, then the body of the function; by identity."""
    place = differs.loop if isinstance(differs, TooManyWays) else differs.statement
    return [id(part) for part in reversed(_around(body, place)) if isinstance(part, For) or part is body]


def _culprit(around: list[int], at_once: set[int]) -> int:
    """The innermost loop whose issues are not awaited at once yet, or the body of the function."""
    culprit = next((each for each in around if each not in at_once), None)
    if culprit is None:
        raise CompilerBug("tir.insert_awaits", "what is awaited at once differs between iterations")
    return culprit


def _around(body: Stmt, place: Stmt) -> list[Stmt]:
    """The statements from `body` to `place`, which is inside it."""
    found: list[Stmt] = []
    part: Stmt | None = body
    while part is not None:
        found.append(part)
        inner = statement_children(part)
        part = next((x for x in inner if any(y is place for y in walk_statement(x))), None)
    return found


class _Inserter(Follower):
    """Finds how many signals are awaited where. What is issued inside of `at_once` is awaited right behind; loops that
    are `apart` await in front what they read in turns."""

    def __init__(self, func: PrimFunc, at_once: set[int], apart: set[int]) -> None:
        super().__init__(func)
        self.looked_into: set[int] = set()
        self._apart = apart
        self._at_once: set[int] = {
            id(inside)
            for part in walk_statement(func.body)
            if id(part) in at_once
            for inside in walk_statement(part)
            if isinstance(inside, (Issue, For))
        }
        self._counts: dict[Spot, Counts] = {}

    def signal_behind(self, operation: Issue) -> str | None:
        """Its own, which does not stand there yet."""
        return operation.queue

    def touching(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> Ways:
        needed = [self._needed(way, found, around) for way in ways]
        return self._awaiting((id(statement), False), statement, needed, ways, around)

    def looks_into(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> bool:
        """What needs several turns done may need fewer at first: an await inside of a loop takes them in step."""
        if id(statement) in self.looked_into:
            return True  # on all ways, or on none
        if not any(entry.turns for way in ways for entry in way.entries):
            return False
        loops = [part for part in walk_statement(statement) if isinstance(part, For) and self._may_take_turns(part)]
        if not loops or (isinstance(statement, For) and statement is not loops[0]):
            return False
        most = self._all_turns_needed(found, ways, around)
        if most <= {1} or (loops == [statement] and not self._begins_with_fewer(loops[0], most, ways, around)):
            return False
        self.looked_into.add(id(statement))
        return True

    def _may_take_turns(self, loop: For) -> bool:
        return loop.kind in TURNING and id(loop) not in self._apart

    def _begins_with_fewer(self, loop: For, most: set[IntExpr], ways: Ways, around: Around) -> bool:
        inside, first = around.inside(loop), (Comparison(loop.variable, "==", 0),)
        touched = list(all_touches(loop.body, inside.loops, first, self.hierarchy))
        needed = self._all_turns_needed(touched, ways, inside)
        return any(not any(is_at_most(turns, each, inside.known) for each in needed) for turns in most)

    def _all_turns_needed(self, found: list[Touch], ways: Ways, around: Around) -> set[IntExpr]:
        return {
            self._turns_needed(way, place, found, around)
            for way in ways
            for place, _ in self.under_way(way, found, around)
        }

    def issuing(self, issue: Issue | For, entry: Entry, ways: Ways, around: Around) -> Ways:
        """What its own queue does in order needs no await."""
        needed = [self._needed(way, list(entry.touches), around, entry.queue) for way in ways]
        ways = self._awaiting((id(issue), False), issue, needed, ways, around)
        given = (entry,) if entry.turns is not None else (entry, Entry(entry.queue, signal=entry.queue))
        ways = tuple(replace(way, entries=(*way.entries, *given)) for way in ways)
        if id(issue) not in self._at_once:
            return ways
        return self._awaiting((id(issue), True), issue, [{entry.queue: _count(entry)} for _ in ways], ways, around)

    def ending(
        self, statement: Stmt, ways: Ways, around: Around, buffer: Buffer | None = None, behind: bool = True
    ) -> Ways:
        needed: list[Counts] = []
        for way in ways:
            places = {place: _count(entry) for place, entry in enumerate(way.entries) if _is_at(entry, buffer)}
            needed.append(_taken(way, places))
        return self._awaiting((id(statement), behind), statement, needed, ways, around)

    def _needed(self, way: Way, found: list[Touch], around: Around, own: str | None = None) -> Counts:
        """How many signals of each queue are to be taken before something is touched, by the queue `own` or by the
        thread."""
        there = self.under_way(way, found, around, own)
        return _taken(way, {place: self._turns_needed(way, place, found, around) for place, _ in there})

    def _turns_needed(self, way: Way, place: int, found: list[Touch], around: Around) -> IntExpr:
        """How many turns of an operation are to be done before something is touched: the fewest behind which nothing of
        it is at the same element, or all that are left where no number is known to be enough."""
        entry = way.entries[place]
        if entry.turns is None:
            return 1
        count = entry.turns.count
        fewest, enough = 1, count if isinstance(count, int) else MOST_TURNS
        if count != enough and not self._is_enough(enough, way, entry, found, around):
            return entry.signals
        while fewest < enough:
            middle = (fewest + enough) // 2
            if self._is_enough(middle, way, entry, found, around):
                enough = middle
            else:
                fewest = middle + 1
        there_are = count == enough or is_at_most(fewest, entry.signals, around.known.assuming(*way.facts))
        return fewest if there_are else entry.signals

    def _is_enough(self, turns: int, way: Way, entry: Entry, found: list[Touch], around: Around) -> bool:
        rest = replace(way, entries=(entry.behind(turns),))
        return not any(True for _ in self.under_way(rest, found, around))

    def _awaiting(self, spot: Spot, statement: Stmt, needed: list[Counts], ways: Ways, around: Around) -> Ways:
        """The ways behind the awaits at a spot: as many as one of them needs, which all must have."""
        counts = self._counts.setdefault(spot, _most(needed, around.known))
        for each in needed:
            if not all(is_at_most(count, counts.get(queue, 0), around.known) for queue, count in each.items()):
                raise _Differs(statement)
        behind: list[Way] = []
        for way in ways:
            for queue, count in counts.items():
                taken = way.taking(queue, count, around.known)
                if taken is None:
                    raise _Differs(statement)
                way = taken
            behind.append(way)
        return tuple(behind)

    # --- the statements -----------------------------------------------------------------------------------------------

    def placed(self, statement: Stmt) -> Stmt:
        """`statement` with signals, and awaits in front of it, inside it and behind it."""
        match statement:
            case For(body=body) | LetValue(body=body) | Allocate(body=body):
                inside: list[Stmt] = [replace(statement, body=self.placed(body))]
            case Sequence(statements):
                inside = [self.placed(part) for part in statements]
            case If(_, then, otherwise):
                other = None if otherwise is None else self.placed(otherwise)
                inside = [replace(statement, then=self.placed(then), otherwise=other)]
            case Issue(queue):
                inside = [statement, signal(queue, queue)]
            case Store() | Evaluate():
                inside = [statement]
            case _:
                assert_never(statement)
        parts = [*self._awaits((id(statement), False)), *inside, *self._awaits((id(statement), True))]
        return parts[0] if len(parts) == 1 else Sequence(tuple(_flat(parts)))

    def _awaits(self, spot: Spot) -> list[Stmt]:
        return [await_signals(queue, count) for queue, count in self._counts.get(spot, {}).items()]


def _flat(parts: list[Stmt]) -> list[Stmt]:
    return [each for part in parts for each in (part.statements if isinstance(part, Sequence) else (part,))]


def _count(entry: Entry) -> IntExpr:
    """How many signals tell that an operation is done: the one behind it, or those of all its turns."""
    return 1 if entry.turns is None else entry.signals


def _is_at(entry: Entry, buffer: Buffer | None) -> bool:
    return bool(entry.touches) and (buffer is None or any(touch.buffer is buffer for touch in entry.touches))


def _most(needed: list[Counts], known: Assumptions) -> Counts:
    """The counts of those that need the most, as far as that is known."""
    most: Counts = {}
    for each in needed:
        for queue, count in each.items():
            if not is_at_most(count, most.get(queue, 0), known):
                most[queue] = count
    return most


def _taken(way: Way, places: Mapping[int, IntExpr]) -> Counts:
    """How many signals of each queue are to be taken until what is at these places, which are in order, is done, or so
    many turns of it."""
    needed: Counts = {}
    for place, count in places.items():
        queue = way.entries[place].queue
        for entry in way.entries[:place]:
            count = add(count, entry.signals if entry.queue == queue else 0)
        needed[queue] = count
    return needed

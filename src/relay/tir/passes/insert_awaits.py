"""Signals behind what is issued to queues, and awaits where the thread needs it done.

before:  issue load { a.inputs[i] = a[i]; }        after:  issue load { a.inputs[i] = a[i]; }
         b[i] = a.inputs[i];                               issue load { evaluate call("signal.load", int32); }
                                                           evaluate call("await.load", int32, int32(1));
                                                           b[i] = a.inputs[i];

An await stands in front of the first statement that touches what an operation still writes, or writes what it still
reads, and takes as many signals as have been given up to that operation's. One text of awaits must do for all
iterations of a loop; where none does, what is issued in that loop is awaited right behind its issue.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias, assert_never

from relay.base.diagnostics import CompilerBug
from relay.tir.buffer import Buffer
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, PrimFunc, Sequence, Stmt, Store
from relay.tir.synchronization import await_signals, signal
from relay.tir.touches import Touch
from relay.tir.traversal import statement_children, walk_statement
from relay.tir.under_way import Around, Entry, Follower, TooManyWays, Way, Ways

Spot: TypeAlias = tuple[int, bool]
"""In front of a statement (by identity), or behind it."""
Counts: TypeAlias = dict[str, int]
"""How many signals of each queue are awaited."""


def insert_awaits(func: PrimFunc) -> PrimFunc:
    """`func`, which has none, with the signals and awaits that it needs; the same object where it issues nothing."""
    if not any(isinstance(part, Issue) for part in walk_statement(func.body)):
        return func
    at_once: set[int] = set()
    while True:
        inserter = _Inserter(func, at_once)
        try:
            inserter.follow()
        except (_Differs, TooManyWays) as differs:
            at_once.add(_culprit(func.body, differs, at_once))
            continue
        return replace(func, body=inserter.placed(func.body))


class _Differs(Exception):
    """No one number of signals does at a spot."""

    def __init__(self, statement: Stmt) -> None:
        super().__init__()
        self.statement = statement


def _culprit(body: Stmt, differs: _Differs | TooManyWays, at_once: set[int]) -> int:
    """The innermost loop around the place that is not followed step by step yet, or the body of the function."""
    place = differs.loop if isinstance(differs, TooManyWays) else differs.statement
    around = [part for part in _around(body, place) if isinstance(part, For) or part is body]
    culprit = next((part for part in reversed(around) if id(part) not in at_once), None)
    if culprit is None:
        raise CompilerBug("tir.insert_awaits", "what is awaited at once differs between iterations")
    return id(culprit)


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
    """Finds how many signals are awaited where. What is issued inside of `at_once` is awaited right behind."""

    def __init__(self, func: PrimFunc, at_once: set[int]) -> None:
        super().__init__(func)
        self._at_once = {
            id(issue)
            for part in walk_statement(func.body)
            if id(part) in at_once
            for issue in walk_statement(part)
            if isinstance(issue, Issue)
        }
        self._counts: dict[Spot, Counts] = {}

    def touching(self, statement: Stmt, found: list[Touch], ways: Ways, around: Around) -> Ways:
        needed = [_needed(way, {place for place, _ in self.under_way(way, found, around)}) for way in ways]
        return self._awaiting((id(statement), False), statement, needed, ways)

    def issuing(self, issue: Issue, entry: Entry, ways: Ways, around: Around) -> Ways:
        """What its own queue does in order needs no await."""
        ordered = self.hierarchy.queue(issue.queue).ordered
        found = list(entry.touches)
        needed: list[Counts] = []
        for way in ways:
            places = {place for place, _ in self.under_way(way, found, around)}
            others = {place for place in places if not ordered or way.entries[place].queue != issue.queue}
            needed.append(_needed(way, others))
        ways = self._awaiting((id(issue), False), issue, needed, ways)
        ways = tuple(way.issuing(entry).issuing(Entry(issue.queue, signal=issue.queue)) for way in ways)
        if id(issue) not in self._at_once:
            return ways
        return self._awaiting((id(issue), True), issue, [{issue.queue: 1} for _ in ways], ways)

    def ending(self, statement: Stmt, ways: Ways, buffer: Buffer | None = None, behind: bool = True) -> Ways:
        needed: list[Counts] = []
        for way in ways:
            places = {place for place, entry in enumerate(way.entries) if _is_at(entry, buffer)}
            needed.append(_needed(way, places))
        return self._awaiting((id(statement), behind), statement, needed, ways)

    def _awaiting(self, spot: Spot, statement: Stmt, needed: list[Counts], ways: Ways) -> Ways:
        """The ways behind the awaits at a spot: as many as one of them needs, which all must have."""
        most = {queue: max(each.get(queue, 0) for each in needed) for each in needed for queue in each}
        counts = self._counts.setdefault(spot, most)
        if any(counts.get(queue, 0) < count for queue, count in most.items()):
            raise _Differs(statement)
        behind: list[Way] = []
        for way in ways:
            for queue, count in counts.items():
                taken = way.taking(queue, count)
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


def _is_at(entry: Entry, buffer: Buffer | None) -> bool:
    return bool(entry.touches) and (buffer is None or any(touch.buffer is buffer for touch in entry.touches))


def _needed(way: Way, places: set[int]) -> Counts:
    """How many signals of each queue are to be taken until what is at these places is done."""
    needed: Counts = {}
    for place in places:
        queue = way.entries[place].queue
        signals = sum(entry.queue == queue and entry.signal is not None for entry in way.entries[:place])
        needed[queue] = max(needed.get(queue, 0), signals + 1)
    return needed

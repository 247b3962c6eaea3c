"""Barriers where one thread reads, or writes again, what another has written.

before:  a.shared[x] = a[x];                 after:  a.shared[x] = a[x];
         b[x] = a.shared[15 - x];                    evaluate call("barrier.block", int32);
                                                     b[x] = a.shared[15 - x];

From the inside out: each statement tells what it touches before its first barrier and behind its last. Between two
statements of a sequence, or the end of a loop's body and its start, one barrier is put where what is behind meets what
is before. Statements under conditions that differ between threads are left as they are. Blocks cannot wait for each
other: where one would have to, the function is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from relay.arith.expr import Comparison, Symbol
from relay.arith.simplify import Assumptions
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.tir.conditions import facts_unless, facts_when, function_assumptions
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.threads.synchronization import barrier, barrier_level
from relay.tir.threads.touches import Extents, Touch, all_touches, touches
from relay.tir.threads.units import Units, units_meet, units_of
from relay.tir.traversal import statement_children

NEVER = 1 << 30
"""The depth of no barrier at all."""


def insert_barriers(func: PrimFunc) -> PrimFunc:
    """`func` with the barriers that it needs; the same object where it has no threads.

    Raises `RelayError` (`schedule-race`): blocks would have to wait for each other.
    """
    body = _launched(func.body, func, function_assumptions(func), func.symbols)
    return func if body is func.body else replace(func, body=body)


def _launched(statement: Stmt, func: PrimFunc, known: Assumptions, fixed: tuple[Symbol, ...]) -> Stmt:
    """`statement` with barriers in all its launches: its outermost thread loops."""
    match statement:
        case For(variable, extent, body, kind):
            if kind is LoopKind.THREAD:
                _check_units(statement, func.hierarchy, known)
                units = units_of(statement, func.hierarchy, fixed)
                return _Inserter(units).statement(statement, _Around({}, (), frozenset())).statement
            inside = _launched(body, func, known.with_loop(variable, extent), (*fixed, variable))
            return statement if inside is body else replace(statement, body=inside)
        case Sequence(statements):
            parts = tuple(_launched(part, func, known, fixed) for part in statements)
            same = all(new is old for new, old in zip(parts, statements, strict=True))
            return statement if same else Sequence(parts)
        case If(_, then, otherwise):
            first = _launched(then, func, known, fixed)
            second = None if otherwise is None else _launched(otherwise, func, known, fixed)
            same = first is then and second is otherwise
            return statement if same else replace(statement, then=first, otherwise=second)
        case LetValue(body=body) | Allocate(body=body):
            inside = _launched(body, func, known, fixed)
            return statement if inside is body else replace(statement, body=inside)
        case Store() | Evaluate() | Issue():
            return statement
        case _:
            assert_never(statement)


def _check_units(loop: For, hierarchy: Hierarchy, known: Assumptions) -> None:
    """Units that cannot wait for each other must not meet."""
    stack: list[tuple[Stmt, Assumptions]] = [(loop, known)]
    while stack:
        statement, known = stack.pop()
        if isinstance(statement, For) and statement.kind is LoopKind.THREAD:
            for buffer in units_meet(statement, known, hierarchy):
                raise _race(buffer.name, hierarchy.thread(statement.thread).level, statement)
        inside = known.with_loop(statement.variable, statement.extent) if isinstance(statement, For) else known
        stack.extend((part, inside) for part in statement_children(statement))


def _race(buffer: str, level: str, loop: For) -> RelayError:
    return RelayError(
        rule="schedule-race",
        message=f"`{buffer}` is written in one {level} and may be touched in another, and they cannot wait",
        expected=f"iterations of `{loop.variable}` that touch elements of their own",
        found=f"elements of `{buffer}` that several of them touch",
        remedy=f"keep it in a scope of one {level}, or compute it at the root",
    )


@frozen(eq=False)
class _Around:
    """The loops and conditions around a statement; `same` are the loops through which threads go together."""

    loops: Extents
    facts: tuple[Comparison, ...]
    same: frozenset[Symbol]

    def inside(self, loop: For, *, together: bool) -> _Around:
        same = self.same | {loop.variable} if together else self.same
        return _Around({**self.loops, loop.variable: loop.extent}, self.facts, same)

    def when(self, facts: tuple[Comparison, ...]) -> _Around:
        return _Around(self.loops, (*self.facts, *facts), self.same)


@frozen(eq=False)
class _Part:
    """A statement with its barriers; what it touches before the first and behind the last, and the depth of the
    outermost level at which all threads wait inside."""

    statement: Stmt
    head: tuple[Touch, ...]
    tail: tuple[Touch, ...]
    waits: int = NEVER


class _Inserter:
    def __init__(self, units: Units) -> None:
        self._units = units
        hierarchy = units.hierarchy
        self._levels = {hierarchy.depth(level): level for level in hierarchy.barriers}

    def statement(self, statement: Stmt, around: _Around) -> _Part:
        if self._differs(statement):
            return self._whole(statement, around)
        match statement:
            case For(kind=LoopKind.THREAD, body=body):
                part = self.statement(body, around.inside(statement, together=False))
                return replace(part, statement=replace(statement, body=part.statement))
            case For():
                return self._loop(statement, around)
            case Sequence(statements):
                return self._in_order([self.statement(part, around) for part in statements], around)
            case LetValue(body=body):
                named = self._direct(Sequence(()), statement, around)
                part = self._in_order([named, self.statement(body, around)], around)
                return replace(part, statement=replace(statement, body=part.statement))
            case If(condition, then, otherwise):
                tested = self._direct(Sequence(()), statement, around)
                first = self.statement(then, around.when(facts_when(condition)))
                other = Sequence(()) if otherwise is None else otherwise
                second = self.statement(other, around.when(facts_unless(condition)))
                kept = None if otherwise is None else second.statement
                rebuilt = replace(statement, then=first.statement, otherwise=kept)
                waits = max(first.waits, second.waits)
                both = _Part(rebuilt, first.head + second.head, first.tail + second.tail, waits)
                return self._in_order([tested, both], around)
            case Allocate(body=body):
                part = self.statement(body, around)
                return replace(part, statement=replace(statement, body=part.statement))
            case Store() | Evaluate() | Issue():
                return self._whole(statement, around)
            case _:
                assert_never(statement)

    def _differs(self, statement: Stmt) -> bool:
        """Whether threads that can wait for each other may take different ways through a statement."""
        depth = min(self._levels, default=NEVER)
        match statement:
            case For(extent=extent, kind=kind):
                return kind is LoopKind.VECTORIZED or self._units.differs((), (extent,), depth)
            case If(condition):
                return self._units.differs((condition,), (), depth)
            case _:
                return False

    def _whole(self, statement: Stmt, around: _Around) -> _Part:
        """A statement that no barrier is put into."""
        inside = all_touches(statement, around.loops, around.facts, self._units.hierarchy)
        found = tuple(self._units.shared((*inside, *self._units.landing(statement))))
        return _Part(statement, found, found, self._waits(statement))

    def _waits(self, statement: Stmt) -> int:
        level = barrier_level(statement)
        return NEVER if level is None else self._units.hierarchy.depth(level)

    def _direct(self, kept: Stmt, statement: Stmt, around: _Around) -> _Part:
        """What stands directly in a statement, as a part that stands for `kept`."""
        found = tuple(self._units.shared(touches(statement, around.loops, around.facts, self._units.hierarchy)))
        return _Part(kept, found, found)

    def _in_order(self, parts: Iterable[_Part], around: _Around) -> _Part:
        made: list[Stmt] = []
        head: tuple[Touch, ...] = ()
        tail: tuple[Touch, ...] = ()
        waits = NEVER
        for part in parts:
            depth = self._needed(tail, part.head, around.same)
            if depth != NEVER:
                made.append(barrier(self._levels[depth]))
                tail, waits = self._apart(tail, depth), min(waits, depth)
            head += self._apart(part.head, waits)
            tail = self._apart(tail, part.waits) + part.tail
            waits = min(waits, part.waits)
            made.extend(part.statement.statements if isinstance(part.statement, Sequence) else (part.statement,))
        return _Part(made[0] if len(made) == 1 else Sequence(tuple(made)), head, tail, waits)

    def _loop(self, loop: For, around: _Around) -> _Part:
        inside = around.inside(loop, together=True)
        body = self.statement(loop.body, inside)
        pairs = ((x, y) for x in body.tail for y in body.head)
        depth = min((self._carried(loop, x, y, body.waits, around) for x, y in pairs), default=NEVER)
        if depth != NEVER:
            first = barrier(self._levels[depth])
            body = self._in_order([_Part(first, (), (), depth), body], inside)
        runs = isinstance(loop.extent, int) and loop.extent > 0
        return _Part(replace(loop, body=body.statement), body.head, body.tail, body.waits if runs else NEVER)

    def _carried(self, loop: For, left: Touch, right: Touch, waits: int, around: _Around) -> int:
        """The depth at which to wait between one iteration and a later one; where a barrier is inside, the next."""
        depth = self._units.wait_depth(left)
        assert depth is not None
        if waits <= depth:
            meets = self._units.may_meet(left, right.later(loop.variable), around.same | {loop.variable})
        else:
            meets = self._units.may_meet(left, right, around.same)
        return depth if meets else NEVER

    def _needed(self, left: tuple[Touch, ...], right: tuple[Touch, ...], same: frozenset[Symbol]) -> int:
        """The depth of the outermost level at which to wait between two statements."""
        found = NEVER
        for x in left:
            depth = self._units.wait_depth(x)
            if depth is not None and depth < found and any(self._units.may_meet(x, y, same) for y in right):
                found = depth
        return found

    def _apart(self, found: tuple[Touch, ...], waits: int) -> tuple[Touch, ...]:
        """Those that a barrier at depth `waits` does not keep apart."""
        return tuple(x for x in found if (self._units.wait_depth(x) or 0) < waits)

"""Loops that do nothing but issue: operations of one queue, in turns that are numbered through all of the loops.

    serial i in 4                           of the turn       signals in all
      issue load {a[i] = …}; signal           3*i               12
      serial j in 2
        issue load {b[i, j] = …}; signal      3*i + j + 1

The number of a turn is how many signals are given before it. A signal ends each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TypeAlias

from relay.arith.expr import IntExpr, Symbol, add, free_symbols, multiply
from relay.base.frozen import frozen
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import For, Issue, LoopKind, Sequence, Stmt
from relay.tir.threads.synchronization import signal_name
from relay.tir.threads.touches import Touch, all_touches, meet, overlap
from relay.tir.threads.ways import Around, Entry, Turns, is_at_most

TURNING = (LoopKind.SERIAL, LoopKind.UNROLLED)
"""Loops whose iterations follow each other."""

SignalBehind: TypeAlias = Callable[[Issue], str | None]
"""The signal that is taken to be behind an operation; None where only those count that are written."""


def in_turns(loop: For, around: Around, hierarchy: Hierarchy, signal_behind: SignalBehind) -> Entry | None:
    """What a loop issues, as one entry of its queue; None where it does something else, too, or where its operations
    are in need of an order that the queue does not keep."""
    found = _issued(loop, around, hierarchy, signal_behind)
    if found is None or found.signal is None or not found.is_signalled:
        return None
    if not hierarchy.queue(found.queue).ordered and not found.is_free_of_order(around):
        return None
    numbers = tuple(operand.number for operand in found.operands)
    return Entry(found.queue, tuple(x.touch for x in found.operands), found.signal, Turns(numbers, found.signals))


@frozen(eq=False)
class _Operand:
    """What an operation touches, and of which turn that is: of the last of those that touch the same."""

    number: IntExpr
    touch: Touch
    operation: Issue

    def behind(self, turns: IntExpr) -> _Operand:
        return replace(self, number=add(turns, self.number))

    def depends_on(self, loop: Symbol) -> bool:
        of_facts = (side for fact in self.touch.facts for side in (fact.left, fact.right))
        return any(loop in free_symbols(each) for each in (*self.touch.indices, *self.touch.loops.values(), *of_facts))


@frozen(eq=False)
class _Issued:
    """What a statement issues: how many signals, whether one is behind all operations, and what is touched in turns of
    `loops`."""

    queue: str
    signal: str | None
    signals: IntExpr
    is_signalled: bool
    operands: tuple[_Operand, ...]
    loops: tuple[Symbol, ...] = ()

    def repeated(self, loop: For) -> _Issued | None:
        """None where iterations differ in how much they issue, or end without a signal."""
        k = loop.variable
        if k in free_symbols(self.signals) or not self.is_signalled:
            return None
        last = add(loop.extent, -1)
        turns = ((operand, k if operand.depends_on(k) else last) for operand in self.operands)
        operands = tuple(operand.behind(multiply(turn, self.signals)) for operand, turn in turns)
        return replace(self, signals=multiply(loop.extent, self.signals), operands=operands, loops=(k, *self.loops))

    def followed_by(self, other: _Issued, around: Around) -> _Issued | None:
        """None where that is issued to another queue, gives another signal, or may give none for what is before."""
        signals = {each.signal for each in (self, other)} - {None}
        is_signalled = self.is_signalled or is_at_most(1, other.signals, around.known)
        if self.queue != other.queue or len(signals) > 1 or not is_signalled:
            return None
        return _Issued(
            self.queue,
            next(iter(signals), None),
            add(self.signals, other.signals),
            other.is_signalled,
            (*self.operands, *(operand.behind(self.signals) for operand in other.operands)),
            (*self.loops, *other.loops),
        )

    def is_free_of_order(self, around: Around) -> bool:
        """Whether no two operations touch one element of which one writes it."""
        same = frozenset(around.known.ranges)
        return not any(self._meet(a, b, same) for a, b in combinations_with_replacement(self.operands, 2))

    def _meet(self, one: _Operand, other: _Operand, same: frozenset[Symbol]) -> bool:
        if one.operation is other.operation:
            return meet(one.touch, other.touch, [k for k in self.loops if k in one.touch.loops], same)
        return overlap(one.touch, other.touch, same)


def _issued(statement: Stmt, around: Around, hierarchy: Hierarchy, signal_behind: SignalBehind) -> _Issued | None:
    match statement:
        case For(kind=kind, extent=extent) if kind in TURNING and is_at_most(0, extent, around.known):
            inside = _issued(statement.body, around.inside(statement), hierarchy, signal_behind)
            return None if inside is None else inside.repeated(statement)
        case Sequence((first, *others)):
            found = _issued(first, around, hierarchy, signal_behind)
            for part in others:
                behind = None if found is None else _issued(part, around, hierarchy, signal_behind)
                found = None if found is None or behind is None else found.followed_by(behind, around)
            return found
        case Issue(queue, body):
            touched = all_touches(body, around.loops, (), hierarchy)
            operands = tuple(_Operand(0, touch, statement) for touch in touched)
            signal = signal_name(statement) or signal_behind(statement)
            return _Issued(queue, signal, 0 if signal is None else 1, signal is not None, operands)
        case _:
            return None

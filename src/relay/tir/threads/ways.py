"""Ways to a place of a program, as far as queues go: what a thread has issued by then, of that what is not done for
certain, and what holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from relay.arith.expr import Comparison, IntExpr, Symbol, add, free_symbols, multiply, substitute
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.tir.stmt import For
from relay.tir.threads.touches import Extents, Touch


@frozen(eq=False)
class Around:
    """The loops around a place, and what is known there of their symbols."""

    loops: Extents
    known: Assumptions

    def inside(self, loop: For) -> Around:
        return Around({**self.loops, loop.variable: loop.extent}, self.known.with_loop(loop.variable, loop.extent))


@frozen
class Turns:
    """What loops issue one after another (`turns.py`): of `count` turns the first `done` are, and of which turn each
    touch is."""

    numbers: tuple[IntExpr, ...]
    count: IntExpr
    done: IntExpr = 0


@frozen(eq=False)
class Entry:
    """An operation in a queue and what it touches, or a signal; or in turns an operation and the signal behind it."""

    queue: str
    touches: tuple[Touch, ...] = ()
    signal: str | None = None
    turns: Turns | None = None

    def where(self, values: Mapping[Symbol, IntExpr]) -> Entry:
        turns = self.turns
        if turns is not None:
            numbers = tuple(substitute(number, values) for number in turns.numbers)
            turns = Turns(numbers, substitute(turns.count, values), substitute(turns.done, values))
        return replace(self, touches=tuple(touch.where(values) for touch in self.touches), turns=turns)

    def behind(self, turns: IntExpr) -> Entry:
        """What is left when so many more turns are done."""
        own = self.turns
        return self if own is None else replace(self, turns=replace(own, done=add(own.done, turns)))

    @property
    def signals(self) -> IntExpr:
        """How many signals it gives."""
        if self.turns is None:
            return 0 if self.signal is None else 1
        return add(self.turns.count, multiply(self.turns.done, -1))

    def is_done(self, known: Assumptions) -> bool:
        """Whether it is in turns, and is known to have no more."""
        return self.turns is not None and is_at_most(self.signals, 0, known)

    def left(self, loops: Extents) -> tuple[Touch, ...]:
        """What it still touches; `loops` are those around the place where that is asked."""
        if self.turns is None:
            return self.touches
        done = self.turns.done
        return tuple(
            replace(touch, loops={**loops, **touch.loops}, facts=(*touch.facts, Comparison(done, "<=", number)))
            for touch, number in zip(self.touches, self.turns.numbers, strict=True)
        )

    @property
    def operation(self) -> object:
        """What it is, whatever of it is done."""
        touched = tuple((x.buffer, x.indices, x.writes, x.facts, *x.loops.items()) for x in self.touches)
        return self.queue, self.signal, touched, None if self.turns is None else (self.turns.numbers, self.turns.count)

    @property
    def key(self) -> object:
        return self.operation, None if self.turns is None else self.turns.done


@frozen(eq=False)
class Way:
    """One way to come to a place: what is under way, in the order of issue, and what holds."""

    entries: tuple[Entry, ...] = ()
    facts: tuple[Comparison, ...] = ()

    def issuing(self, entry: Entry) -> Way:
        return replace(self, entries=(*self.entries, entry))

    def taking(self, name: str, count: IntExpr, known: Assumptions) -> Way | None:
        """Behind an await: what the queue has begun with is done. None where so many signals do not come, as far as is
        known."""
        known = known.assuming(*self.facts)
        if not is_at_most(0, count, known):
            return None
        rest: list[Entry] = []
        for place, entry in enumerate(self.entries):
            if count == 0:
                return replace(self, entries=(*rest, *self.entries[place:]))
            if entry.signal != name:
                rest.append(entry)
                continue
            given = entry.signals
            is_last = is_at_most(count, given, known)
            if not is_last and not is_at_most(given, count, known):
                return None
            taken = count if is_last else given
            if is_at_most(1, taken, known):  # of no signals none is behind what was issued before
                rest = [each for each in rest if each.queue != entry.queue]
            if is_last and count != given:
                rest.append(entry.behind(count))
            count = add(count, multiply(taken, -1))
        return replace(self, entries=tuple(rest)) if is_at_most(count, 0, known) else None

    def where(self, values: Mapping[Symbol, IntExpr]) -> Way:
        """With these values of symbols."""
        entries = tuple(entry.where(values) for entry in self.entries)
        return Way(entries, tuple(fact.substitute(values) for fact in self.facts))

    def settled(self, known: Assumptions) -> Way:
        """Without turns that are known to be all done."""
        if not any(entry.turns for entry in self.entries):
            return self
        known = known.assuming(*self.facts)
        return replace(self, entries=tuple(each for each in self.entries if not each.is_done(known)))

    def is_case_of(self, other: Way) -> bool:
        """Whether the same is under way on another, of which no more is known."""
        return self.key == other.key and all(fact in self.facts for fact in other.facts)

    def assuming(self, facts: tuple[Comparison, ...]) -> Way:
        return replace(self, facts=(*self.facts, *(fact for fact in facts if fact not in self.facts)))

    @property
    def key(self) -> tuple[object, ...]:
        return tuple(entry.key for entry in self.entries)


Ways: TypeAlias = tuple[Way, ...]


def is_at_most(count: IntExpr, limit: IntExpr, known: Assumptions) -> bool:
    """Whether a number of signals is known not to be greater than another."""
    if isinstance(count, int) and isinstance(limit, int):
        return count <= limit
    return prove_under(Comparison(count, "<=", limit), known) is Proof.YES


def merged(ways: Iterable[Way]) -> Ways:
    """Ways with the same under way as one, on which holds what holds on all of them."""
    found: dict[tuple[object, ...], Way] = {}
    for way in ways:
        known = found.get(way.key)
        facts = way.facts if known is None else tuple(fact for fact in known.facts if fact in way.facts)
        found[way.key] = replace(way, facts=facts)
    return tuple(found.values())


def told_as(way: Way, others: Ways, known: Assumptions) -> Way:
    """A way in the words of one of the others on which, as far as turns go, the same is known to be done."""
    known = known.assuming(*way.facts)
    for other in others:
        pairs = list(zip(way.entries, other.entries, strict=False))
        if len(pairs) == len(way.entries) == len(other.entries) and all(_is_same(a, b, known) for a, b in pairs):
            return replace(way, entries=other.entries)
    return way


def _is_same(one: Entry, other: Entry, known: Assumptions) -> bool:
    distance = 0 if one.turns is other.turns is None else _distance(one, other)
    if one.operation != other.operation or distance is None:
        return False
    return is_at_most(distance, 0, known) and is_at_most(0, distance, known)


def in_step(end: Way, heads: Ways, k: Symbol) -> Way:
    """A way behind iteration 0 of a loop over `k`: of turns that went on by some number in it, that many are done in
    each, as far as one can see yet."""
    entries: list[Entry] = []
    for entry in end.entries:
        begun = [each for way in heads for each in way.entries if each.operation == entry.operation]
        steps = {_distance(each, entry) for each in begun}
        (step,) = steps if len(steps) == 1 else (None,)
        entries.append(entry if step is None or k in free_symbols(step) else entry.behind(multiply(k, step)))
    return replace(end, entries=tuple(entries))


def _distance(one: Entry, other: Entry) -> IntExpr | None:
    """How many turns lie between two states of one operation in turns."""
    if one.turns is None or other.turns is None:
        return None
    return add(other.turns.done, multiply(one.turns.done, -1))

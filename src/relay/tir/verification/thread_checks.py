"""What must hold where loops are bound to threads: the part of the verifier that knows of scopes and barriers.

- threads that can wait for each other do not touch one element, or write in one storage word, without a barrier in
  between, unless both read; this follows the program in its order, and knows nothing of who inserted the barriers; what
  a thread has issued to a queue it may do where it is issued, and where it is awaited;
- all threads of a unit come to its barriers, and to where they take values from each other, and those that they take
  from are there: no condition or loop around differs between them;
- a buffer is allocated once in each unit of its scope's level, and all of a scope that lives at a time fits into it;
- thread loops go from outer levels to inner ones, each axis once; a scope with readers is read by them alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from relay.arith.bounds import NON_NEGATIVE
from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.arith.prove import Proof, prove_under
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer, Scope
from relay.tir.conditions import facts_unless, facts_when
from relay.tir.expr import Call, Load, Value
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.text.printer import print_index, print_statement
from relay.tir.threads.synchronization import Shuffle, barrier_level, is_shuffle, shuffled
from relay.tir.threads.touches import Extents, Touch, touches
from relay.tir.threads.units import Units, units_of
from relay.tir.traversal import statement_children, statement_values, value_children, walk_statement, walk_value
from relay.tir.verification.violation import Violation


def thread_violations(func: PrimFunc) -> Iterator[Violation]:
    """Everything that is wrong with the threads and scopes of `func`."""
    yield from _scope_violations(func)
    stack: list[tuple[Stmt, tuple[Symbol, ...]]] = [(func.body, func.symbols)]
    while stack:
        statement, fixed = stack.pop()
        if isinstance(statement, For) and statement.kind is LoopKind.THREAD:
            yield from _LaunchChecker(units_of(statement, func.hierarchy, fixed)).violations(statement)
            continue
        if barrier_level(statement) is not None:
            yield _violation("barrier-outside", "a barrier outside of all thread loops", statement)
        inside = (*fixed, statement.variable) if isinstance(statement, For) else fixed
        stack.extend((part, inside) for part in statement_children(statement))


def _violation(rule: str, message: str, statement: Stmt) -> Violation:
    return Violation(rule, message, print_statement(statement).split("\n")[0].strip())


# --- scopes -----------------------------------------------------------------------------------------------------------


def _scope_violations(func: PrimFunc) -> Iterator[Violation]:
    """Allocations and thread loops by what is around them."""
    stack: list[tuple[Stmt, tuple[For, ...], tuple[Buffer, ...]]] = [(func.body, (), ())]
    while stack:
        statement, threads, held = stack.pop()
        match statement:
            case For(kind=LoopKind.THREAD):
                yield from _misplaced_loop(func, statement, threads)
                threads = (*threads, statement)
            case Allocate(buffer):
                held = (*held, buffer)
                yield from _misplaced_buffer(func, statement, threads)
                yield from _too_much(statement, [other for other in held if other.scope == buffer.scope], buffer.scope)
            case _:
                for value in statement_values(statement):
                    yield from _strange_reads(statement, value)
                    yield from _misplaced_shuffles(statement, value)
        stack.extend((part, threads, held) for part in statement_children(statement))


def _misplaced_loop(func: PrimFunc, loop: For, around: tuple[For, ...]) -> Iterator[Violation]:
    hierarchy = func.hierarchy
    depth = hierarchy.depth(hierarchy.thread(loop.thread).level)
    for outer in around:
        level = hierarchy.thread(outer.thread).level
        if outer.thread == loop.thread:
            yield _violation("thread-twice", f"`{loop.thread}` is bound inside a loop that is bound to it", loop)
        elif hierarchy.depth(level) > depth:
            yield _violation(
                "thread-order", f"`{loop.thread}` is bound inside `{outer.thread}`, of level {level}", loop
            )


def _misplaced_buffer(func: PrimFunc, statement: Allocate, around: tuple[For, ...]) -> Iterator[Violation]:
    """One buffer in each unit: the loops over units are outside, and those over what is in them inside."""
    hierarchy, scope = func.hierarchy, statement.buffer.scope
    inside = [x for x in walk_statement(statement.body) if isinstance(x, For) and x.kind is LoopKind.THREAD]
    for loop in around:
        if hierarchy.shares(scope, hierarchy.thread(loop.thread)):
            message = f"`{statement.buffer.name}` is inside `{loop.thread}`, whose threads share {scope} memory"
            yield _violation("scope-level", message, statement)
    for loop in inside:
        if not hierarchy.shares(scope, hierarchy.thread(loop.thread)):
            message = f"`{statement.buffer.name}` is outside `{loop.thread}`: each has {scope} memory of its own"
            yield _violation("scope-level", message, statement)


def _too_much(statement: Stmt, held: list[Buffer], scope: Scope) -> Iterator[Violation]:
    capacity, total = scope.capacity_bytes, 0
    for buffer in held:
        elements = 1
        for extent in buffer.shape:
            elements *= extent if isinstance(extent, int) else 0  # one that is not constant is a violation of its own
        total += -(-elements * buffer.dtype.item_bytes // scope.alignment_bytes) * scope.alignment_bytes
    if capacity is not None and total > capacity:
        yield _violation("scope-capacity", f"{scope} memory has {capacity} bytes, and {total} are in use", statement)


def _strange_reads(statement: Stmt, value: Value) -> Iterator[Violation]:
    """Loads of what only some calls may read, elsewhere."""
    stack: list[tuple[Value, str]] = [(value, "")]
    while stack:
        node, reader = stack.pop()
        if isinstance(node, Load) and node.buffer.scope.readers and reader not in node.buffer.scope.readers:
            message = f"`{node.buffer.name}` is read by {', '.join(node.buffer.scope.readers)} alone"
            yield _violation("scope-reader", message, statement)
        inside = node.name if isinstance(node, Call) else reader
        stack.extend((part, inside) for part in value_children(node))


def _misplaced_shuffles(statement: Stmt, value: Value) -> Iterator[Violation]:
    bound = shuffled(statement) is not None
    if any(is_shuffle(node) and not (bound and node is value) for node in walk_value(value)):
        yield _violation("shuffle-place", "what another thread has is bound to a name by itself", statement)


# --- races and barriers -----------------------------------------------------------------------------------------------


@frozen(eq=False)
class _Around:
    """Loops and conditions around a statement. `same` are loops of which all threads are in one iteration; `ways` the
    conditions and extents that decide whether a thread comes here."""

    loops: Extents
    facts: tuple[Comparison, ...]
    same: frozenset[Symbol]
    ways: tuple[tuple[tuple[Value, ...], tuple[IntExpr, ...]], ...]


@frozen(eq=False)
class _Past:
    """What some thread may have touched since the last barrier. Loops of `apart` may be in another iteration now, and
    `before` is exactly in the next one."""

    touch: Touch
    apart: frozenset[Symbol] = frozenset()
    before: Symbol | None = None


class _LaunchChecker:
    """Follows the threads of a launch, with all that may have been touched since they last waited."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._found: list[Violation] = []

    def violations(self, launch: For) -> list[Violation]:
        self._statement(launch, [], _Around({}, (), frozenset(), ()))
        return self._found

    def _statement(self, statement: Stmt, past: list[_Past], around: _Around) -> list[_Past]:
        """What may have been touched behind a statement, given what may have been before it."""
        level = barrier_level(statement)
        if level is not None:
            return self._barrier(statement, level, past, around)
        wanted = shuffled(statement)
        if wanted is not None:
            self._shuffle(statement, wanted, around)
        past = self._direct(statement, past, around)
        match statement:
            case For():
                return self._loop(statement, past, around)
            case Sequence(statements):
                for part in statements:
                    past = self._statement(part, past, around)
                return past
            case If(condition, then, otherwise):
                ways = (*around.ways, ((condition,), ()))
                inside = replace(around, ways=ways, facts=(*around.facts, *facts_when(condition)))
                ends = self._statement(then, past, inside)
                if otherwise is None:
                    return _either(ends, past)
                outside = replace(around, ways=ways, facts=(*around.facts, *facts_unless(condition)))
                return _either(ends, self._statement(otherwise, past, outside))
            case LetValue(body=body) | Allocate(body=body) | Issue(body=body):
                return self._statement(body, past, around)
            case Store() | Evaluate():
                return past
            case _:
                assert_never(statement)

    def _barrier(self, statement: Stmt, level: str, past: list[_Past], around: _Around) -> list[_Past]:
        hierarchy = self._units.hierarchy
        if level not in hierarchy.barriers:
            self._found.append(_violation("barrier-level", f"threads of one {level} cannot wait", statement))
            return past
        depth = hierarchy.depth(level)
        if self._differs(around, depth):
            message = f"threads of one {level} may take different ways to this barrier"
            self._found.append(_violation("barrier-not-uniform", message, statement))
        return [x for x in past if self._wait_depth(x.touch) < depth]

    def _differs(self, around: _Around, depth: int) -> bool:
        return any(self._units.differs(values, indices, depth) for values, indices in around.ways)

    def _shuffle(self, statement: Stmt, wanted: Shuffle, around: _Around) -> None:
        hierarchy, counter = self._units.hierarchy, self._units.counters.get(wanted.axis)
        level = hierarchy.exchange_level(wanted.axis)
        if level is None or counter is None or counter not in around.loops:
            message = f"there are no threads along `{wanted.axis}` that take values from each other"
            self._found.append(_violation("shuffle-axis", message, statement))
            return
        if self._differs(around, hierarchy.depth(level)):
            message = f"threads of one {level} may take different ways to where they take values from each other"
            self._found.append(_violation("shuffle-not-uniform", message, statement))
        known = Assumptions(dict.fromkeys(self._units.fixed, NON_NEGATIVE))
        for symbol, extent in around.loops.items():
            known = known.with_loop(symbol, extent)
        known = known.assuming(*around.facts)
        inside = Comparison(0, "<=", wanted.source), Comparison(wanted.source, "<", around.loops[counter])
        if any(prove_under(each, known) is not Proof.YES for each in inside):
            message = f"thread {print_index(wanted.source)} along `{wanted.axis}` may not be there"
            self._found.append(_violation("shuffle-unproven", message, statement))

    def _wait_depth(self, touch: Touch) -> int:
        depth = self._units.wait_depth(touch)
        return len(self._units.hierarchy.levels) if depth is None else depth

    def _loop(self, loop: For, past: list[_Past], around: _Around) -> list[_Past]:
        loops = {**around.loops, loop.variable: loop.extent}
        if loop.kind is LoopKind.THREAD:
            return self._statement(loop.body, past, replace(around, loops=loops))
        inside = replace(around, loops=loops, ways=(*around.ways, ((), (loop.extent,))))
        if all(barrier_level(part) is None for part in walk_statement(loop.body)):
            return _either(self._statement(loop.body, past, inside), past)
        inside = replace(inside, same=inside.same | {loop.variable})
        end = self._statement(loop.body, past, inside)
        carried = [_carried(x, loop.variable) for x in end if loop.variable in x.touch.loops]
        still = self._statement(loop.body, carried, inside)
        long_ago = [replace(x, apart=x.apart | {loop.variable}, before=None) for x in carried if x in still]
        self._statement(loop.body, long_ago, inside)
        return _either(end, past)

    def _direct(self, statement: Stmt, past: list[_Past], around: _Around) -> list[_Past]:
        """The touches of a statement against all before them, those of other threads in the same one included."""
        found = touches(statement, around.loops, around.facts, self._units.hierarchy)
        here = self._units.shared((*found, *self._units.landing(statement)))
        after = [*past, *(_Past(x) for x in here)]
        for now in here:
            for then in after:
                if self._may_meet(then, now, around):
                    message = f"two threads may touch one element of `{now.buffer.name}` with no barrier between"
                    self._found.append(_violation("race-unproven", message, statement))
                    return after
        return after

    def _may_meet(self, then: _Past, now: Touch, around: _Around) -> bool:
        same = frozenset(symbol for symbol in around.same - then.apart if symbol in then.touch.loops)
        return self._units.may_meet(then.touch, now if then.before is None else now.later(then.before), same)


def _carried(past: _Past, loop: Symbol) -> _Past:
    """What was touched in the iteration before: loops inside of it are in any iteration."""
    order = list(past.touch.loops)
    inner = order[order.index(loop) + 1 :]
    return _Past(past.touch, past.apart | set(inner), loop)


def _either(left: list[_Past], right: list[_Past]) -> list[_Past]:
    known = {id(x) for x in left}
    return [*left, *(x for x in right if id(x) not in known)]

"""The threads of a launch, and which of them meet in an element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer
from relay.tir.dependence import conflicts
from relay.tir.expr import Load, Value, ValueVar
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import For, Issue, LoopKind, Stmt
from relay.tir.threads.synchronization import awaited, signal_name
from relay.tir.threads.touches import Extents, Touch, all_touches, meet
from relay.tir.traversal import statement_children, value_indices, walk_statement, walk_value


@frozen(eq=False)
class Units:
    """The threads of a launch: at which depth of the hierarchy each symbol counts units; the symbols that have one
    value in all of it; and what is done, in whatever iteration it was issued, where a thread awaits a signal."""

    hierarchy: Hierarchy
    depths: Mapping[Symbol, int]
    fixed: frozenset[Symbol]
    landings: Mapping[str, tuple[Touch, ...]]
    counters: Mapping[str, Symbol]
    """The symbols of the thread axes, by their names."""

    def shared(self, found: Iterable[Touch]) -> list[Touch]:
        """Those that are no thread's own."""
        return [touch for touch in found if self.wait_depth(touch) is not None]

    def landing(self, statement: Stmt) -> tuple[Touch, ...]:
        """What is certain to be done behind a statement, and may be done only there."""
        wanted = awaited(statement)
        return () if wanted is None else self.landings.get(wanted.signal, ())

    def wait_depth(self, touch: Touch) -> int | None:
        """The depth of the level at which threads wait before one may see what another has done here; None for what is
        one thread's own."""
        level = self.hierarchy.barrier_for(touch.buffer.scope)
        return None if level is None else self.hierarchy.depth(level)

    def may_meet(self, left: Touch, right: Touch, same: frozenset[Symbol]) -> bool:
        """Whether two threads that can wait for each other may meet, in one iteration of the loops of `same`."""
        depth = self.wait_depth(left)
        if depth is None:
            return False
        threads = [symbol for symbol, at in self.depths.items() if at > depth]
        return meet(left, right, threads, same | self.fixed | (self.depths.keys() - set(threads)))

    def differs(self, values: Iterable[Value], indices: Iterable[IntExpr], depth: int) -> bool:
        """Whether values or indices may differ between the threads in one unit of the level at `depth`."""
        parts = [node for value in values for node in walk_value(value)]
        inside = [index for node in parts for index in value_indices(node)]
        symbols = {symbol for index in (*indices, *inside) for symbol in free_symbols(index)}
        own = any(isinstance(node, (ValueVar, Load)) for node in parts)
        return own or any(self.depths.get(symbol, 0) > depth for symbol in symbols)


def units_of(launch: For, hierarchy: Hierarchy, fixed: Iterable[Symbol]) -> Units:
    """What the thread loops from `launch` inwards count."""
    loops = [x for x in walk_statement(launch) if isinstance(x, For) and x.kind is LoopKind.THREAD]
    depths = {loop.variable: hierarchy.depth(hierarchy.thread(loop.thread).level) for loop in loops}
    counters = {loop.thread: loop.variable for loop in loops}
    return Units(hierarchy, depths, frozenset(fixed), _landings(launch, set(depths), hierarchy), counters)


def _landings(launch: For, threads: set[Symbol], hierarchy: Hierarchy) -> dict[str, tuple[Touch, ...]]:
    """What queues do in a launch, by the signals behind it."""
    found: dict[str, list[Touch]] = {}
    queue_of: dict[str, str] = {}
    stack: list[tuple[Stmt, Extents]] = [(launch, {})]
    while stack:
        statement, loops = stack.pop()
        if isinstance(statement, Issue):
            inside = all_touches(statement.body, loops, (), hierarchy)
            found.setdefault(statement.queue, []).extend(_any_iteration(touch, threads) for touch in inside)
            name = signal_name(statement)
            if name is not None:
                queue_of[name] = statement.queue
        inside = {**loops, statement.variable: statement.extent} if isinstance(statement, For) else loops
        stack.extend((part, inside) for part in statement_children(statement))
    return {name: tuple(found[queue]) for name, queue in queue_of.items()}


def _any_iteration(touch: Touch, threads: set[Symbol]) -> Touch:
    """The same in loops of its own: those of the threads alone are the ones around."""
    names = {symbol: Symbol(symbol.name) for symbol in touch.loops if symbol not in threads}
    loops = {names.get(symbol, symbol): substitute(extent, names) for symbol, extent in touch.loops.items()}
    return replace(touch.where(names), loops=loops)


def units_meet(loop: For, known: Assumptions, hierarchy: Hierarchy) -> Iterator[Buffer]:
    """The buffers in which units of a loop that cannot wait for each other may meet. That they do not is proven with
    symbols, or where that fails by counting.

    `known` is what is known around the loop.
    """
    if hierarchy.can_wait(hierarchy.thread(loop.thread)):
        return
    doubtful = dict.fromkeys(left.buffer for left, _ in conflicts(loop, known, hierarchy))
    inside = list(all_touches(loop, {}, (), hierarchy)) if doubtful else []
    around = frozenset(known.ranges)
    for buffer in doubtful:
        found = [touch for touch in inside if touch.buffer is buffer]
        if any(meet(left, right, [loop.variable], around) for left in found for right in found):
            yield buffer

"""Where a kernel that runs for long looks whether its call is to end (`support/stop/`), and which of its loops do.

Every tenth of a millisecond, by the estimate of `work.py`, which is up to ten times as long by the clock: a loop whose
iterations are shorter runs so many of them in a row, which are a loop of their own. What takes less in all never looks.
A kernel that is to end returns, its results half made; who called it looks again, and gives nothing of them.
"""

from __future__ import annotations

from relay.arith.bounds import Interval, bounds_of
from relay.arith.expr import IntExpr, Symbol, floor_divide, free_symbols, maximum, multiply
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.kernels.work import PARTS_OF_A_NANOSECOND, work_of
from relay.targets.cpu.emit.stop import NOW, emit_stop_question
from relay.tir.stmt import For
from relay.tir.traversal import values_in_index, walk_statement

_BETWEEN_POLLS = 100_000 * PARTS_OF_A_NANOSECOND


def iterations_between_polls(e: Emitter, loop: For) -> IntExpr | None:
    """How many iterations of a loop run between two polls, at least 1; None where it has none, nor have those in it."""
    if not e.polls:
        return None
    work = work_of(loop.body, e.works)
    longest = bounds_of(multiply(loop.extent, work), _ranges(e)).high
    if longest is not None and longest < _BETWEEN_POLLS:
        return None
    if isinstance(work, int):
        return max(1, _BETWEEN_POLLS // max(1, work))
    if free_symbols(work) & _bound_in(loop) or values_in_index(work):
        return 1
    return maximum(1, floor_divide(_BETWEEN_POLLS, maximum(1, work)))


def polls_inside(e: Emitter, loop: For, between: IntExpr | None) -> int:
    """What `e.polls` is in the body of a loop."""
    if between is None:
        return 0
    return e.polls if isinstance(loop.extent, int) and isinstance(between, int) else e.polls - 1


def emit_poll(e: Emitter, go: str) -> list[str]:
    """Go on at the label `go`, or return; gives the blocks that lead there."""
    text = e.function
    e.stopped = e.stopped or text.label("stopped")
    ask, looked = text.label("ask"), text.block
    status = emit_stop_question(text, NOW, go, ask)
    text.branch(text.impure(f"icmp eq i32 {status}, 0"), go, e.stopped)
    return [looked, ask]


def _ranges(e: Emitter) -> dict[Symbol, Interval]:
    return {symbol: Interval(0, extent - 1) for symbol, extent in e.ranges.items() if isinstance(extent, int)}


def _bound_in(loop: For) -> set[Symbol]:
    return {each.variable for each in walk_statement(loop) if isinstance(each, For)}

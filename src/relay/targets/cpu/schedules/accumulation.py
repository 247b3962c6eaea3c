"""Sums of products in a register tile, and the panels of weights that they read.

A sum of many products is taken in parts: each in one chain of multiply-adds, in registers, and then added to the sum of
the parts, in the first-level cache. Rounding errors grow with the length of a chain (N. J. Higham, "The accuracy of
floating point summation", SIAM J. Sci. Comput. 14, 1993).
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.plan import Plan, product
from relay.targets.cpu.schedules.register_tiles import packed_weight
from relay.te.operation import Reduction
from relay.tir.buffer import Scope

_SHORTEST_PART = 4
"""A part is at least so much of the longest chain, as its divisor."""
_LONGEST = 1 << 20
"""Extents up to which divisors are looked for."""


@frozen
class Summing:
    """A stage that sums in registers, and the innermost of its loops over sums that is not unrolled."""

    stage: str
    loop: str


@frozen
class Parts:
    """The stage that sums one part, and the loop over the parts, of the stage that adds them up."""

    stage: str
    loop: str


def accumulate(plan: Plan, acc: str, columns: int = -1) -> Summing:
    """Order the loops of the accumulating stage: sums, then the tile in registers, axis `columns`, counted from the
    last, as vectors. Where it sums more than one chain should, another stage sums the parts."""
    parts = in_parts(plan, acc, plan.core.longest_product)
    if parts is not None:
        plan.steps.set_scope(acc, Scope.LOCAL)
        _order_tile(plan, acc, (parts.loop,), columns)
        acc, columns = parts.stage, columns - 1
    s = plan.steps
    *summed, innermost = [axis.name for axis in plan.compute(acc).reduce_axes]
    extent = plan.extent(acc, innermost)
    unroll = next((u for u in plan.core.unrolled_sums if isinstance(extent, int) and extent % u == 0), 1)
    inner: tuple[str, ...] = (innermost,)
    if unroll > 1 and extent != unroll:
        inner = s.split(acc, innermost, factor=unroll)
    _order_tile(plan, acc, (*summed, *inner), columns)
    if unroll > 1:
        s.unroll(acc, inner[-1])
    return Summing(acc, inner[0])


def _order_tile(plan: Plan, acc: str, summed: tuple[str, ...], columns: int) -> None:
    """Loops over sums, then the tile, written out, axis `columns` as vectors."""
    s = plan.steps
    rows = [axis.name for axis in plan.compute(acc).axes]
    vectors, lanes = s.split(acc, rows.pop(columns), factor=plan.vector_lanes)
    s.reorder(acc, *summed, *rows, vectors, lanes)
    plan.unroll(acc, (*rows, vectors))
    s.vectorize(acc, lanes)


def in_parts(plan: Plan, acc: str, longest: int) -> Parts | None:
    """Cut what a stage sums in parts of at most `longest`, each of which is summed in registers. None where all of it
    is short enough, or nothing is rounded, or the parts would be too short to be worth it."""
    s = plan.steps
    if not _rounds(plan, acc):
        return None
    loops, chain = [axis.name for axis in plan.compute(acc).reduce_axes], 1
    while loops and chain * _known(plan.extent(acc, loops[-1])) <= longest:
        chain *= _known(plan.extent(acc, loops.pop()))
    if not loops:
        return None
    room, extent = longest // chain, _known(plan.extent(acc, loops[-1]))
    share = next((each for each in range(room, 1, -1) if extent % each == 0), 1) if extent <= _LONGEST else 1
    if chain * share < longest // _SHORTEST_PART:
        return None
    if share > 1:
        loops[-1], _ = s.split(acc, loops[-1], factor=share)
    over, *rest = loops
    for loop in rest:
        over = s.fuse(acc, over, loop)
    part = s.rfactor(acc, over)
    s.set_scope(part, Scope.REGISTER)
    s.compute_at(part, acc, over)
    return Parts(part, over)


def _rounds(plan: Plan, acc: str) -> bool:
    """Whether a stage adds up or multiplies numbers that are rounded."""
    stage, body = plan.steps.state.stage(acc), plan.compute(acc).body
    assert isinstance(body, Reduction)
    return not all(each.selects for each in body.reducers) and any(each.dtype.is_float for each in stage.outputs)


def _known(extent: IntExpr) -> int:
    """An extent; more than any chain where it is open."""
    return extent if isinstance(extent, int) else _LONGEST + 1


def prefetch_panel(plan: Plan, summing: Summing, target: str, panels: str, uses: int | None = None) -> None:
    """`prefetch_next_panel`, only where the weights are too large for the second-level cache."""
    if exceeds_second_level(plan):
        prefetch_next_panel(plan, summing, target, panels, uses)


def prefetch_next_panel(plan: Plan, summing: Summing, target: str, panels: str | None, uses: int | None = None) -> None:
    """While one panel of packed weights is used, ask for the next in the loop that sums.

    Only where an iteration of a loop of stage `target` uses one panel, and it is known now how often, since these uses
    share the next one out: `uses` times, where that does not follow from the extents of all that the stage computes.
    """
    weight, loops = packed_weight(plan), plan.steps.loops(target)
    ahead = None if panels is None else plan.innermost_over(target, panels)
    if weight is None or ahead is None:
        return
    inside = product(tuple(plan.extent(target, each) for each in loops[loops.index(ahead) + 1 :]))
    if isinstance(inside, int) or uses is not None:
        plan.steps.prefetch(summing.stage, summing.loop, weight.name, target, ahead)


def exceeds_second_level(plan: Plan) -> bool:
    """Whether the packed weights leave no room for others in the second-level cache."""
    weight = packed_weight(plan)
    size = None if weight is None else product(weight.shape)
    return weight is not None and isinstance(size, int) and size * weight.dtype.item_bytes > plan.core.l2_bytes // 2

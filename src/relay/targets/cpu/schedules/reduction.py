"""One reduction and the formulas around it: sums, pooling, and windows of other kinds.

Where the innermost axis of what is read stays in the result, that axis is the lanes; where it is reduced, the reduction
is split in lanes.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, linear_parts
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, even_tile, product
from relay.te.operation import Compute, body_values, loads_of
from relay.tir.buffer import Scope
from relay.tir.expr import Ramp

_COLUMNS = 8
_LARGEST_UNROLLED_WINDOW = 9


def in_lanes(plan: Plan, stage: str, scope: Scope = Scope.REGISTER) -> str | None:
    """Split a reduction along a contiguous axis into a vector of partial results, in `scope`, that are combined at the
    end. Gives the stage of partial results; None where the axis is too short for that."""
    s = plan.steps
    operation = s.state.stage(stage).operation
    assert isinstance(operation, Compute)
    last = operation.reduce_axes[-1]
    lanes = plan.vector_lanes
    if not isinstance(last.extent, int) or last.extent < lanes:
        return None
    _, lane = s.split(stage, last.name, factor=lanes)
    partial = s.rfactor(stage, lane)
    s.set_scope(partial, scope)
    s.unroll(stage, lane)
    loops = s.state.stage(partial).loops
    summed = [loop.name for loop in loops if loop.is_reduction]
    others = [loop.name for loop in loops if not loop.is_reduction and loop.name != lane]
    s.reorder(partial, *others, *summed, lane)
    s.vectorize(partial, lane)
    return partial


def schedule_reduction(plan: Plan, reduction: str) -> None:
    """One reduction, with padding before it and everything behind it fused."""
    plan.inline_formulas()
    operation = plan.steps.state.stage(reduction).operation
    assert isinstance(operation, Compute)
    if not operation.axes:
        _to_scalar(plan, reduction)
    elif _reduces_innermost(operation):
        _along_rows(plan, reduction, operation)
    else:
        schedule_channels(plan, reduction)


def _to_scalar(plan: Plan, reduction: str) -> None:
    in_lanes(plan, reduction)


def _along_rows(plan: Plan, reduction: str, operation: Compute) -> None:
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    loops = [loop.name for loop in s.state.stage(store).loops]
    work = product(tuple(axis.extent for axis in (*operation.axes, *operation.reduce_axes)))
    innermost = plan.parallelize(store, loops, work)
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    partial = in_lanes(plan, acc)
    if partial is not None:
        s.compute_at(partial, store, innermost)


def schedule_channels(plan: Plan, reduction: str) -> None:
    """Reductions that keep the innermost axis (pooling, depthwise convolution, sums over leading axes): that axis is
    the lanes, and a few entries of the axis before it share what is read."""
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    loops = [loop.name for loop in s.state.stage(store).loops]
    extents = [plan.extent(store, loop) for loop in loops]
    lane_outer, lane_inner = plan.tile(store, loops[-1], plan.vector_lanes)
    outer, tile = loops[:-2], []
    if len(loops) > 1:
        column_outer, column_inner = plan.tile(store, loops[-2], even_tile(extents[-2], _COLUMNS))
        tile = [column_inner]
        outer = [*outer, *[loop for loop in (column_outer,) if loop]]
    outer = [*outer, *[loop for loop in (lane_outer,) if loop]]
    s.reorder(store, *outer, *tile, lane_inner)
    operation = s.state.stage(acc).operation
    assert isinstance(operation, Compute)
    window = product(tuple(axis.extent for axis in operation.reduce_axes))
    innermost = plan.parallelize(store, outer, product((*extents, window)))
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    summed = [axis.name for axis in operation.reduce_axes]
    inner = [axis.name for axis in operation.axes]
    s.reorder(acc, *summed, *inner)
    for loop in inner[:-1]:
        s.unroll(acc, loop)
    s.vectorize(acc, inner[-1])
    if isinstance(window, int) and window <= _LARGEST_UNROLLED_WINDOW:
        for loop in summed:
            s.unroll(acc, loop)
    for loop in tile:
        s.unroll(store, loop)
    s.vectorize(store, lane_inner)


def _reduces_innermost(operation: Compute) -> bool:
    """Whether the reduction runs along the contiguous axis of what it reads."""
    reduced = {axis for axis in operation.reduce_axes if axis.extent != 1}
    for load in loads_of(body_values(operation.body)):
        if load.indices:
            last = load.indices[-1]
            index: IntExpr = last.base if isinstance(last, Ramp) else last
            if any(term in reduced for term, _ in linear_parts(index)[1]):
                return True
    return False

"""Several reductions along rows (softmax, layer norm), or one: everything about a row is computed while it is in cache.

Stages that reduce along the row are split in lanes, so that the sum of a row is a vector of partial sums.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, linear_parts
from relay.targets.cpu.schedules.padding import PADDING, pad
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, even_tile, is_reduction, product
from relay.te.operation import Compute, body_values, loads_of
from relay.te.state import Stage
from relay.tir.buffer import Scope
from relay.tir.expr import Ramp, Unary, UnaryOp
from relay.tir.traversal import walk_value

_LARGEST_ROW_ON_STACK = 1 << 14  # elements
_COLUMNS = 8
_LARGEST_UNROLLED_WINDOW = 9
_COSTLY = frozenset({UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH, UnaryOp.ERF, UnaryOp.SIGMOID})


def schedule_rows(plan: Plan) -> None:
    """Reductions whose results an output along the same rows reads, computed at the row."""
    costly = frozenset(stage.name for stage in plan.steps.state.stages if _is_shared_and_costly(plan, stage))
    plan.inline_formulas(keep=costly)
    s = plan.steps
    output = plan.output_name
    loops = [loop.name for loop in s.state.stage(output).loops]
    rows = loops[:-1]
    extents = tuple(plan.extent(output, loop) for loop in loops)
    for stage in [stage.name for stage in s.state.stages if stage.name != output]:
        if rows:
            s.compute_at(stage, output, rows[-1])
        if is_reduction(s.state.stage(stage)):
            if rows:
                s.set_scope(stage, Scope.REGISTER)
            partial = in_lanes(plan, stage)
            if partial is not None and rows:
                s.compute_at(partial, output, rows[-1])
        else:
            if rows and _fits_the_stack(extents[-1]):
                s.set_scope(stage, Scope.LOCAL)
            s.vectorize(stage, _vector_loop(plan, stage))
    s.vectorize(output, _vector_loop(plan, output))
    plan.parallelize(output, rows, product(extents))


def _fits_the_stack(extent: IntExpr) -> bool:
    return isinstance(extent, int) and extent <= _LARGEST_ROW_ON_STACK


def _vector_loop(plan: Plan, stage: str) -> str:
    last = plan.steps.state.stage(stage).loops[-1].name
    _, inner = plan.tile(stage, last, plan.vector_lanes)
    return inner


def _is_shared_and_costly(plan: Plan, stage: Stage) -> bool:
    """A formula with a transcendental in it that more than one stage reads: computing it twice would not pay."""
    operation = stage.operation
    if not isinstance(operation, Compute) or is_reduction(stage) or plan.is_output(stage):
        return False
    nodes = [node for value in body_values(operation.body) for node in walk_value(value)]
    if not any(isinstance(node, Unary) and node.op in _COSTLY for node in nodes):
        return False
    readers = [
        other
        for other in plan.steps.state.stages
        if isinstance(other.operation, Compute)
        and any(load.buffer in stage.outputs for load in loads_of(body_values(other.operation.body)))
    ]
    return len(readers) > 1


def in_lanes(plan: Plan, stage: str) -> str | None:
    """Split a reduction along a contiguous axis into a vector of partial results, in registers, that are combined at
    the end. Gives the stage of partial results; None where the axis is too short for that."""
    s = plan.steps
    operation = s.state.stage(stage).operation
    assert isinstance(operation, Compute)
    last = operation.reduce_axes[-1]
    lanes = plan.vector_lanes
    if not isinstance(last.extent, int) or last.extent < 2 * lanes:
        return None
    _, lane = s.split(stage, last.name, factor=lanes)
    partial = s.rfactor(stage, lane)
    s.set_scope(partial, Scope.REGISTER)
    s.unroll(stage, lane)
    loops = s.state.stage(partial).loops
    summed = [loop.name for loop in loops if loop.is_reduction]
    others = [loop.name for loop in loops if not loop.is_reduction and loop.name != lane]
    s.reorder(partial, *others, *summed, lane)
    s.vectorize(partial, lane)
    return partial


def schedule_reduction(plan: Plan, reduction: str) -> None:
    """One reduction and the formulas around it.

    Where the innermost axis of what is read stays in the result, that axis is the lanes; where it is reduced, the
    reduction is split in lanes.
    """
    plan.inline_formulas(keep=PADDING)
    pad(plan)
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
    s.compute_at(acc, store, loops[-1])
    partial = in_lanes(plan, acc)
    if partial is not None:
        s.compute_at(partial, store, loops[-1])
    work = product(tuple(axis.extent for axis in (*operation.axes, *operation.reduce_axes)))
    plan.parallelize(store, loops[:-1] or loops, work)


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
    if outer:
        s.compute_at(acc, store, outer[-1])
    operation = s.state.stage(acc).operation
    assert isinstance(operation, Compute)
    summed = [axis.name for axis in operation.reduce_axes]
    inner = [axis.name for axis in operation.axes]
    s.reorder(acc, *summed, *inner)
    for loop in inner[:-1]:
        s.unroll(acc, loop)
    s.vectorize(acc, inner[-1])
    window = product(tuple(axis.extent for axis in operation.reduce_axes))
    if isinstance(window, int) and window <= _LARGEST_UNROLLED_WINDOW:
        for loop in summed:
            s.unroll(acc, loop)
    for loop in tile:
        s.unroll(store, loop)
    s.vectorize(store, lane_inner)
    plan.parallelize(store, _shared_out(plan, outer, loops, extents), product((*extents, window)))


def _shared_out(plan: Plan, outer: list[str], loops: list[str], extents: list[IntExpr]) -> list[str]:
    """The outermost loops that give every thread something to do; the innermost of them alone, if the others are short."""
    whole = [loop for loop in outer[:-1] if loop in loops]  # the last is where others are attached
    count = product(tuple(extents[loops.index(loop)] for loop in whole))
    short = isinstance(count, int) and count < 2 * max(2, plan.target.num_threads)
    return outer[-1:] if short else whole


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

"""Convolutions whose data have channels in front of space (NCW, NCHW): vectors lie along the innermost axis of space.

A register tile of output channels × rows shares what it loads: one vector of the data for all channels, one weight for
all rows. Loops: batch · channel tiles · row tiles · vectors · channels and window · (channels × rows, unrolled).
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.targets.cpu.schedules.padding import pad
from relay.targets.cpu.schedules.plan import (
    TILED_PRODUCTS_PER_NANOSECOND,
    Plan,
    accumulators_of,
    dividing_tile,
)
from relay.transform.framework.context import fitting_block

_ROWS = 2
_MOST_VECTORS = 3


def _width(plan: Plan, columns: IntExpr) -> int:
    """Of one vector to three, what leaves the fewest lanes empty; the widest of equals."""
    lanes = plan.vector_lanes
    widths = [vectors * lanes for vectors in range(_MOST_VECTORS, 0, -1)]
    return fitting_block(tuple(widths), columns) if isinstance(columns, int) else lanes


def _channels_of_group(plan: Plan, channels: IntExpr) -> IntExpr:
    """Output channels that read the same input channels."""
    for call, _ in plan.group.anchors:
        if isinstance(call.attrs, (Conv1DAttributes, Conv2DAttributes)) and isinstance(channels, int):
            return channels // call.attrs.groups
    return channels


def schedule_planar_convolution(plan: Plan, reduction: str) -> None:
    """`conv[n, oc, .., ow]` with its padding before it and everything behind it fused."""
    pad(plan)
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    loops = [loop.name for loop in s.state.stage(store).loops]
    extents = [plan.extent(store, loop) for loop in loops]
    together = dividing_tile(_channels_of_group(plan, extents[1]), plan.target.register_count // 4)
    channel_outer, channel = plan.tile(store, loops[1], together)
    width = _width(plan, extents[-1])
    column_outer, column = plan.tile(store, loops[-1], width)
    most_rows = _ROWS if width == plan.vector_lanes else 1
    rows = [plan.tile(store, loop, dividing_tile(plan.extent(store, loop), most_rows)) for loop in loops[2:-1]]
    outer = [loops[0], channel_outer, *(row for row, _ in rows), column_outer]
    tile = [channel, *(row for _, row in rows)]
    s.reorder(store, *[loop for loop in outer if loop], *tile, column)
    operation = plan.compute(acc)
    work = plan.iterations(acc)
    innermost = plan.parallelize(store, [loop for loop in outer if loop], work, TILED_PRODUCTS_PER_NANOSECOND)
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    results = [axis.name for axis in operation.axes]
    s.reorder(acc, *(axis.name for axis in operation.reduce_axes), *results)
    for stage, unrolled, lanes in ((acc, results[:-1], results[-1]), (store, tile, column)):
        for loop in unrolled:
            s.unroll(stage, loop)
        vectors, lane = s.split(stage, lanes, factor=plan.vector_lanes)
        s.unroll(stage, vectors)
        s.vectorize(stage, lane)

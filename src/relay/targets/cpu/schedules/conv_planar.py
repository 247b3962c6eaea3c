"""Convolutions whose data have channels in front of space (NCW, NCHW): vectors lie along the innermost axis of space.

A register tile of output channels × rows shares what it loads: one vector of the data for all channels, one weight for
all rows; few channels have many rows. Loops: batch · row tiles · channel tiles · vectors · channels and window ·
(channels × rows, unrolled), so that rows stay in the cache while all channels pass over them; where weights are larger
than the data, channel tiles are around row tiles.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.expr import Call
from relay.ir.types import TensorType
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.targets.cpu.schedules.padding import pad
from relay.targets.cpu.schedules.plan import (
    TILED_PRODUCTS_PER_NANOSECOND,
    Plan,
    accumulators_of,
    dividing_tile,
    product,
)
from relay.targets.cpu.schedules.reduction import LARGEST_PLANAR_WINDOW
from relay.targets.cpu.target import CpuTarget
from relay.transform.framework.context import ConvolutionWeights, fitting_block

_MOST_VECTORS = 3


@frozen
class ChannelsFirst:
    """Which convolutions are as fast so, on a resolved target: depthwise ones whose window can be written out, and 1×1
    ones to few channels, measured with what transposing the data takes; of larger windows, to so many divided by the
    side of the window."""

    target: CpuTarget

    def __call__(self, weights: ConvolutionWeights) -> bool:
        """Of one convolution.

        >>> keeps = ChannelsFirst(CpuTarget(vector_bits=512))
        >>> keeps(ConvolutionWeights(960, 960, True, 9)), keeps(ConvolutionWeights(64, 1, False, 9))
        (True, False)
        """
        if weights.is_depthwise:
            return weights.taps <= LARGEST_PLANAR_WINDOW
        channels = self.target.register_bits // 32 * 2
        return weights.groups == 1 and weights.outputs**2 * weights.taps <= channels**2


def _width(plan: Plan, columns: IntExpr) -> int:
    """Of one vector to three, what leaves the fewest lanes empty; the widest of equals."""
    lanes = plan.vector_lanes
    widths = [vectors * lanes for vectors in range(_MOST_VECTORS, 0, -1)]
    return fitting_block(tuple(widths), columns) if isinstance(columns, int) else lanes


def _convolution(plan: Plan) -> Call:
    """The group's convolution."""
    return next(call for call, _ in plan.group.anchors if isinstance(call.attrs, (Conv1DAttributes, Conv2DAttributes)))


def _channels_of_group(plan: Plan, channels: IntExpr) -> IntExpr:
    """Output channels that read the same input channels."""
    attributes = _convolution(plan).attrs
    assert isinstance(attributes, (Conv1DAttributes, Conv2DAttributes))
    return channels // attributes.groups if isinstance(channels, int) else channels


def _has_less_weights(plan: Plan) -> bool:
    """Whether the weights are known to be smaller than the data."""
    types = [argument.checked_type for argument in _convolution(plan).args]
    data, weight = (product(each.shape) if isinstance(each, TensorType) else None for each in types)
    return isinstance(data, int) and isinstance(weight, int) and weight < data


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
    most_rows = max(1, plan.target.register_count // 2 // (together * (width // plan.vector_lanes)))
    rows = [plan.tile(store, loop, dividing_tile(plan.extent(store, loop), most_rows)) for loop in loops[2:-1]]
    row_outer = [row for row, _ in rows]
    by_rows = [*row_outer, channel_outer] if _has_less_weights(plan) else [channel_outer, *row_outer]
    outer = [loops[0], *by_rows, column_outer]
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

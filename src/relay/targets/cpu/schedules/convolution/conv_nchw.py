"""Convolutions whose data have channels in front of space (NCW, NCHW): vectors lie along the innermost axis of space.

A register tile of output channels × rows shares what it loads: one vector of the data for all channels, one weight for
all rows; few channels have many rows. Loops: batch · row tiles · channel tiles · vectors · channels and window ·
(channels × rows, unrolled), so that rows stay in the cache while all channels pass over them; where weights are larger
than the data, or each group of channels reads data of its own, channel tiles are around row tiles. Threads that share
out groups then read what they padded themselves.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.expr import Call
from relay.ir.types import TensorType
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes
from relay.targets.cpu.core import core_of
from relay.targets.cpu.schedules.convolution.convolutions import decide_convolution
from relay.targets.cpu.schedules.convolution.windows import layout_of_channels
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.padding import pad
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, dividing_tile, product
from relay.targets.cpu.schedules.reduction import LARGEST_NCHW_WINDOW
from relay.targets.cpu.target import CpuTarget
from relay.te.schedule.space import Decider
from relay.transform.framework.context import ConvolutionWeights, fitting_block


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
            return weights.taps <= LARGEST_NCHW_WINDOW
        channels = core_of(self.target).nchw_channels
        return weights.groups == 1 and weights.outputs**2 * weights.taps <= channels**2


@frozen
class Convolution:
    """The stage that accumulates, the one that stores, and the loops of that with their extents."""

    acc: str
    store: str
    loops: tuple[str, ...]
    extents: tuple[IntExpr, ...]


@frozen
class Tiles:
    """A register tile: `channels` × `rows` (of an image) × `columns`. `rows_outside`: tiles of rows are around those of
    channels."""

    channels: int
    columns: int
    rows: int
    rows_outside: bool


def is_nchw(plan: Plan) -> bool:
    """Whether the group is a convolution over data with channels in front of space that sums over channels."""
    return len(plan.reductions()) == 1 and layout_of_channels(plan.group) in ("NCW", "NCHW")


def read(plan: Plan) -> Convolution:
    """`conv[n, oc, .., ow]` with its padding before it and everything behind it fused."""
    reduction = plan.reductions()[0].name
    pad(plan)
    acc, store = accumulators_of(plan, reduction)
    loops = plan.steps.loops(store)
    return Convolution(acc, store, loops, tuple(plan.extent(store, loop) for loop in loops))


def decide(plan: Plan, found: Convolution, pick: Decider) -> Tiles:
    decide_convolution(plan, pick)
    core, lanes = plan.core, plan.vector_lanes
    _, outputs, *lines, last = found.extents
    together = _channels_of_group(plan, outputs)
    most = core.register_count // 4
    reason = f"one for every fourth register at most, and no rest of {together}"
    channels = pick("channels", dividing_tile(together, most), range(1, most + 1), reason)
    widths = core.widths(tuple(range(core.most_nchw_vectors, 0, -1)))
    best = fitting_block(widths, last) if isinstance(last, int) else lanes
    columns = pick("columns", best, widths, f"leaves the fewest lanes empty of {last} columns; the widest of equals")
    most = max(1, core.register_count // 2 // (channels * (columns // lanes)))
    rows = 1
    for extent in lines:
        rows = pick("rows", dividing_tile(extent, most), range(1, most + 1), "at most half of the registers sum")
    outside, reason = _rows_outside(plan)
    return Tiles(channels, columns, rows, pick("rows_outside", outside, (False, True), reason))


def _convolution(plan: Plan) -> Call:
    """The group's convolution."""
    return next(call for call, _ in plan.group.anchors if isinstance(call.attrs, (Conv1DAttributes, Conv2DAttributes)))


def _groups(plan: Plan) -> int:
    attributes = _convolution(plan).attrs
    assert isinstance(attributes, (Conv1DAttributes, Conv2DAttributes))
    return attributes.groups


def _channels_of_group(plan: Plan, channels: IntExpr) -> IntExpr:
    """Output channels that read the same input channels."""
    return channels // _groups(plan) if isinstance(channels, int) else channels


def _rows_outside(plan: Plan) -> tuple[bool, str]:
    """Whether row tiles are better around channel tiles, and why."""
    if _groups(plan) > 1:
        return False, "each group of channels reads data of its own"
    types = [argument.checked_type for argument in _convolution(plan).args]
    data, weight = (product(each.shape) if isinstance(each, TensorType) else None for each in types)
    less = isinstance(data, int) and isinstance(weight, int) and weight < data
    return less, f"weights are {'' if less else 'not known to be '}smaller than the data"


def build(plan: Plan, found: Convolution, tiles: Tiles) -> None:
    s, acc, store = plan.steps, found.acc, found.store
    batch, channels, *lines, columns = found.loops
    channel_outer, channel = plan.tile(store, channels, tiles.channels)
    column_outer, column = plan.tile(store, columns, tiles.columns)
    cut = [plan.tile(store, line, tiles.rows) for line in lines]
    row_outer = [loop for outer, _ in cut for loop in outer]
    by_rows = (*row_outer, *channel_outer) if tiles.rows_outside else (*channel_outer, *row_outer)
    outer = (batch, *by_rows, *column_outer)
    tile = (channel, *(row for _, row in cut))
    s.reorder(store, *outer, *tile, column)
    operation = plan.compute(acc)
    innermost = plan.parallelize(store, outer, plan.iterations(acc), plan.core.tiled_products)
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    results = [axis.name for axis in operation.axes]
    s.reorder(acc, *(axis.name for axis in operation.reduce_axes), *results)
    for stage, unrolled, lanes in ((acc, results[:-1], results[-1]), (store, tile, column)):
        plan.unroll(stage, unrolled)
        vectors, lane = s.split(stage, lanes, factor=plan.vector_lanes)
        s.unroll(stage, vectors)
        s.vectorize(stage, lane)


CONVOLUTION_NCHW = Family("conv_nchw", "a convolution with channels in front of space", is_nchw, read, decide, build)

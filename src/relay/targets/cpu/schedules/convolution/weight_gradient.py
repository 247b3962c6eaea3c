"""Gradients of convolutions by their kernel, over NHWC data: a product of matrices for each tap, summed over pixels.

    gradient[i, kh, kw, o] += data[n, y·stride + kh, x·stride + kw, i] · grad[n, y, x, o]     over n, y, x

Loops: tiles of input channels · taps · panels of output channels · images, rows, columns · (channels × channels,
unrolled into registers). Of a depthwise convolution, which has one input channel for each output, a tile is all taps of
a few vectors of channels. Data are put into their padding beforehand, once for all.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ops.nn.conv_backward_weight import Conv2DBackwardWeightAttributes
from relay.targets.cpu.schedules.accumulation import accumulate
from relay.targets.cpu.schedules.family import Decider, Family
from relay.targets.cpu.schedules.padding import copies_of_data, schedule_copies
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, loops_as_read, product
from relay.targets.cpu.schedules.register_tiles import decide_rows, decide_width


@frozen
class WeightGradient:
    """A group around such a gradient: the copies of its data, the stage that accumulates and the one that stores; the
    loops of the latter as the former has its axes. `taps`: of a depthwise convolution, else 0."""

    copies: tuple[str, ...]
    acc: str
    store: str
    loops: tuple[str, ...]
    inputs: IntExpr
    outputs: IntExpr
    taps: int


@frozen
class Tiles:
    """A register tile: `rows` input channels, or all taps where that is 0, by `width` output channels."""

    width: int
    rows: int


def is_weight_gradient(plan: Plan) -> bool:
    """Whether the group is the gradient of a convolution over NHWC by its kernel, whose output channels are innermost;
    of a depthwise one, all taps of a vector of channels must fit the registers."""
    calls = [call for call, _ in plan.group.anchors if isinstance(call.attrs, Conv2DBackwardWeightAttributes)]
    if len(calls) != 1 or len(plan.reductions()) != 1:
        return False
    attributes = _attributes(plan)
    layout = attributes.data_layout, attributes.kernel_layout
    if attributes.groups == 1:
        return layout == ("NHWC", "IHWO")
    taps = product(attributes.kernel_size)
    return layout == ("NHWC", "HWOI") and isinstance(taps, int) and taps <= _most_sums(plan)


def _attributes(plan: Plan) -> Conv2DBackwardWeightAttributes:
    """Those of the group's gradient."""
    attributes = (call.attrs for call, _ in plan.group.anchors)
    return next(each for each in attributes if isinstance(each, Conv2DBackwardWeightAttributes))


def _most_sums(plan: Plan) -> int:
    """Vectors that accumulate at a time, beside one of each factor."""
    return plan.core.register_count - 2


def read(plan: Plan) -> WeightGradient:
    """`conv2d_backward_weight[i, kh, kw, o]`, or `[kh, kw, o, 1]`, with padding before it, all behind it fused."""
    reduction = plan.reductions()[0].name
    copies = copies_of_data(plan)
    plan.inline_formulas(keep=frozenset(copies))
    acc, store = accumulators_of(plan, reduction)
    extents = tuple(axis.extent for axis in plan.compute(acc).axes)
    loops = tuple(loops_as_read(plan, store, acc))
    if _attributes(plan).kernel_layout == "HWOI":
        down, across, outputs, inputs = extents
        taps = product((down, across))
        assert isinstance(taps, int)
        return WeightGradient(copies, acc, store, loops, inputs, outputs, taps)
    inputs, _, _, outputs = extents
    return WeightGradient(copies, acc, store, loops, inputs, outputs, 0)


def decide(plan: Plan, found: WeightGradient, pick: Decider) -> Tiles:
    if found.taps:
        most = _most_sums(plan) // found.taps
        widths = plan.core.widths(tuple(count for count in (2, 1) if count <= most))
        reason = f"registers hold {found.taps} taps of {most} vectors"
        return Tiles(pick("width", widths[0], widths, reason), 0)
    width = decide_width(plan, found.outputs, plan.core.product_vectors, pick)
    return Tiles(width, decide_rows(plan, found.inputs, width, pick))


def build(plan: Plan, found: WeightGradient, tiles: Tiles) -> None:
    s, acc, store = plan.steps, found.acc, found.store
    schedule_copies(plan, found.copies)
    if found.taps:
        down, across, channels, single = found.loops
        panels, lane = plan.tile(store, channels, tiles.width)
        outer, tile = panels, (single, down, across)
    else:
        inputs, down, across, outputs = found.loops
        panels, lane = plan.tile(store, outputs, tiles.width)
        tiles_of_rows, row = plan.tile(store, inputs, tiles.rows)
        outer, tile = (*tiles_of_rows, down, across, *panels), (row,)
    s.reorder(store, *outer, *tile, lane)
    innermost = plan.parallelize(store, outer, plan.iterations(acc), plan.core.tiled_products)
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    accumulate(plan, acc, columns=-2 if found.taps else -1)
    plan.unroll(store, tile)
    plan.vectorize_columns(store, lane, plan.vector_lanes)


WEIGHT_GRADIENT = Family(
    "weight_gradient", "the gradient of a convolution over NHWC by its kernel", is_weight_gradient, read, decide, build
)

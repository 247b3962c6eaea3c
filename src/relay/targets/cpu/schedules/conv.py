"""Convolutions over NHWC data: a register tile of pixels × output channels accumulates over the window.

Loops: output-channel panels and rows (the order depends on which is larger, weights or rows) · pixel tiles ·
window · input channels · (pixels × channels, unrolled into registers).
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.targets.cpu.schedules.matmul import accumulate, columns_of_tile, prefetch_panel
from relay.targets.cpu.schedules.padding import PADDING, pad
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, even_tile, product
from relay.targets.cpu.schedules.tiles import CONVOLUTION, most_rows, tile_width
from relay.te.operation import Compute


def schedule_conv2d(plan: Plan, reduction: str) -> None:
    """`conv2d[n, oh, ow, oc]` with its padding before it and everything behind it fused."""
    plan.inline_formulas(keep=PADDING)
    pad(plan)
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    batch, rows, columns, channels = (loop.name for loop in s.state.stage(store).loops)
    extents = [plan.extent(store, loop) for loop in (batch, rows, columns, channels)]
    lanes = plan.vector_lanes
    block = tile_width(plan, extents[3], CONVOLUTION)
    pixels = most_rows(plan, block)
    width = even_tile(extents[2], pixels)
    height = _rows_of_tile(extents[1], width, extents[2], pixels)
    channel_outer, channel_inner = plan.tile(store, channels, block)
    column_outer, column_inner = plan.tile(store, columns, width)
    row_outer, row_inner = (rows, None) if height == 1 else plan.tile(store, rows, height)
    panels = [loop for loop in (channel_outer,) if loop]
    row_loops = [loop for loop in (row_outer,) if loop]
    weights_first = _weights_fit(plan, acc, extents[3])
    outer = [batch, *(row_loops + panels if weights_first else panels + row_loops)]
    tile = [loop for loop in (row_inner, column_inner) if loop]
    s.reorder(store, *outer, *[loop for loop in (column_outer,) if loop], *tile, channel_inner)
    operation = s.state.stage(acc).operation
    assert isinstance(operation, Compute)
    work = product((*extents, *(axis.extent for axis in operation.reduce_axes)))
    innermost = plan.parallelize(store, [*outer, *([column_outer] if column_outer else [])], work)
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    inner_sum = accumulate(plan, acc, lanes)
    if channel_outer and not weights_first:
        prefetch_panel(plan, acc, inner_sum, channel_outer)
    for loop in tile:
        s.unroll(store, loop)
    columns_of_tile(plan, store, channel_inner, block, lanes)


def _rows_of_tile(rows: IntExpr, width: int, columns: IntExpr, pixels: int) -> int:
    """Rows that one tile takes: more than one where whole rows are short."""
    if not isinstance(rows, int) or width != columns:
        return 1
    return even_tile(rows, max(1, pixels // width))


def _weights_fit(plan: Plan, acc: str, channels: IntExpr) -> bool:
    """Whether all weights stay in half of the second-level cache while a row passes over them."""
    operation = plan.steps.state.stage(acc).operation
    assert isinstance(operation, Compute)
    weights_bytes = product((channels, *(axis.extent for axis in operation.reduce_axes))) * 4
    return isinstance(weights_bytes, int) and weights_bytes <= plan.target.l2_bytes // 2

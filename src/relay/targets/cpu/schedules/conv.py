"""Convolutions over NHWC data: a register tile of pixels × output channels accumulates over the window.

Loops: output-channel panels and rows (the order depends on which is larger, weights or rows) · pixel tiles ·
window · input channels · (pixels × channels, unrolled into registers).
"""

from __future__ import annotations

import math

from relay.arith.expr import IntExpr
from relay.base.diagnostics import CompilerBug
from relay.ir.types import TensorType
from relay.ops.conv import Conv2DAttributes
from relay.targets.cpu.schedules.matmul import accumulate, prefetch_panel
from relay.targets.cpu.schedules.padding import pad
from relay.targets.cpu.schedules.plan import (
    TILED_PRODUCTS_PER_NANOSECOND,
    Plan,
    accumulators_of,
    even_tile,
    loops_as_read,
    product,
)
from relay.targets.cpu.schedules.tiles import CONVOLUTION, most_rows, tile_width
from relay.te.operation import Compute

_WAY_BYTES = 4096  # of the first-level cache of x86-64 and AArch64 cores: sets × line
_WAYS = 8


def schedule_conv2d(plan: Plan, reduction: str) -> None:
    """`conv2d[n, oh, ow, oc]` with its padding before it and everything behind it fused."""
    pad(plan)
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    batch, rows, columns, channels = loops_as_read(plan, store, acc)
    turned = s.state.stage(store).loops[-1].name != channels
    extents = [plan.extent(store, loop) for loop in (batch, rows, columns, channels)]
    lanes = plan.vector_lanes
    block = tile_width(plan, extents[3], CONVOLUTION)
    pixels = min(most_rows(plan, block), _pixels_in_l1(plan))
    width = even_tile(extents[2], pixels)
    height = _rows_of_tile(extents[1], width, extents[2], pixels)
    channel_outer, channel_inner = plan.tile(store, channels, block)
    column_outer, column_inner = plan.tile(store, columns, width)
    row_outer, row_inner = (rows, None) if height == 1 else plan.tile(store, rows, height)
    panels = [loop for loop in (channel_outer,) if loop]
    row_loops = [loop for loop in (row_outer,) if loop]
    weights_first = _weights_fit(plan, acc, extents[3])
    outer = [batch, *(row_loops + panels if weights_first else panels + row_loops)]
    tile, vector = [loop for loop in (row_inner, column_inner) if loop], channel_inner
    if turned:
        tile, vector = [*tile[:-1], channel_inner], column_inner
    s.reorder(store, *outer, *[loop for loop in (column_outer,) if loop], *tile, vector)
    operation = s.state.stage(acc).operation
    assert isinstance(operation, Compute)
    work = product((*extents, *(axis.extent for axis in operation.reduce_axes)))
    innermost = plan.parallelize(
        store, [*outer, *([column_outer] if column_outer else [])], work, TILED_PRODUCTS_PER_NANOSECOND
    )
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    plan.prefetch_stores(store, innermost)
    inner_sum = accumulate(plan, acc, lanes)
    if channel_outer and not weights_first:
        prefetch_panel(plan, acc, inner_sum, channel_outer)
    for loop in tile:
        s.unroll(store, loop)
    plan.vectorize_columns(store, vector, lanes)


def _pixels_in_l1(plan: Plan) -> int:
    """How many pixels of a row can be in the first-level cache at once, at the distance that they have in memory.

    Addresses a multiple of 4096 bytes apart share one set of the cache; with many channels all pixels of a tile may.
    """
    for call, _ in plan.group.anchors:
        data = call.args[0].checked_type
        if isinstance(call.attrs, Conv2DAttributes) and isinstance(data, TensorType):
            distance = data.shape[-1] * call.attrs.strides[1] * data.dtype.item_bytes
            sets = _WAY_BYTES // math.gcd(distance, _WAY_BYTES) if isinstance(distance, int) else _WAY_BYTES
            return sets * (_WAYS - 1)
    raise CompilerBug("schedule", f"{plan.group.name} has no convolution")


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

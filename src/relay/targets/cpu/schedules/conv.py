"""Convolutions over NHWC data: a register tile of pixels × output channels accumulates over the window.

Loops: blocks of rows (of columns, in an image of one row) · panels of output channels · rows and pixel tiles · window ·
input channels · (pixels × channels, unrolled into registers). What a block of rows reads is in the second-level cache
while all panels pass over it; padding is put around it there, and the whole padded map is never made. What a depthwise
convolution gives to a 1×1 one is computed there too. Where weights stream from further away, and a panel is large, the
sums are taken in parts of the window: those of one part stay in the cache for all rows of the block, while the next
part is on its way.
"""

from __future__ import annotations

import math

from relay.arith.expr import IntExpr
from relay.ir.expr import Var
from relay.targets.cpu.schedules.matmul import accumulate, prefetch_panel
from relay.targets.cpu.schedules.padding import copies_of_data, maps_of, schedule_copies
from relay.targets.cpu.schedules.plan import (
    TILED_PRODUCTS_PER_NANOSECOND,
    Plan,
    accumulators_of,
    even_tile,
    loops_as_read,
    product,
)
from relay.targets.cpu.schedules.reduction import channels_in_tiles
from relay.targets.cpu.schedules.row_blocks import Shape, convolution_of, convolution_shape, rows_of_block, weights_fit
from relay.targets.cpu.schedules.tiles import CONVOLUTION, most_rows, tile_width
from relay.tir.buffer import Scope

_WAY_BYTES = 4096  # of the first-level cache of x86-64 and AArch64 cores: sets × line
_WAYS = 8
_LARGEST_SUMS_ON_STACK = 1 << 16  # bytes
_ITEM_BYTES = 4
_LINE_BYTES = 64


def schedule_conv2d(plan: Plan, reduction: str) -> None:
    """`conv2d[n, oh, ow, oc]` with its padding before it and everything behind it fused."""
    depthwise = _depthwise(plan, reduction)
    copies = () if depthwise else copies_of_data(plan)
    plan.inline_formulas(keep=frozenset((*copies, *depthwise)))
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    batch, rows, columns, channels = loops_as_read(plan, store, acc)
    turned = s.state.stage(store).loops[-1].name != channels
    shape = convolution_shape(plan, acc)
    block = tile_width(plan, shape.channels, CONVOLUTION)
    pixels = most_rows(plan, block)
    if not depthwise:
        copies = _spread(plan, acc, pixels, copies)
    if not copies:
        pixels = min(pixels, _pixels_in_l1(plan))
    width = even_tile(shape.columns, pixels)
    height = _rows_of_tile(shape.rows, width, shape.columns, pixels)
    is_row = shape.rows == 1
    lines, step = (_columns_as_rows(plan, acc, shape), width) if is_row else (shape, height)
    maps = len(copies) if is_row else maps_of(copies)
    block_rows = rows_of_block(plan, lines, step, plan.extent(store, batch), max(1, maps + len(depthwise)))
    row_block = None
    if block_rows is not None and not is_row:
        row_block, rows = plan.tile(store, rows, block_rows)
    elif block_rows is not None and _is_large(plan, shape):
        row_block, columns = plan.tile(store, columns, block_rows)
    channel_outer, channel_inner = plan.tile(store, channels, block)
    column_outer, column_inner = plan.tile(store, columns, width)
    row_outer, row_inner = (rows, None) if height == 1 else plan.tile(store, rows, height)
    tile, vector = [loop for loop in (row_inner, column_inner) if loop], channel_inner
    if turned:
        tile, vector = [*tile[:-1], channel_inner], column_inner
    blocks = [loop for loop in (batch, row_block) if loop]
    inside = [loop for loop in (channel_outer, row_outer, column_outer) if loop]
    s.reorder(store, *blocks, *inside, *tile, vector)
    work = plan.iterations(acc)
    if row_block:
        place = plan.parallelize(store, blocks, work, TILED_PRODUCTS_PER_NANOSECOND)
        schedule_copies(plan, copies, store, place)
        _schedule_depthwise(plan, depthwise, store, place)
        innermost = inside[-1] if inside else place
    else:
        schedule_copies(plan, copies)
        _schedule_depthwise(plan, depthwise)
        innermost = plan.parallelize(store, [*blocks, *inside], work, TILED_PRODUCTS_PER_NANOSECOND)
    assert innermost is not None
    panel = next((loop.name for loop in s.state.stage(store).loops if loop.name == channel_outer), None)
    if panel is not None and _takes_parts(plan, shape, block, block_rows):
        _sum_in_parts(plan, store, acc, panel, height, width)
    else:
        s.compute_at(acc, store, innermost)
        plan.prefetch_stores(store, innermost)
        inner_sum = accumulate(plan, acc, plan.vector_lanes)
        if panel is not None and not weights_fit(plan, shape):
            prefetch_panel(plan, acc, inner_sum, plan.output_name, panel)
    for loop in tile:
        s.unroll(store, loop)
    plan.vectorize_columns(store, vector, plan.vector_lanes)


def _depthwise(plan: Plan, reduction: str) -> tuple[str, ...]:
    """The depthwise convolution in front of a 1×1 one: the stage that accumulates, and the one that is read; nothing
    where there is none."""
    others = [stage.name for stage in plan.reductions() if stage.name != reduction]
    if not others:
        return ()
    (sums,) = others
    for read in plan.formulas_read_by(reduction):
        plan.steps.set_scope(sums, Scope.REGISTER)
        return sums, read
    return plan.steps.cache_write(sums, Scope.REGISTER), sums


def _schedule_depthwise(plan: Plan, stages: tuple[str, ...], store: str = "", loop: str | None = None) -> None:
    """At the root, or for what is read in an iteration of `loop` of `store`: then padding is never stored, and what is
    between the two convolutions stays in the second-level cache."""
    if stages:
        sums, read = stages
        if loop is not None:
            plan.steps.compute_at(read, store, loop)
        channels_in_tiles(plan, sums, read, is_part=loop is not None)


def _takes_parts(plan: Plan, shape: Shape, block: int, block_rows: int | None) -> bool:
    """Whether one panel of weights and the next would crowd the data of a block out of the second-level cache, and the
    sums of a panel over a block are few enough to be kept meanwhile."""
    rows = shape.rows if block_rows is None else block_rows
    sums = product((rows, shape.columns, block * _ITEM_BYTES))
    panel = product((block, shape.weight_bytes))
    large = isinstance(panel, int) and panel > plan.target.cache_bytes[1] // 4
    return large and shape.taps_down > 1 and isinstance(sums, int) and sums <= _LARGEST_SUMS_ON_STACK


def _sum_in_parts(plan: Plan, store: str, sums: str, panel: str, height: int, width: int) -> None:
    """The sums of a panel, of all rows of a block, in a buffer: a row of the window is added to all of them before the
    next, which is asked for meanwhile."""
    s = plan.steps
    down = next(loop.name for loop in s.state.stage(sums).loops if loop.is_reduction)
    part = s.rfactor(sums, down)
    for stage, scope in ((sums, Scope.LOCAL), (part, Scope.REGISTER)):
        s.set_scope(stage, scope)
    s.compute_at(sums, store, panel)
    batch, rows, columns, channels = [loop.name for loop in s.state.stage(sums).loops if not loop.is_reduction]
    row_outer, row = (rows, None) if height == 1 else s.split(sums, rows, factor=height)
    column_outer, column = s.split(sums, columns, factor=width)
    tile = [loop for loop in (row, column) if loop]
    s.reorder(sums, down, batch, row_outer, column_outer, *tile, channels)
    s.compute_at(part, sums, column_outer)
    inner_sum = accumulate(plan, part, plan.vector_lanes, columns=-2)
    prefetch_panel(plan, part, inner_sum, sums, down)
    for loop in tile:
        s.unroll(sums, loop)
    plan.vectorize_columns(sums, channels, plan.vector_lanes)


def _columns_as_rows(plan: Plan, acc: str, shape: Shape) -> Shape:
    """The shape of a convolution of one row, turned: blocks are of columns then."""
    operation = plan.compute(acc)
    attributes, _, data = convolution_of(plan)
    taps = operation.reduce_axes[1].extent
    return Shape(
        shape.columns, 1, shape.channels,
        (taps - 1) * attributes.dilation[1] + 1 if isinstance(taps, int) else 1,
        attributes.strides[1],
        product((data.shape[3], data.dtype.item_bytes)),
        product((shape.channels, data.dtype.item_bytes)),
        shape.weight_bytes,
    )  # fmt: skip


def _spread(plan: Plan, acc: str, pixels: int, copies: tuple[str, ...]) -> tuple[str, ...]:
    """The copies of the data, with one more where too few pixels would be in the cache at once at the distance that
    they have. In the last copy they are further apart then."""
    if _pixels_in_l1(plan) >= pixels:
        return copies
    attributes, data, _ = convolution_of(plan)
    if not copies and isinstance(data, Var) and attributes.strides == (1, 1):
        copies = (plan.steps.cache_read(data.name_hint, Scope.GLOBAL, (acc,)),)
    if copies:
        plan.steps.leave_gap(copies[-1], _LINE_BYTES // _ITEM_BYTES)
    return copies


def _pixels_in_l1(plan: Plan) -> int:
    """How many pixels of a row can be in the first-level cache at once, at the distance that they have in memory.

    Addresses a multiple of 4096 bytes apart share one set of the cache; with many channels all pixels of a tile may.
    """
    attributes, _, data = convolution_of(plan)
    distance = data.shape[-1] * attributes.strides[1] * data.dtype.item_bytes
    sets = _WAY_BYTES // math.gcd(distance, _WAY_BYTES) if isinstance(distance, int) else _WAY_BYTES
    return sets * (_WAYS - 1)


def _rows_of_tile(rows: IntExpr, width: int, columns: IntExpr, pixels: int) -> int:
    """Rows that one tile takes: more than one where whole rows are short."""
    if not isinstance(rows, int) or width != columns:
        return 1
    return even_tile(rows, max(1, pixels // width))


def _is_large(plan: Plan, shape: Shape) -> bool:
    """Whether one row is more than the second-level cache holds. Only then is it worth reading weights once more for
    each of its blocks."""
    return isinstance(shape.row_bytes, int) and shape.row_bytes > plan.target.cache_bytes[1]

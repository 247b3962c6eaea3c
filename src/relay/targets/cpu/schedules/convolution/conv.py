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
from relay.base.frozen import frozen
from relay.ir.expr import Var
from relay.lower.kernels.group import Group
from relay.ops.nn.conv import Conv2DAttributes
from relay.targets.cpu.schedules.accumulation import accumulate, prefetch_panel
from relay.targets.cpu.schedules.convolution.convolutions import decide_convolution
from relay.targets.cpu.schedules.convolution.windows import layout_of_channels
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.padding import copies_of_data, maps_of, schedule_copies
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, even_tile, loops_as_read, product
from relay.targets.cpu.schedules.reduction import ChannelTiles, channels_in_tiles, decide_channel_tiles
from relay.targets.cpu.schedules.register_tiles import decide_width, most_rows, packed_weight
from relay.targets.cpu.schedules.row_blocks import Shape, convolution_of, convolution_shape, rows_of_block, weights_fit
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope

_ITEM_BYTES = 4
_MOST_BLOCKS = 32  # that a choice may cut rows into


@frozen
class Convolution:
    """A group around a convolution: the copies of its data, or the stages of a depthwise one in front of it; the stage
    that accumulates and the one that stores, and the loops of the latter, in the order in which results are read."""

    copies: tuple[str, ...]
    depthwise: tuple[str, ...]
    acc: str
    store: str
    loops: tuple[str, ...]
    shape: Shape

    @property
    def is_row(self) -> bool:
        """Whether the image is one row: blocks are of columns then."""
        return self.shape.rows == 1


@frozen
class Tiles:
    """A register tile is `rows` × `columns` pixels of `width` channels. `block` rows of the result, or columns of one
    row, are computed together; 0: all. `spread`: pixels are put further apart. `parts`: sums are taken in parts of the
    window. `images`: how many whole images are in a tile, and all of them pass over a panel before the next; 0: each
    image passes over all panels. `depthwise`: the tiles of a depthwise convolution in front."""

    width: int
    spread: bool
    columns: int
    rows: int
    block: int
    parts: bool
    images: int
    depthwise: ChannelTiles | None


def is_separable(plan: Plan) -> bool:
    """Whether the group is a depthwise convolution and the 1×1 convolution of its result."""
    return sum(isinstance(call.attrs, Conv2DAttributes) for call, _ in plan.group.anchors) > 1


def is_convolution(plan: Plan) -> bool:
    """Whether the group is a convolution over NHWC data that sums over channels."""
    if len(plan.reductions()) != 1:
        return False
    return layout_of_channels(plan.group, groups=False) == "NHWC" or _is_packed_by_groups(plan)


def _is_packed_by_groups(plan: Plan) -> bool:
    """Whether the convolution has groups, and its weights are packed in blocks that lie in one of them."""
    return _layouts(plan.group) == ["NHWC"] and packed_weight(plan) is not None


def _layouts(group: Group) -> list[str]:
    return [call.attrs.data_layout for call, _ in group.anchors if isinstance(call.attrs, Conv2DAttributes)]


def read(plan: Plan) -> Convolution:
    """`conv2d[n, oh, ow, oc]` with its padding before it and everything behind it fused."""
    reduction = plan.reductions()[-1].name
    depthwise = _depthwise(plan, reduction)
    copies = () if depthwise else copies_of_data(plan)
    plan.inline_formulas(keep=frozenset((*copies, *depthwise)))
    acc, store = accumulators_of(plan, reduction)
    loops = tuple(loops_as_read(plan, store, acc))
    return Convolution(copies, depthwise, acc, store, loops, convolution_shape(plan, acc))


def decide(plan: Plan, found: Convolution, pick: Decider) -> Tiles:
    decide_convolution(plan, pick)
    shape = found.shape
    width = decide_width(plan, shape.channels, plan.core.convolution_vectors, pick)
    pixels = most_rows(plan.core, width)
    in_l1 = _pixels_in_l1(plan)
    spread = False
    if not found.depthwise and _can_spread(plan, found):
        reason = f"{min(in_l1, pixels)} of {pixels} pixels of a tile are in the first-level cache at once"
        spread = pick("spread", in_l1 < pixels, (False, True), reason)
    if not found.copies and not spread:
        pixels = min(pixels, in_l1)
    reason = f"even parts of {shape.columns} columns, at most {pixels}"
    columns = pick("columns", even_tile(shape.columns, pixels), range(1, pixels + 1), reason)
    best = _rows_of_tile(shape.rows, columns, shape.columns, pixels)
    rows = pick("rows", best, range(1, best + 1), f"a tile has room for {best} of rows of {shape.columns} pixels")
    block, reason = _block(plan, found, rows, columns, spread)
    step, extent = (columns, shape.columns) if found.is_row else (rows, shape.rows)
    cuts = range(step, extent, step)[:_MOST_BLOCKS] if isinstance(extent, int) else ()
    block = pick("block", block, (0, *cuts), reason)
    can, best, reason = _takes_parts(plan, found, width, block)
    parts = pick("parts", best, (False, True) if can else (), reason)
    images = 0
    if not block and not parts:
        best, options, reason = _images(plan, found, rows * columns, pixels)
        images = pick("images", best, options, reason) if options else 0
    depthwise = None
    if found.depthwise:
        sums, stage = found.depthwise
        depthwise = decide_channel_tiles(plan, sums, stage, (), pick, "depthwise_")
    return Tiles(width, spread, columns, rows, block, parts, images, depthwise)


def build(plan: Plan, found: Convolution, tiles: Tiles) -> None:
    s, acc, store = plan.steps, found.acc, found.store
    copies = _spread(plan, found) if tiles.spread else found.copies
    batch, rows, columns, channels = found.loops
    transposes = s.loops(store)[-1] != channels
    row_block: tuple[str, ...] = ()
    if tiles.block and found.is_row:
        row_block, columns = plan.tile(store, columns, tiles.block)
    elif tiles.block:
        row_block, rows = plan.tile(store, rows, tiles.block)
    channel_outer, vector = plan.tile(store, channels, tiles.width)
    column_outer, column = plan.tile(store, columns, tiles.columns)
    tile = [column]
    row_outer: tuple[str, ...] = (rows,)
    if tiles.rows > 1:
        row_outer, row = plan.tile(store, rows, tiles.rows)
        tile = [row, column]
    if transposes:
        vector, tile[-1] = tile[-1], vector
    blocks, inside = (batch, *row_block), (*channel_outer, *row_outer, *column_outer)
    if tiles.images:
        image_outer, image = plan.tile(store, batch, tiles.images) if tiles.images > 1 else ((batch,), "")
        tile = [image, *tile] if image else tile
        blocks, inside = (), (*channel_outer, *image_outer, *row_outer, *column_outer)
    s.reorder(store, *blocks, *inside, *tile, vector)
    work = plan.iterations(acc)
    if row_block:
        place = plan.parallelize(store, blocks, work, plan.core.tiled_products)
        schedule_copies(plan, copies, store, place)
        _schedule_depthwise(plan, found, tiles, place)
        innermost = inside[-1] if inside else place
    else:
        schedule_copies(plan, copies)
        _schedule_depthwise(plan, found, tiles)
        innermost = plan.parallelize(store, (*blocks, *inside), work, plan.core.tiled_products)
    assert innermost is not None
    panels = next((plan.innermost_over(store, loop) for loop in channel_outer), None)
    if panels is not None and tiles.parts:
        _sum_in_parts(plan, found, panels, tiles)
    else:
        s.compute_at(acc, store, innermost)
        plan.prefetch_stores(store, innermost)
        summing = accumulate(plan, acc)
        if panels is not None and not weights_fit(plan, found.shape):
            prefetch_panel(plan, summing, plan.output_name, panels)
    plan.unroll(store, tile)
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


def _schedule_depthwise(plan: Plan, found: Convolution, tiles: Tiles, loop: str | None = None) -> None:
    """At the root, or for what is read in an iteration of `loop` of what stores: then padding is never stored, and what
    is between the two convolutions stays in the second-level cache."""
    if tiles.depthwise is not None:
        sums, stage = found.depthwise
        if loop is not None:
            plan.steps.compute_at(stage, found.store, loop)
        channels_in_tiles(plan, sums, stage, tiles.depthwise, is_part=loop is not None)


def _block(plan: Plan, found: Convolution, rows: int, columns: int, spread: bool) -> tuple[int, str]:
    """Rows of a block (columns, of one row), and why; 0 where all are one block."""
    shape = found.shape
    copies = len(found.copies) or int(spread)
    lines, step = (_columns_as_rows(plan, found.acc, shape), columns) if found.is_row else (shape, rows)
    maps = copies if found.is_row or not found.copies else maps_of(found.copies)
    batch = plan.extent(found.store, found.loops[0])
    block = rows_of_block(plan, lines, step, batch, max(1, maps + len(found.depthwise)))
    if block is None:
        return 0, "blocks are not needed, or threads would not have equal shares of them"
    if found.is_row and not _is_large(plan, shape):
        return 0, "a row fits the second-level cache, and weights are read once"
    return block, "what a block reads takes half of the second-level cache, and threads have equal shares"


def _images(plan: Plan, found: Convolution, tile: int, pixels: int) -> tuple[int, range, str]:
    """How many images a tile of so many pixels of one takes, of at most `pixels`; what it may take, and why. Nothing
    where weights stay in the second-level cache, or the data of all images do not: weights are read for each then."""
    shape, batch = found.shape, plan.extent(found.store, found.loops[0])
    data = product((batch, shape.rows, shape.row_bytes, shape.stride_down))
    if not isinstance(batch, int) or not isinstance(data, int) or batch == 1 or found.depthwise:
        return 0, range(0), ""
    if weights_fit(plan, shape) or data > plan.core.l2_bytes // 2:
        return 0, range(0), ""
    whole = tile == product((shape.rows, shape.columns))
    most = pixels // tile if whole else 1
    reason = "all images pass over a panel of weights, which are too many for the second-level cache"
    return even_tile(batch, most), range(most + 1), reason


def _takes_parts(plan: Plan, found: Convolution, width: int, block: int) -> tuple[bool, bool, str]:
    """Whether sums may be taken in parts: those of a panel over a block are few enough to be kept meanwhile. Whether
    it is worth it, and why: one panel of weights and the next would crowd the data of a block out of the cache."""
    shape, (first, *_) = found.shape, plan.compute(found.acc).reduce_axes
    sums = product((block or shape.rows, shape.columns, width * _ITEM_BYTES))
    panel = product((width, shape.weight_bytes))
    can = first.name == "rh" and shape.taps_down > 1 and isinstance(sums, int) and sums <= plan.core.stack_bytes
    if not can:
        return False, False, "the window is one row, or not what is summed over first, or sums of a block are many"
    large = isinstance(panel, int) and panel > plan.core.l2_bytes // 4
    return (
        can,
        large,
        f"a panel of weights is {'more' if large else 'less'} than a quarter of the second-level cache",
    )


def _sum_in_parts(plan: Plan, found: Convolution, panel: str, tiles: Tiles) -> None:
    """The sums of a panel, of all rows of a block, in a buffer: a row of the window is added to all of them before the
    next, which is asked for meanwhile."""
    s, sums = plan.steps, found.acc
    down = next(loop.name for loop in s.state.stage(sums).loops if loop.is_reduction)
    part = s.rfactor(sums, down)
    for stage, scope in ((sums, Scope.LOCAL), (part, Scope.REGISTER)):
        s.set_scope(stage, scope)
    s.compute_at(sums, found.store, panel)
    batch, rows, columns, channels = [loop.name for loop in s.state.stage(sums).loops if not loop.is_reduction]
    tile: list[str] = []
    if tiles.rows > 1:
        rows, row = s.split(sums, rows, factor=tiles.rows)
        tile.append(row)
    column_outer, column = s.split(sums, columns, factor=tiles.columns)
    tile.append(column)
    s.reorder(sums, batch, down, rows, column_outer, *tile, channels)
    s.compute_at(part, sums, column_outer)
    prefetch_panel(plan, accumulate(plan, part, columns=-2), sums, down)
    plan.unroll(sums, tile)
    plan.vectorize_columns(sums, channels, plan.vector_lanes)


def _columns_as_rows(plan: Plan, acc: str, shape: Shape) -> Shape:
    """The shape of a convolution of one row, transposed: blocks are of columns then."""
    operation = plan.compute(acc)
    attributes, _, data = convolution_of(plan)
    taps = next(axis.extent for axis in operation.reduce_axes if axis.name == "rw")
    return Shape(
        shape.columns, 1, shape.channels,
        (taps - 1) * attributes.dilation[1] + 1 if isinstance(taps, int) else 1,
        attributes.strides[1],
        product((data.shape[3], data.dtype.item_bytes)),
        product((shape.channels, data.dtype.item_bytes)),
        shape.weight_bytes,
    )  # fmt: skip


def _can_spread(plan: Plan, found: Convolution) -> bool:
    """Whether there is a copy of the data whose pixels may be further apart, or it is worth making one."""
    attributes, data, _ = convolution_of(plan)
    return bool(found.copies) or (isinstance(data, Var) and attributes.strides == (1, 1))


def _spread(plan: Plan, found: Convolution) -> tuple[str, ...]:
    """The copies of the data, or one where there are none, the last with pixels further apart."""
    _, data, _ = convolution_of(plan)
    copies = found.copies
    if not copies and isinstance(data, Var):
        copies = (plan.steps.cache_read(data.name_hint, Scope.GLOBAL, (found.acc,)),)
    plan.steps.leave_gap(copies[-1], plan.core.line_bytes // _ITEM_BYTES)
    return copies


def _pixels_in_l1(plan: Plan) -> int:
    """How many pixels of a row can be in the first-level cache at once, at the distance that they have in memory; with
    many channels all pixels of a tile may share one set of it."""
    attributes, _, data = convolution_of(plan)
    way = plan.core.way_bytes
    distance = data.shape[-1] * attributes.strides[1] * data.dtype.item_bytes
    sets = way // math.gcd(distance, way) if isinstance(distance, int) else way
    return sets * (plan.core.l1_ways - 1)


def _rows_of_tile(rows: IntExpr, width: int, columns: IntExpr, pixels: int) -> int:
    """Rows that one tile takes: more than one where whole rows are short."""
    if not isinstance(rows, int) or width != columns:
        return 1
    return even_tile(rows, max(1, pixels // width))


def _is_large(plan: Plan, shape: Shape) -> bool:
    """Whether one row is more than the second-level cache holds. Only then is it worth reading weights once more for
    each of its blocks."""
    return isinstance(shape.row_bytes, int) and shape.row_bytes > plan.core.l2_bytes


CONVOLUTION = Family("conv", "a convolution over NHWC that sums over channels", is_convolution, read, decide, build)
SEPARABLE = Family("separable", "a depthwise convolution, and a 1×1 one of it", is_separable, read, decide, build)

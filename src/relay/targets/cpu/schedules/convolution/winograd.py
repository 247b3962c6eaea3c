"""Convolutions of 3×3 by Winograd's minimal filtering: transform, a product for each point of a tile, transform back.

Loops: blocks of tiles · groups of panels of output channels; in each, the products of all points, a register tile of
tiles × channels at a time, and then results, tile by tile. The transformed data of a block stay in the second-level
cache while all panels pass over them, and the products of a group until results are made of them. Where no block of
enough tiles fits, or blocks are too few to share out, all data are transformed beforehand, and threads share blocks and
groups. Transforms are unrolled, in vectors of channels: the points of a tile are in registers. The padded data are made
beforehand: guards of padding in loops around all of this would be three copies of it.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ops.nn.winograd import MINIMAL, WinogradAttributes
from relay.targets.cpu.schedules.accumulation import accumulate, prefetch_panel
from relay.targets.cpu.schedules.convolution.convolutions import decide_convolution
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.padding import copies_of_data, schedule_copies
from relay.targets.cpu.schedules.plan import Plan, even_tile, largest_share, least, product
from relay.targets.cpu.schedules.register_tiles import decide_width, most_rows, packed_weight
from relay.targets.cpu.schedules.rows import schedule_apart
from relay.te.operation import Compute, scalar_indices
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope
from relay.tir.expr import Load

_HALVES, _DATA = "winograd_rows", "winograd_data"
_PRODUCTS, _COLUMNS, _RESULT = "winograd_products", "winograd_columns", "winograd_result"


@frozen
class Shape:
    """What a convolution computes: tiles down and across, and channels; `width` is that of a register tile."""

    tile: int
    batch: IntExpr
    down: int
    across: int
    depth: int
    channels: int
    width: int
    item_bytes: int

    @property
    def points(self) -> int:
        return MINIMAL[self.tile].points ** 2

    @property
    def tiles(self) -> int:
        return self.down * self.across

    @property
    def panels(self) -> int:
        return -(-self.channels // self.width)


@frozen
class Blocks:
    """Tiles of a block, down and across, and the panels of a group. `apart`: all data are transformed beforehand."""

    apart: bool
    down: int
    across: int
    panels: int

    @property
    def tiles(self) -> int:
        return self.down * self.across


def is_winograd(plan: Plan) -> bool:
    return any(isinstance(call.attrs, WinogradAttributes) for call, _ in plan.group.anchors)


@frozen
class Winograd:
    """The copies of the data, the stage that stores results, and what is computed."""

    copies: tuple[str, ...]
    store: str
    shape: Shape


def read(plan: Plan) -> Winograd | None:
    """`winograd_result[n, h, w, k]` with the padding in front of it, and everything elementwise behind it fused. None
    where other extents than the batch are unknown."""
    known = (*_extents(plan, _DATA)[1:], *_extents(plan, _RESULT)[1:])
    if not all(isinstance(extent, int) for extent in known):
        return None
    copies = copies_of_data(plan)
    store = plan.output_name if _is_stored_in_order(plan) else _RESULT
    shape = _shape(plan)
    plan.inline_formulas(keep=frozenset((*copies, _HALVES, _DATA, _COLUMNS, store)))
    return Winograd(copies, store, shape)


def decide(plan: Plan, found: Winograd | None, pick: Decider) -> Blocks | None:
    """Blocks whose transformed data and products, of two panels, take half of the second-level cache, where these have
    tiles enough and can be shared out evenly: what a thread has transformed it reads itself. Else all data are
    transformed beforehand, for blocks whose products take a quarter of that cache. None, one stage after another, for
    extents that are unknown."""
    decide_convolution(plan, pick)
    if found is None:
        return None
    shape = found.shape
    pick("width", shape.width, (), "the blocks in which weights are packed")
    quarter = plan.core.l2_bytes // 4 // (shape.points * shape.item_bytes)
    together = _even_block(plan, shape, 2 * quarter // (shape.depth + 2 * shape.width))
    reason = "blocks of enough tiles" + ("" if together else " do not") + " fit the second-level cache in equal shares"
    apart = pick("apart", together is None, (False, True), reason)
    down, across = together if together is not None and not apart else _cut(shape, quarter // shape.width)
    reason = f"{'products' if apart else 'data and products'} of a block stay in the second-level cache"
    down = pick("down", down, range(1, shape.down + 1), reason)
    across = pick("across", across, range(1, shape.across + 1), reason)
    panels = _together(shape, quarter // (down * across))
    while apart and panels > 1 and not plan.shares_out(_parts(shape, down, across) * -(-shape.panels // panels)):
        panels -= 1
    reason = "products of a group of panels take a quarter of that cache" + (", and threads have work" if apart else "")
    return Blocks(apart, down, across, pick("panels", panels, range(1, shape.panels + 1), reason))


def build(plan: Plan, found: Winograd | None, blocks: Blocks | None) -> None:
    if found is None or blocks is None:
        schedule_apart(plan)
        return
    store, shape = found.store, found.shape
    place, panels, tile = _results(plan, store, shape, blocks)
    schedule_copies(plan, found.copies)
    if not blocks.apart:
        plan.steps.compute_at(_DATA, store, place)
    _products(plan, store, panels, shape, blocks)
    _columns(plan, store, tile)
    _data(plan, shape, blocks)
    for stage in plan.steps.state.stages:
        if plan.is_output(stage) and stage.name != store:
            schedule_formula(plan, stage.name)


def _extents(plan: Plan, stage: str) -> tuple[IntExpr, ...]:
    return tuple(axis.extent for axis in plan.compute(stage).axes)


def _shape(plan: Plan) -> Shape:
    tile = next(call.attrs.tile_size for call, _ in plan.group.anchors if isinstance(call.attrs, WinogradAttributes))
    batch, *rest = _extents(plan, _RESULT)
    rows, columns, channels, depth = (
        extent for extent in (*rest, _extents(plan, _DATA)[-1]) if isinstance(extent, int)
    )  # fmt: skip
    packed = packed_weight(plan)
    blocks = () if packed is None else packed.shape[-1:]
    width = next((block for block in blocks if isinstance(block, int)), None)
    if width is None:
        width = decide_width(plan, channels, plan.core.convolution_vectors, Decider())
    item_bytes = plan.steps.state.stage(_DATA).outputs[0].dtype.item_bytes
    return Shape(tile, batch, -(-rows // tile), -(-columns // tile), depth, channels, width, item_bytes)


def _is_stored_in_order(plan: Plan) -> bool:
    """Whether there is one output, and it is made of results element by element: they need not be stored themselves."""
    made = set(plan.steps.state.stage(_RESULT).outputs)
    for stage in plan.steps.state.stages:
        loads = [load for load in stage.reads() if load.buffer in made]
        if loads and isinstance(stage.operation, Compute):
            if not all(_is_element(load, stage.operation) for load in loads):
                return False
            made.update(stage.outputs)
    return not plan.has_apart_outputs


def _is_element(load: Load, operation: Compute) -> bool:
    """Whether a load is of the element that a formula computes."""
    pairs = zip(scalar_indices(load), operation.axes, strict=False)
    return len(load.buffer.shape) == len(operation.axes) and all(
        index == axis or (index == 0 and axis.extent == 1) for index, axis in pairs
    )


def _even_block(plan: Plan, shape: Shape, most: int) -> tuple[int, int] | None:
    """A block of enough tiles, and at most so many, that can be shared out evenly."""
    for down, across in _cuts(plan, shape, most):
        if largest_share(shape.tiles, down * across, plan.threads, least(shape.batch)) <= plan.core.largest_share:
            return down, across
    return None


def _cuts(plan: Plan, shape: Shape, most: int) -> list[tuple[int, int]]:
    """Even blocks of enough tiles, and at most so many, in order of preference: large ones where the weights, which
    each block reads, are not all in the second-level cache, else small ones."""
    fewest = plan.core.products_hiding_a_weight
    if most < shape.across:
        down, across = _cut(shape, most)
        return [(down, across)] if down * across >= fewest else []
    downs = sorted({-(-shape.down // parts) for parts in range(1, shape.down + 1)})
    cuts = [(down, shape.across) for down in downs if fewest <= down * shape.across <= most]
    weight_bytes = shape.points * shape.depth * shape.channels * shape.item_bytes
    return cuts if weight_bytes <= plan.core.l2_bytes else cuts[::-1]


def _cut(shape: Shape, most: int) -> tuple[int, int]:
    """Tiles down and across of even blocks of at most so many."""
    if most >= shape.across:
        return _even(shape.down, most // shape.across), shape.across
    return 1, _even(shape.across, max(1, most))


def _even(extent: int, most: int) -> int:
    """The largest part, from `most` down to half of it, that leaves no rest: each rest is code of its own. Else parts
    as even as can be."""
    exact = (part for part in range(most, max(1, most // 2) - 1, -1) if extent % part == 0)
    return next(exact, even_tile(extent, most)) if extent > most else extent


def _parts(shape: Shape, down: int, across: int) -> IntExpr:
    return shape.batch * (-(-shape.down // down) * -(-shape.across // across))


def _together(shape: Shape, channels: int) -> int:
    """Panels of a group of at most so many channels, in groups of one size."""
    return even_tile(shape.panels, max(1, channels // shape.width))


def _results(plan: Plan, store: str, shape: Shape, blocks: Blocks) -> tuple[str, str, str]:
    """The loops over results. Gives those at which data are transformed, products summed, and one tile is made."""
    s = plan.steps
    batch, rows, columns, channels = s.loops(store)
    row_block, rows = plan.tile(store, rows, blocks.down * shape.tile)
    column_block, columns = plan.tile(store, columns, blocks.across * shape.tile)
    row_outer, row = plan.tile(store, rows, shape.tile)
    column_outer, column = plan.tile(store, columns, shape.tile)
    group, channels = plan.tile(store, channels, blocks.panels * shape.width)
    vectors, lanes = plan.tile(store, channels, plan.vector_lanes)
    outer = (batch, *row_block, *column_block)
    inside = (*row_outer, *column_outer, *vectors)
    s.reorder(store, *outer, *group, *inside, row, column, lanes)
    if blocks.apart:
        outer = (*outer, *group)
    work = product((shape.batch, shape.down * shape.across * shape.points * shape.depth * shape.channels))
    place = plan.parallelize(store, outer, work, plan.core.tiled_products)
    assert place is not None
    plan.unroll(store, (row, column))
    s.vectorize(store, lanes)
    panels = group[0] if group and not blocks.apart else place
    return place, panels, inside[-1] if inside else panels


def _products(plan: Plan, store: str, panels: str, shape: Shape, blocks: Blocks) -> None:
    """Points · panels of a group · register tiles: the weights of a point and a panel are one stretch of memory, used
    for all tiles of the block while the next is on its way."""
    s = plan.steps
    sums = s.cache_write(_PRODUCTS, Scope.REGISTER)
    s.compute_at(_PRODUCTS, store, panels)
    _, row, column, tiles, channels = s.loops(_PRODUCTS)
    rows = _even(blocks.tiles, most_rows(plan.core, shape.width))
    tile_outer, tile = s.split(_PRODUCTS, tiles, factor=rows)
    panel, channel = s.split(_PRODUCTS, channels, factor=shape.width)
    s.reorder(_PRODUCTS, row, column, panel, tile_outer, tile, channel)
    points = s.fuse(_PRODUCTS, s.fuse(_PRODUCTS, row, column), panel)
    s.compute_at(sums, _PRODUCTS, tile_outer)
    summing = accumulate(plan, sums)
    if shape.channels >= shape.width:  # else what is read of a panel is not one stretch
        prefetch_panel(plan, summing, _PRODUCTS, points)
    s.unroll(_PRODUCTS, tile)
    plan.vectorize_columns(_PRODUCTS, channel, plan.vector_lanes)


def _columns(plan: Plan, store: str, tile: str) -> None:
    """The products of a tile, transformed along columns."""
    s = plan.steps
    s.compute_at(_COLUMNS, store, tile)
    s.set_scope(_COLUMNS, Scope.REGISTER)
    *_, row, point, lanes = s.loops(_COLUMNS)
    plan.unroll(_COLUMNS, (row, point))
    s.vectorize(_COLUMNS, lanes)


def _data(plan: Plan, shape: Shape, blocks: Blocks) -> None:
    """The data of a tile, a vector of channels at a time, transformed along rows and then along columns."""
    s = plan.steps
    batch, row, column, tiles, channels = s.loops(_DATA)
    vectors, lanes = plan.tile(_DATA, channels, plan.vector_lanes)
    s.reorder(_DATA, batch, tiles, *vectors, row, column, lanes)
    plan.unroll(_DATA, (row, column))
    s.vectorize(_DATA, lanes)
    if blocks.apart:
        tiles = plan.parallelize(_DATA, [batch, tiles], product(_extents(plan, _DATA))) or tiles
    if shape.depth * shape.item_bytes % plan.core.spread_bytes == 0:
        s.leave_gap(_DATA, plan.core.line_bytes // shape.item_bytes)
    s.compute_at(_HALVES, _DATA, (tiles, *vectors)[-1])
    s.set_scope(_HALVES, Scope.REGISTER)
    batch, tiles, row, column, lanes = s.loops(_HALVES)
    s.reorder(_HALVES, batch, tiles, column, row, lanes)
    plan.unroll(_HALVES, (column, row))
    s.vectorize(_HALVES, lanes)


WINOGRAD = Family("winograd", "a convolution by Winograd's minimal filtering", is_winograd, read, decide, build)

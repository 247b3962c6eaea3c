"""Convolutions of 3×3 by minimal filtering: transform, a product for each point of a tile, transform back.

Loops: blocks of tiles · panels of output channels; in each, the products of all points, a register tile of tiles ×
channels at a time, and then results, tile by tile. The transformed data of a block stay in the second-level cache while
all panels pass over them, and the products of a panel until results are made of them. Where no block of enough tiles
fits, or too few blocks to share out, all data are transformed beforehand, and threads share blocks and panels.
Transforms are unrolled, in vectors of channels: their points are in registers.
"""

from __future__ import annotations

from dataclasses import dataclass

from relay.base.diagnostics import CompilerBug
from relay.ops.winograd import MINIMAL, WinogradAttributes
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.matmul import accumulate, prefetch_panel
from relay.targets.cpu.schedules.padding import copies_of_data, schedule_copies
from relay.targets.cpu.schedules.plan import TILED_PRODUCTS_PER_NANOSECOND, Plan, even_tile, product
from relay.targets.cpu.schedules.tiles import CONVOLUTION, most_rows, tile_width
from relay.te.operation import Compute, scalar_indices
from relay.tir.buffer import Scope
import os

_HALVES, _DATA = "winograd_rows", "winograd_data"
_PRODUCTS, _COLUMNS, _RESULT = "winograd_products", "winograd_columns", "winograd_result"
_LINE_BYTES = 64
_GAP_FOR = 512  # bytes: rows that are a multiple of this long are spread


@dataclass(frozen=True, slots=True)
class Shape:
    """What a convolution computes: tiles and channels, and those of one panel."""

    tile: int
    down: int
    across: int
    depth: int
    channels: int
    panel: int
    item_bytes: int

    @property
    def points(self) -> int:
        return MINIMAL[self.tile].points ** 2

    @property
    def multiply_adds(self) -> int:
        return self.points * self.down * self.across * self.depth * self.channels


@dataclass(frozen=True, slots=True)
class Blocks:
    """Tiles of a block, down and across; `apart`: the data are transformed beforehand."""

    down: int
    across: int
    apart: bool


def is_winograd(plan: Plan) -> bool:
    """Whether the group has such a convolution, of extents that are known."""
    return any(isinstance(call.attrs, WinogradAttributes) for call, _ in plan.group.anchors) and all(
        isinstance(extent, int) for name in (_DATA, _RESULT) for extent in _axes(plan, name)[1:]
    )


def _axes(plan: Plan, stage: str):
    operation = plan.steps.state.stage(stage).operation
    assert isinstance(operation, Compute)
    return [axis.extent for axis in operation.axes]


def schedule_winograd(plan: Plan) -> None:
    """`winograd_result[n, h, w, k]` with padding before it and what is elementwise behind it fused."""
    copies = copies_of_data(plan)
    store = plan.output_name if _is_stored_in_order(plan) else _RESULT
    shape = _shape(plan)
    plan.inline_formulas(keep=frozenset((*copies, _HALVES, _DATA, _COLUMNS, store)))
    after = [stage.name for stage in plan.steps.state.stages if store == _RESULT and plan.is_output(stage)]
    blocks = _blocks(plan, shape, _axes(plan, _RESULT if store == _RESULT else store)[0])
    place, panel, tiles = _results(plan, store, shape, blocks)
    if blocks.apart:
        schedule_copies(plan, copies)
    else:
        schedule_copies(plan, copies, store, place)
        plan.steps.compute_at(_DATA, store, place)
    _products(plan, store, panel, shape, blocks)
    _columns(plan, store, tiles)
    _data(plan, shape, blocks)
    for name in after:
        if name != store:
            schedule_formula(plan, name)


def _is_stored_in_order(plan: Plan) -> bool:
    """Whether one output is computed of results element by element, so that it may be stored instead of them."""
    state = plan.steps.state
    made = set(state.stage(_RESULT).outputs)
    for stage in state.stages:
        loads = [load for load in stage.reads() if load.buffer in made]
        if loads and isinstance(stage.operation, Compute):
            if any(scalar_indices(load) != stage.operation.axes for load in loads):
                return False
            made.update(stage.outputs)
    return not plan.has_apart_outputs


def _shape(plan: Plan) -> Shape:
    attributes = next(call.attrs for call, _ in plan.group.anchors if isinstance(call.attrs, WinogradAttributes))
    tile = attributes.tile_size
    _, rows, columns, channels = _axes(plan, _RESULT)
    depth = _axes(plan, _DATA)[-1]
    item = plan.steps.state.stage(_DATA).outputs[0].dtype.item_bytes
    width = tile_width(plan, channels, CONVOLUTION)
    return Shape(tile, -(-rows // tile), -(-columns // tile), depth, channels, width, item)


def _blocks(plan: Plan, shape: Shape, batch) -> Blocks:
    if os.environ.get("WBLK"):
        a, b, c = map(int, os.environ["WBLK"].split(","))
        return Blocks(min(a, shape.down), min(b, shape.across), bool(c))
    room = plan.target.cache_bytes[1] // 2 // (shape.points * shape.item_bytes)
    fit = room // (shape.depth + shape.panel)
    found = _cut(shape, fit)
    parts = -(-shape.down // found[0]) * -(-shape.across // found[1]) * batch
    if fit >= 14 and (plan.target.num_threads == 1 or plan.shares_out(parts)):
        return Blocks(*found, False)
    return Blocks(*_cut(shape, room // 2 // shape.panel), True)


def _cut(shape: Shape, most: int) -> tuple[int, int]:
    if most >= shape.across:
        return even_tile(shape.down, most // shape.across), shape.across
    return 1, even_tile(shape.across, max(1, most))


def _results(plan: Plan, store: str, shape: Shape, blocks: Blocks):
    s = plan.steps
    batch, rows, columns, channels = [loop.name for loop in s.state.stage(store).loops]
    row_block, rows = plan.tile(store, rows, blocks.down * shape.tile)
    column_block, columns = plan.tile(store, columns, blocks.across * shape.tile)
    row_outer, row = plan.tile(store, rows, shape.tile)
    column_outer, column = plan.tile(store, columns, shape.tile)
    panel, channels = plan.tile(store, channels, shape.panel)
    vectors, lanes = plan.tile(store, channels, plan.vector_lanes)
    outer = [loop for loop in (batch, row_block, column_block) if loop]
    inside = [loop for loop in (row_outer, column_outer, vectors) if loop]
    s.reorder(store, *outer, *[loop for loop in (panel,) if loop], *inside, row, column, lanes)
    if blocks.apart and panel:
        outer.append(panel)
    place = plan.parallelize(store, outer, product((shape.multiply_adds, plan.extent(store, batch))), TILED_PRODUCTS_PER_NANOSECOND)
    s.unroll(store, row)
    s.unroll(store, column)
    s.vectorize(store, lanes)
    here = place if panel is None or blocks.apart else panel
    return place, here, inside[-1] if inside else here


def _products(plan: Plan, store: str, panel: str, shape: Shape, blocks: Blocks) -> None:
    s = plan.steps
    acc = s.cache_write(_PRODUCTS, Scope.REGISTER)
    s.compute_at(_PRODUCTS, store, panel)
    _, p, q, tiles, channels = [loop.name for loop in s.state.stage(_PRODUCTS).loops]
    rows = even_tile(blocks.down * blocks.across, most_rows(plan, shape.panel))
    points = s.fuse(_PRODUCTS, p, q)
    outer, inner = s.split(_PRODUCTS, tiles, factor=rows)
    s.compute_at(acc, _PRODUCTS, outer)
    loop = accumulate(plan, acc, plan.vector_lanes)
    if not os.environ.get("NOPF"):
        prefetch_panel(plan, acc, loop, _PRODUCTS, points)
    s.unroll(_PRODUCTS, inner)
    plan.vectorize_columns(_PRODUCTS, channels, plan.vector_lanes)


def _columns(plan: Plan, store: str, tile: str) -> None:
    s = plan.steps
    s.compute_at(_COLUMNS, store, tile)
    s.set_scope(_COLUMNS, Scope.REGISTER)
    _, _, row, point, lanes = [loop.name for loop in s.state.stage(_COLUMNS).loops]
    s.unroll(_COLUMNS, row)
    s.unroll(_COLUMNS, point)
    s.vectorize(_COLUMNS, lanes)


def _data(plan: Plan, shape: Shape, blocks: Blocks) -> None:
    s = plan.steps
    batch, p, q, tiles, channels = [loop.name for loop in s.state.stage(_DATA).loops]
    vectors, lanes = plan.tile(_DATA, channels, plan.vector_lanes)
    s.reorder(_DATA, batch, tiles, *[loop for loop in (vectors,) if loop], p, q, lanes)
    for loop in (p, q):
        s.unroll(_DATA, loop)
    s.vectorize(_DATA, lanes)
    if blocks.apart:
        extents = _axes(plan, _DATA)
        tiles = plan.parallelize(_DATA, [batch, tiles], product(tuple(extents))) or tiles
    if shape.depth * shape.item_bytes % _GAP_FOR == 0 and not os.environ.get("NOGAP"):
        s.leave_gap(_DATA, _LINE_BYTES // shape.item_bytes)
    s.compute_at(_HALVES, _DATA, vectors or tiles)
    s.set_scope(_HALVES, Scope.REGISTER)
    n, t, p, q, c = [loop.name for loop in s.state.stage(_HALVES).loops]
    s.reorder(_HALVES, n, t, q, p, c)
    for loop in (q, p):
        s.unroll(_HALVES, loop)
    s.vectorize(_HALVES, c)

"""Products with packed weights that are too deep for the caches: sums in parts of the depth.

Loops: blocks of rows and of panels, in parallel · parts of the depth · panels · row tiles · k · (rows × columns,
unrolled into registers). In a part, the rows of a block stay in the second-level cache while panel after panel passes
over them, and one panel stays there too while the row tiles pass over it. The sums of a block are kept between the
parts; what is elementwise behind the product runs over them at the end.
"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.matmul import accumulate, prefetch_panel
from relay.targets.cpu.schedules.plan import (
    TILED_PRODUCTS_PER_NANOSECOND,
    Plan,
    accumulators_of,
    even_tile,
    product,
)
from relay.targets.cpu.schedules.tiles import PRODUCT, packed_weight, tile_rows, tile_width
from relay.tir.buffer import Scope

_ITEM_BYTES = 4
_LEAST_SHARE = 2  # of the depth that there is room for, so that parts divide it


@frozen
class Blocks:
    """Extents of what is computed together: `depth` of a part, `rows` and `panels` of a block."""

    depth: int
    rows: int
    panels: int


def blocks_of(plan: Plan, reduction: str) -> Blocks | None:
    """How to cut a product; None where its panels and rows fit the second-level cache whole, or extents are open.

    Half of that cache is for the rows, a quarter for the sums, and an eighth for a panel; the next one is on its way.
    """
    operation = plan.compute(reduction)
    weight = packed_weight(plan)
    if (
        weight is None
        or weight.dtype is not DType.FLOAT32
        or plan.formulas_read_by(reduction)
        or len(operation.axes) == 1
    ):
        return None
    *batch, rows, _ = [axis.extent for axis in operation.axes]
    panels, depth, width = weight.shape
    if not (isinstance(rows, int) and isinstance(panels, int) and isinstance(depth, int) and isinstance(width, int)):
        return None
    cache = plan.target.cache_bytes[1]
    fits = depth * width * _ITEM_BYTES <= cache // 4 or rows * depth * _ITEM_BYTES <= cache // 2
    most = cache // 8 // (width * _ITEM_BYTES)
    parts = [part for part in range(most, most // _LEAST_SHARE, -1) if depth % part == 0]
    if fits or not parts:
        return None
    block_rows = even_tile(rows, max(1, cache // 2 // (parts[0] * _ITEM_BYTES)))
    most_panels = max(1, cache // 4 // (block_rows * width * _ITEM_BYTES))
    times = product((*batch, -(-rows // block_rows)))
    groups = [each for each in range(min(panels, most_panels), 0, -1) if panels % each == 0]
    even = [each for each in groups if plan.shares_out(times * (panels // each))]
    return Blocks(parts[0], block_rows, (even or groups)[0])


def schedule_deep_product(plan: Plan, reduction: str, blocks: Blocks) -> None:
    """`dense[.., m, n] += data[.., m, k] * weight[n // width, k, n % width]`, with everything behind it fused."""
    plan.inline_formulas()
    s = plan.steps
    sums, store = accumulators_of(plan, reduction)
    *batch, rows, columns = [loop.name for loop in s.state.stage(store).loops]
    width = tile_width(plan, plan.extent(store, columns), PRODUCT)
    block, row = plan.tile(store, rows, blocks.rows)
    group, column = plan.tile(store, columns, width * blocks.panels)
    outer = [*batch, *[loop for loop in (block, group) if loop]]
    s.reorder(store, *outer, row, column)
    _, lanes = plan.tile(store, column, plan.vector_lanes)
    s.vectorize(store, lanes)
    place = plan.parallelize(store, outer, plan.iterations(sums), TILED_PRODUCTS_PER_NANOSECOND)
    _add_parts(plan, sums, (store, place), blocks, width)


def _add_parts(plan: Plan, sums: str, place: tuple[str, str | None], blocks: Blocks, width: int) -> None:
    """The sums of a block, computed at loop `place` of a stage: part by part, in register tiles."""
    s = plan.steps
    depth, _ = s.split(sums, s.state.stage(sums).loops[-1].name, factor=blocks.depth)
    part = s.rfactor(sums, depth)
    s.set_scope(sums, Scope.GLOBAL)
    s.set_scope(part, Scope.REGISTER)
    store, loop = place
    if loop is not None:
        s.compute_at(sums, store, loop)
    *batch, rows, columns = [each.name for each in s.state.stage(sums).loops if not each.is_reduction]
    panel, lanes = s.split(sums, columns, factor=width)
    tile, row = s.split(sums, rows, factor=tile_rows(plan, blocks.rows, width))
    s.reorder(sums, *batch, depth, panel, tile, row, lanes)
    s.compute_at(part, sums, tile)
    inner_sum = accumulate(plan, part, plan.vector_lanes, columns=-2)
    prefetch_panel(plan, part, inner_sum, sums, panel)
    s.unroll(sums, row)
    plan.vectorize_columns(sums, lanes, plan.vector_lanes)

"""Matrix products: a register tile of rows × columns accumulates over k, and the epilogue stores it.

Loops: batch · column panels · row tiles · k · (rows × columns, unrolled into registers). A column panel of the packed
weight stays in the cache while the row tiles pass over it. A formula in front of the product is computed for the rows
of a tile, anew in each panel.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.targets.cpu.schedules.plan import (
    STREAMED_PRODUCTS_PER_NANOSECOND,
    TILED_PRODUCTS_PER_NANOSECOND,
    Plan,
    accumulators_of,
    product,
)
from relay.targets.cpu.schedules.tiles import PRODUCT, packed_weight, tile_rows, tile_width
from relay.te.operation import body_values, loads_of, scalar_indices
from relay.tir.buffer import Buffer, Scope

PRODUCTS = ("dense", "matmul", "batch_matmul")
_UNROLL_K = 4
_STREAMS = (4, 3, 2)
_FEWEST_ROWS_TO_PACK_FOR = 32
_LARGEST_ROWS_ON_STACK = 1 << 14  # elements


def schedule_matmul(plan: Plan, reduction: str) -> None:
    """`reduction[.., m, n] += a[.., m, k] * b[.., k, n]`, with everything behind it fused."""
    front = plan.formulas_read_by(reduction)
    plan.inline_formulas(keep=frozenset(front))
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    axes = [loop.name for loop in s.state.stage(store).loops]
    extents = [plan.extent(store, axis) for axis in axes]
    rows, columns = (axes[-2] if len(axes) > 1 else None), axes[-1]
    lanes = plan.vector_lanes
    column_tile = tile_width(plan, extents[-1], PRODUCT)
    row_tile = tile_rows(plan, extents[-2] if rows else 1, column_tile)
    streams = len(extents) < 2 or extents[-2] == 1
    if streams and _exceeds_second_level(plan):
        column_tile *= _panels_at_a_time(plan, extents[-1], column_tile)
    batch = axes[:-2]
    column_outer, column_inner = plan.tile(store, columns, column_tile)
    row_outer, row_inner = plan.tile(store, rows, row_tile) if rows else (None, None)
    outer = [*batch, *[loop for loop in (column_outer, row_outer) if loop]]
    inner = [loop for loop in (row_inner, column_inner) if loop]
    s.reorder(store, *outer, *inner)
    rate = STREAMED_PRODUCTS_PER_NANOSECOND if streams else TILED_PRODUCTS_PER_NANOSECOND
    innermost = plan.parallelize(store, outer, plan.iterations(acc), rate)
    if streams and _exceeds_second_level(plan):
        s.alternate(store, s.state.stage(store).loops[0].name)
    if innermost is not None:
        s.compute_at(acc, store, innermost)
        plan.prefetch_stores(store, innermost)
    for stage in front:
        _compute_rows(plan, stage, store, innermost, row_tile)
    if row_outer and column_outer and any(loop.name == column_outer for loop in s.state.stage(store).loops):
        _pack_panels(plan, acc, store, column_outer, extents)
    inner_sum = accumulate(plan, acc, lanes)
    if column_outer and row_outer and not batch:
        prefetch_panel(plan, acc, inner_sum, plan.output_name, column_outer)
    if row_inner:
        s.unroll(store, row_inner)
    plan.vectorize_columns(store, column_inner, lanes)


def _panels_at_a_time(plan: Plan, columns: IntExpr, width: int) -> int:
    """How many panels of weights that no cache holds are read side by side, so that each thread has equally many.

    Processors ask ahead of time for what follows in each stream of addresses; with several, more of memory is on its
    way at a time (Sapphire Rapids, from the third level: 9, 16 and 22 GB/s with 1, 2 and 4 streams).
    """
    panels = -(-columns // width) if isinstance(columns, int) else 1
    parts = max(2, plan.target.num_threads)
    return next((count for count in _STREAMS if panels % (count * parts) == 0), 1)


def _compute_rows(plan: Plan, stage: str, store: str, loop: str | None, rows: int) -> None:
    """What a tile reads of its rows and a formula makes: in vectors, into the first-level cache."""
    s = plan.steps
    innermost = s.state.stage(stage).loops[-1].name
    length = plan.extent(stage, innermost)
    _, lanes = plan.tile(stage, innermost, plan.vector_lanes)
    s.vectorize(stage, lanes)
    if loop is not None:
        s.compute_at(stage, store, loop)
        if isinstance(length, int) and rows * length <= _LARGEST_ROWS_ON_STACK:
            s.set_scope(stage, Scope.LOCAL)


def _pack_panels(plan: Plan, acc: str, store: str, panel: str, extents: list[IntExpr]) -> None:
    """Copy what a panel of columns reads of the second matrix, for all row tiles: its rows lie together then."""
    s = plan.steps
    matrix = _second_matrix(plan, acc)
    if matrix is None or not _pays_to_pack(plan, matrix, extents[-2]):
        return
    copy = s.cache_read(s.state.name_of(matrix), Scope.GLOBAL, (acc,))
    s.compute_at(copy, store, panel)
    _, lanes = plan.tile(copy, s.state.stage(copy).loops[-1].name, plan.vector_lanes)
    s.vectorize(copy, lanes)


def _second_matrix(plan: Plan, acc: str) -> Buffer | None:
    """The input that a product reads along the columns of its result, in rows."""
    operation = plan.compute(acc)
    column = operation.axes[-1]
    for load in loads_of(body_values(operation.body)):
        is_input = load.buffer in plan.group.inputs and load.indices
        if is_input and scalar_indices(load)[-1] is column and load.buffer.shape[-1] == column.extent:
            return load.buffer
    return None


def _pays_to_pack(plan: Plan, matrix: Buffer, rows: IntExpr) -> bool:
    """Whether the matrix is read often, from further away than the first-level cache. In a packed panel vectors end
    where lines of the cache do, wherever the matrix begins, and lines that come next lie next to each other."""
    size = product(matrix.shape[-2:])
    many = not isinstance(rows, int) or rows >= _FEWEST_ROWS_TO_PACK_FOR
    return many and isinstance(size, int) and size * matrix.dtype.item_bytes >= plan.target.cache_bytes[0]


def accumulate(plan: Plan, acc: str, lanes: int, columns: int = -1) -> str:
    """Order the loops of the accumulating stage: sums, then the tile in registers, axis `columns` as vectors. Gives the
    innermost loop over sums that is not unrolled."""
    s = plan.steps
    operation = plan.compute(acc)
    names = [axis.name for axis in operation.axes]
    summed = [axis.name for axis in operation.reduce_axes]
    lane_axis = names.pop(columns)
    rows = names
    column_outer, column_inner = s.split(acc, lane_axis, factor=lanes)
    innermost = summed[-1]
    extent = plan.extent(acc, innermost)
    unroll = next((u for u in (_UNROLL_K, 3, 2) if isinstance(extent, int) and extent % u == 0), 1)
    if unroll > 1 and extent != unroll:
        k_outer, k_inner = s.split(acc, innermost, factor=unroll)
        order = [*summed[:-1], k_outer, k_inner]
        s.reorder(acc, *order, *rows, column_outer, column_inner)
        s.unroll(acc, k_inner)
    else:
        s.reorder(acc, *summed, *rows, column_outer, column_inner)
        if unroll > 1:
            s.unroll(acc, innermost)
        k_outer = innermost
    for row in rows:
        s.unroll(acc, row)
    s.unroll(acc, column_outer)
    s.vectorize(acc, column_inner)
    return k_outer


def prefetch_panel(plan: Plan, acc: str, loop: str, target: str, panels: str) -> None:
    """`prefetch_next_panel`, only where the weights are too large for the second-level cache."""
    if _exceeds_second_level(plan):
        prefetch_next_panel(plan, acc, loop, target, panels)


def prefetch_next_panel(plan: Plan, acc: str, loop: str, target: str, panels: str | None) -> None:
    """While one panel of packed weights is used, ask for the next in `loop` of the accumulating stage.

    Only where `panels` is still a loop of stage `target`, and how often a panel is used is known now.
    """
    weight = packed_weight(plan)
    if weight is None or panels is None or all(each.name != panels for each in plan.steps.state.stage(target).loops):
        return
    if all(isinstance(extent, int) for extent in plan.output.outputs[0].shape):
        plan.steps.prefetch(acc, loop, weight.name, target, panels)


def _exceeds_second_level(plan: Plan) -> bool:
    """Whether the packed weights leave no room for others in the second-level cache."""
    weight = packed_weight(plan)
    size = None if weight is None else product(weight.shape)
    return weight is not None and isinstance(size, int) and size * weight.dtype.item_bytes > plan.target.l2_bytes // 2

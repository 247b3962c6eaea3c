"""Matrix products: a register tile of rows × columns accumulates over k, and the epilogue stores it.

Loops: batch · blocks of panels · row tiles · panels of columns · k · (rows × columns, unrolled into registers). The
panels of a block stay in the second-level cache while row tiles pass over them; what the epilogue of a tile reads and
writes lies beside that of the tile before. A formula in front of the product is computed for the rows of a tile, anew
in each block.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, Symbol, free_symbols, substitute
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.accumulation import accumulate, exceeds_second_level, prefetch_panel
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, exceeds, product
from relay.targets.cpu.schedules.register_tiles import decide_rows, decide_width
from relay.te.operation import body_values, loads_of, scalar_indices
from relay.te.schedule.choice import Choice, Condition, Decision, Variant
from relay.te.schedule.space import Decider
from relay.tir.buffer import Buffer, Scope

PRODUCTS = ("dense", "matmul", "batch_matmul")


@frozen
class Product:
    """A group around a matrix product: the formulas in `front` of it, the stage that accumulates and the one that
    stores, and the loops of the latter with their extents. `streams`: no cache has all weights, and one row alone uses
    each of them once."""

    front: tuple[str, ...]
    acc: str
    store: str
    loops: tuple[str, ...]
    extents: tuple[IntExpr, ...]
    streams: bool


@frozen
class Tiles:
    """The register tile, how many panels of weights are read side by side, whether the second matrix is packed, or the
    rows of the first, which is transposed, and how many panels of columns are in a block."""

    width: int
    rows: int
    panels: int
    packs: bool
    packs_rows: bool = False
    block: int = 1


def is_product(plan: Plan) -> bool:
    """Whether the group's only reduction is a product that reads a matrix along the columns of its result: these are
    the lanes then. Other products are sums along rows of both matrices."""
    reductions = plan.reductions()
    if len(reductions) != 1 or reductions[0].name not in PRODUCTS:
        return False
    operation = plan.compute(reductions[0].name)
    column = operation.axes[-1]
    last = [scalar_indices(load)[-1] for load in loads_of(body_values(operation.body)) if load.indices]
    return any(column in free_symbols(index) for index in last)


def read(plan: Plan) -> Product:
    """`reduction[.., m, n] += a[.., m, k] * b[.., k, n]`, with everything behind it fused."""
    reduction = plan.reductions()[0].name
    front = plan.formulas_read_by(reduction)
    plan.inline_formulas(keep=frozenset(front))
    acc, store = accumulators_of(plan, reduction)
    loops = plan.steps.loops(store)
    extents = tuple(plan.extent(store, loop) for loop in loops)
    return Product(front, acc, store, loops, extents, exceeds_second_level(plan))


def decide(plan: Plan, found: Product, pick: Decider) -> Tiles:
    *_, columns = found.extents
    count = found.extents[-2] if len(found.extents) > 1 else 1
    width = decide_width(plan, columns, plan.core.product_vectors, pick)
    rows = decide_rows(plan, count, width, pick)
    panels = 1
    if found.streams and rows == 1:
        panels = pick(
            "panels", _panels_at_a_time(plan, columns, width), (1, *plan.core.streams),
            "streams of weights that the core asks ahead for, and each thread has equally many",
        )  # fmt: skip
    matrix = _second_matrix(plan, found.acc)
    packs = packs_rows = False
    if matrix is not None and exceeds(count, rows) and exceeds(columns, width * panels):
        pays, why = _pays_to_pack_rows(plan, found.acc, matrix, rows)
        packs_rows = pick("packs_rows", pays, (False, True), why) if why else False
        pays, why = _pays_to_pack(plan, matrix, count)
        packs = not packs_rows and pick("packs", pays, (False, True), why)
    block, blocks = 1, _blocks(plan, found, width, rows, packs)
    if blocks and rows > 1 and not packs_rows:
        reason = "panels that half of the second-level cache holds, beside a tile"
        block = pick("block", blocks[0], (*blocks, 1), reason)
    return Tiles(width, rows, panels, packs, packs_rows, block)


def variants(plan: Plan) -> tuple[Variant, ...]:
    """A single row, where panels are better read side by side: there are no other rows to hide how long sums take."""
    *outer, columns = [axis.extent for axis in plan.compute(plan.reductions()[0].name).axes]
    if len(outer) != 1 or not isinstance(outer[0], Symbol) or not exceeds_second_level(plan):
        return ()
    width = decide_width(plan, columns, plan.core.product_vectors, Decider())
    if _panels_at_a_time(plan, columns, width) == 1:
        return ()
    return (Variant(Condition(outer[0].name, "==", 1), Choice("matmul", (Decision("rows", 1),))),)


def build(plan: Plan, found: Product, tiles: Tiles) -> None:
    s, acc, store = plan.steps, found.acc, found.store
    *batch_and_rows, columns = found.loops
    batch, rows = batch_and_rows[:-1], batch_and_rows[-1:]
    column_outer, column = plan.tile(store, columns, tiles.width * tiles.panels * tiles.block)
    panel, column = plan.tile(store, column, tiles.width * tiles.panels)
    row_outer: tuple[str, ...] = ()
    for loop in rows:
        row_outer, row = plan.tile(store, loop, tiles.rows)
        rows = [row]
    inner = (*row_outer, *column_outer) if tiles.packs_rows else (*column_outer, *row_outer, *panel)
    outer = (*batch, *inner)
    if tiles.packs and _is_for_all_batches(plan, acc):
        outer = (*column_outer, *batch, *row_outer, *panel)
    s.reorder(store, *outer, *rows, column)
    work, rate = plan.iterations(acc), plan.core.tiled_products
    if tiles.rows == 1:
        work, rate = substitute(work, _one_row(found)), plan.core.streamed_products
    innermost = plan.parallelize(store, outer, work, rate)
    if found.streams and tiles.rows == 1:
        s.alternate(store, s.loops(store)[0])
    if innermost is not None:
        s.compute_at(acc, store, innermost)
        plan.prefetch_stores(store, innermost)
    place = next((tile for tile in row_outer if tile in s.loops(store)), innermost)
    for stage in found.front:
        _compute_rows(plan, stage, store, place, tiles.rows)
    for block in column_outer:
        if tiles.packs and row_outer and block in s.loops(store):
            _pack(plan, acc, store, block, _second_matrix(plan, acc))
    for tile in row_outer:
        if tiles.packs_rows and tile in s.loops(store):
            _pack(plan, acc, store, tile, _transposed_matrix(plan, acc))
    summing = accumulate(plan, acc)
    if column_outer and row_outer and not batch and not tiles.packs_rows:
        prefetch_panel(plan, summing, plan.output_name, column_outer[0])
    plan.unroll(store, rows)
    plan.vectorize_columns(store, column, plan.vector_lanes)


def _one_row(found: Product) -> dict[Symbol, IntExpr]:
    """What is known of the extents of a product where a row is taken at a time: there is one."""
    rows = found.extents[-2] if len(found.extents) > 1 else 1
    return {rows: 1} if isinstance(rows, Symbol) else {}


def _panels_at_a_time(plan: Plan, columns: IntExpr, width: int) -> int:
    """How many panels of weights that no cache holds are read side by side, so that each thread has equally many."""
    panels = -(-columns // width) if isinstance(columns, int) else 1
    parts = max(2, plan.target.num_threads)
    return next((count for count in plan.core.streams if panels % (count * parts) == 0), 1)


def _blocks(plan: Plan, found: Product, width: int, rows: int, packs: bool) -> list[int]:
    """How many panels may be in a block, the most first: as many as half of the second-level cache holds beside the
    rows of a tile, in blocks that are equally large and shared out. None where the other half may hold all rows: each
    panel goes over them then. A block that is copied has the rows of its panels side by side: none where panels then
    share lines of the cache."""
    operation, columns = plan.compute(found.acc), found.extents[-1]
    depth = product(tuple(axis.extent for axis in operation.reduce_axes))
    item_bytes = max(load.buffer.dtype.item_bytes for load in loads_of(body_values(operation.body)))
    if not isinstance(depth, int) or not isinstance(columns, int) or columns % width:
        return []
    if packs and width * item_bytes % plan.core.line_bytes:
        return []
    half = plan.core.l2_bytes // 2 // max(1, depth * item_bytes)
    if len(found.extents) < 2 or not exceeds(found.extents[-2], max(half, rows)):
        return []
    panels, batches, most = columns // width, product(found.extents[:-2]), (half - rows) // width
    return [
        count for count in range(min(most, panels // 2), 1, -1)
        if panels % count == 0 and plan.shares_out(batches * (panels // count))
    ]  # fmt: skip


def _compute_rows(plan: Plan, stage: str, store: str, loop: str | None, rows: int) -> None:
    """What a tile reads of its rows and a formula makes: in vectors, into the first-level cache."""
    s = plan.steps
    innermost = s.state.stage(stage).loops[-1].name
    length = plan.extent(stage, innermost)
    _, lanes = plan.tile(stage, innermost, plan.vector_lanes)
    s.vectorize(stage, lanes)
    if loop is not None:
        s.compute_at(stage, store, loop)
        if isinstance(length, int) and rows * length <= plan.core.stack_elements:
            s.set_scope(stage, Scope.LOCAL)


def _pack(plan: Plan, acc: str, store: str, loop: str, matrix: Buffer | None) -> None:
    """Copy what an iteration of a loop reads of a matrix: a panel of columns of the second one for all row tiles, or a
    tile of rows of the first one for all panels. What is read of it lies together then."""
    s = plan.steps
    assert matrix is not None
    copy = s.cache_read(s.state.name_of(matrix), Scope.GLOBAL, (acc,))
    s.compute_at(copy, store, loop)
    _, lanes = plan.tile(copy, s.loops(copy)[-1], plan.vector_lanes)
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


def _is_for_all_batches(plan: Plan, acc: str) -> bool:
    """Whether batches are multiplied with one matrix, and the caches hold their rows, which every panel goes over."""
    matrix, rows = _second_matrix(plan, acc), plan.compute(acc).axes[:-1]
    if matrix is None or len(matrix.shape) != 2:
        return False
    depth, _ = matrix.shape
    size = product((*(axis.extent for axis in rows), depth))
    return isinstance(size, int) and size * matrix.dtype.item_bytes <= plan.core.l3_bytes // 2


def _transposed_matrix(plan: Plan, acc: str) -> Buffer | None:
    """The input that a product reads along the rows of its result, which is transposed."""
    operation = plan.compute(acc)
    row = operation.axes[-2] if len(operation.axes) > 1 else None
    for load in loads_of(body_values(operation.body)):
        is_input = load.buffer in plan.group.inputs and load.indices
        if is_input and scalar_indices(load)[-1] is row and row is not None and load.buffer.shape[-1] == row.extent:
            return load.buffer
    return None


def _pays_to_pack_rows(plan: Plan, acc: str, second: Buffer, rows: int) -> tuple[bool, str]:
    """Whether rows of a transposed first matrix lie so far apart in it that they share a few sets of the cache, and all
    panels of the second one stay in the second-level cache meanwhile. No reason where it is not transposed."""
    first = _transposed_matrix(plan, acc)
    if first is None:
        return False, ""
    apart, size = product((first.shape[-1], first.dtype.item_bytes)), product(second.shape[-2:])
    depth = second.shape[-2]
    if not isinstance(apart, int) or not isinstance(size, int) or not isinstance(depth, int):
        return False, "extents are not known"
    if size * second.dtype.item_bytes > plan.core.l2_bytes // 2:
        return False, "panels of the second matrix do not stay in the second-level cache"
    if apart % plan.core.spread_bytes or depth * rows * first.dtype.item_bytes <= plan.core.way_bytes:
        return False, "what a tile reads of the first matrix is few, or lies in all sets of the cache"
    return True, "what a tile reads of the first matrix lies in few sets of the cache"


def _pays_to_pack(plan: Plan, matrix: Buffer, rows: IntExpr) -> tuple[bool, str]:
    """Whether the matrix is read often, from further away than the first-level cache, and why. In a packed panel
    vectors end where lines of the cache do, wherever the matrix begins, and lines lie in the order of their use."""
    if isinstance(rows, int) and rows < plan.core.rows_worth_packing:
        return False, f"fewer than {plan.core.rows_worth_packing} rows read the matrix"
    size = product(matrix.shape[-2:])
    if not isinstance(size, int) or size * matrix.dtype.item_bytes < plan.core.l1_bytes:
        return False, "the matrix may be in the first-level cache"
    return True, "rows of a panel then lie together; the matrix is larger than the first-level cache"


MATMUL = Family(
    "matmul", "a product that reads a matrix along the columns of its result", is_product, read, decide, build,
    variants=variants,
)  # fmt: skip

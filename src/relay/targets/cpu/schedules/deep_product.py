"""Products with packed weights that are too deep for the caches: sums in parts of the depth.

Loops: blocks of rows and of panels, in parallel · parts of the depth · panels · row tiles · k · (rows × columns,
unrolled into registers). In a part, the rows of a block stay in the second-level cache while panel after panel passes
over them, and one panel stays there too while the row tiles pass over it. The sums of a block are kept between the
parts; what is elementwise behind the product runs over them at the end.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, Symbol, ceil_divide
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.accumulation import accumulate, prefetch_panel
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.matmul import MATMUL, is_product
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, even_tile, exceeds, product
from relay.targets.cpu.schedules.register_tiles import decide_rows, most_rows, packed_weight
from relay.te.schedule.choice import Choice, Condition, Variant
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope

_ITEM_BYTES = 4
_LEAST_SHARE = 2  # of the depth that there is room for, so that parts divide it
_MOST_BLOCKS = 8  # that a choice may cut rows into


@frozen
class Deep:
    """Extents of a product with packed weights; `batch` are those around its matrices."""

    batch: tuple[IntExpr, ...]
    rows: IntExpr
    panels: int
    depth: int
    width: int

    @property
    def panel_bytes(self) -> int:
        return self.depth * self.width * _ITEM_BYTES


@frozen
class DeepProduct:
    """The stage that sums, the one that stores, and the extents of the product."""

    sums: str
    store: str
    extents: Deep


@frozen
class Blocks:
    """What is computed together: `depth` of a part, rows and panels of a block, `rows` of a register tile."""

    depth: int
    block_rows: int
    block_panels: int
    rows: int


def _extents(plan: Plan) -> Deep | None:
    """The extents of the group's product; None where they are open, or weights are not packed or not float32."""
    reduction = plan.reductions()[0].name
    weight, operation = packed_weight(plan), plan.compute(reduction)
    if weight is None or weight.dtype is not DType.FLOAT32:
        return None
    if plan.formulas_read_by(reduction) or len(operation.axes) == 1:
        return None
    *batch, rows, _ = [axis.extent for axis in operation.axes]
    panels, depth, width = weight.shape
    if not (isinstance(panels, int) and isinstance(depth, int) and isinstance(width, int)):
        return None
    return Deep(tuple(batch), rows, panels, depth, width)


def _parts(plan: Plan, extents: Deep) -> list[int]:
    """The parts of the depth that divide it, of which a panel takes an eighth of the second-level cache at most; the
    next one is on its way."""
    most = plan.core.l2_bytes // 8 // (extents.width * _ITEM_BYTES)
    return [part for part in range(most, most // _LEAST_SHARE, -1) if extents.depth % part == 0]


def is_deep(plan: Plan) -> bool:
    """Whether neither a panel nor the rows of a product fit the second-level cache whole, and parts of it do."""
    extents = _extents(plan) if is_product(plan) else None
    if extents is None or extents.panel_bytes <= plan.core.l2_bytes // 4:
        return False
    return exceeds(extents.rows, _fitting_rows(plan, extents)) and bool(_parts(plan, extents))


def _fitting_rows(plan: Plan, extents: Deep) -> int:
    """The rows of data that fit the second-level cache whole, beside a panel."""
    return plan.core.l2_bytes // 2 // (extents.depth * _ITEM_BYTES)


def variants(plan: Plan) -> tuple[Variant, ...]:
    """Of few rows, which fit the second-level cache, parts of sums are only more work."""
    extents = _extents(plan)
    if extents is None or not isinstance(extents.rows, Symbol):
        return ()
    few = Condition(extents.rows.name, "<=", _fitting_rows(plan, extents))
    return (*MATMUL.variants(plan), Variant(few, Choice(MATMUL.name)))


def read(plan: Plan) -> DeepProduct:
    """`dense[.., m, n] += data[.., m, k] * weight[n // width, k, n % width]`, with everything behind it fused."""
    extents = _extents(plan)
    assert extents is not None
    reduction = plan.reductions()[0].name
    plan.inline_formulas()
    return DeepProduct(*accumulators_of(plan, reduction), extents)


def decide(plan: Plan, found: DeepProduct, pick: Decider) -> Blocks:
    """Half of the second-level cache is for the rows, a quarter for the sums, and an eighth for a panel."""
    extents, cache = found.extents, plan.core.l2_bytes
    parts = _parts(plan, extents)
    depth = pick("depth", parts[0], parts, "a panel is an eighth of the second-level cache, and no rest is left")
    most = max(1, cache // 2 // (depth * _ITEM_BYTES))
    whole = extents.rows if isinstance(extents.rows, int) else _whole_tiles(most, most_rows(plan.core, extents.width))
    block_rows = even_tile(whole, most)
    cuts = [even_tile(whole, -(-whole // count)) for count in range(1, _MOST_BLOCKS + 1)]
    block_rows = pick("block_rows", block_rows, cuts, "data of a block take half of the second-level cache")
    most = max(1, cache // 4 // (block_rows * extents.width * _ITEM_BYTES))
    times = product((*extents.batch, ceil_divide(extents.rows, block_rows)))
    groups = [each for each in range(min(extents.panels, most), 0, -1) if extents.panels % each == 0]
    even = [each for each in groups if plan.shares_out(times * (extents.panels // each))]
    reason = "sums of a block take a quarter of the second-level cache" + (", shared equally" if even else "")
    panels = pick("block_panels", (even or groups)[0], groups, reason)
    return Blocks(depth, block_rows, panels, decide_rows(plan, block_rows, extents.width, pick))


def _whole_tiles(rows: int, tile: int) -> int:
    """At most so many rows that tiles leave no rest: where the number of all rows is open, there is one rest then."""
    return max(1, rows // tile) * tile


def build(plan: Plan, found: DeepProduct, blocks: Blocks) -> None:
    s, sums, store = plan.steps, found.sums, found.store
    *batch, rows, columns = s.loops(store)
    block, row = plan.tile(store, rows, blocks.block_rows)
    group, column = plan.tile(store, columns, found.extents.width * blocks.block_panels)
    outer = (*batch, *block, *group)
    s.reorder(store, *outer, row, column)
    _, lanes = plan.tile(store, column, plan.vector_lanes)
    s.vectorize(store, lanes)
    place = plan.parallelize(store, outer, plan.iterations(sums), plan.core.tiled_products)
    _add_parts(plan, sums, (store, place), blocks, found.extents.width)


def _add_parts(plan: Plan, sums: str, place: tuple[str, str | None], blocks: Blocks, width: int) -> None:
    """The sums of a block, computed at loop `place` of a stage: part by part, in register tiles."""
    s = plan.steps
    depth, _ = s.split(sums, s.loops(sums)[-1], factor=blocks.depth)
    part = s.rfactor(sums, depth)
    s.set_scope(sums, Scope.GLOBAL)
    s.set_scope(part, Scope.REGISTER)
    store, loop = place
    if loop is not None:
        s.compute_at(sums, store, loop)
    *batch, rows, columns = [each.name for each in s.state.stage(sums).loops if not each.is_reduction]
    panel, lanes = s.split(sums, columns, factor=width)
    tile, row = s.split(sums, rows, factor=blocks.rows)
    s.reorder(sums, *batch, depth, panel, tile, row, lanes)
    s.compute_at(part, sums, tile)
    prefetch_panel(plan, accumulate(plan, part, columns=-2), sums, panel, uses=-(-blocks.block_rows // blocks.rows))
    s.unroll(sums, row)
    plan.vectorize_columns(sums, lanes, plan.vector_lanes)


DEEP_PRODUCT = Family(
    "deep_product", "a product with packed weights too deep for the second-level cache", is_deep, read, decide, build,
    variants=variants,
)  # fmt: skip

"""Attention, a block of rows at a time: scores, their softmax and the weighted means of a block stay in cache, so the
matrix of all scores is never in memory.

Loops: batch · blocks of rows; in each, a product into scores, softmax of these, a product into means. The maximum and
the sum of a row are found once its scores are all there (Milakov and Gimelshein 2018, 1805.02867, keep both running;
with a whole row in cache that saves nothing). Keys are transposed beforehand,
in panels, so that lanes lie along them.
"""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ops.nn.attention import AttentionAttributes
from relay.targets.cpu.schedules.accumulation import accumulate
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan, dividing_tile
from relay.targets.cpu.schedules.reduction import in_lanes
from relay.targets.cpu.schedules.register_tiles import most_rows
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope

_KEYS, _PRODUCTS, _SCORES = "attention_keys", "attention_products", "attention_scores"
_LARGEST, _POWERS, _TOTAL = "attention_max", "attention_exp", "attention_sum"
_SHARE, _VALUES = "attention_share", "attention_values"
_KEPT = frozenset({_KEYS, _SCORES, _POWERS, _SHARE})

_VECTORS = 2


@frozen
class Attention:
    """The loops of the output: over batches and heads, rows, and columns; `head`: how wide one is where they lie side
    by side."""

    outer: tuple[str, ...]
    rows: str
    columns: str
    head: int | None


@frozen
class Tiles:
    """Extents of a register tile; `rows` are those of a block too."""

    width: int
    rows: int


def is_attention(plan: Plan) -> bool:
    return any(isinstance(call.attrs, AttentionAttributes) for call, _ in plan.group.anchors)


def read(plan: Plan) -> Attention:
    """`attention[.., m, v]`, with what is elementwise behind it fused."""
    plan.inline_formulas(keep=_KEPT)
    _transpose_keys(plan)
    return _loops(plan, plan.output_name)


def decide(plan: Plan, found: Attention, pick: Decider) -> Tiles:
    lanes = plan.vector_lanes
    most = plan.core.most_tile_rows
    if found.head is None:
        width = pick("width", _VECTORS * lanes, (lanes, 2 * lanes), "two vectors of a row hide the latency of adding")
    else:
        reason = "a head is stored whole, so that what it reads is known to be of one head"
        width, most = pick("width", found.head, (), reason), most_rows(plan.core, found.head)
    rows = dividing_tile(plan.extent(plan.output_name, found.rows), most)
    return Tiles(width, pick("rows", rows, range(1, most + 1), f"of at most {most} rows, no rest is left"))


def build(plan: Plan, found: Attention, tiles: Tiles) -> None:
    s, output = plan.steps, plan.output_name
    work = plan.iterations(_PRODUCTS) + plan.iterations(_VALUES)
    row_outer, row = plan.tile(output, found.rows, tiles.rows)
    column_outer, column = plan.tile(output, found.columns, tiles.width)
    blocks = (*found.outer, *row_outer)
    s.reorder(output, *blocks, *column_outer, row, column)
    block = plan.parallelize(output, blocks, work, plan.core.tiled_products)
    keys = plan.compute(_SCORES).axes[-1].extent
    small = isinstance(keys, int) and tiles.rows * keys <= plan.core.stack_elements and block is not None
    scope = Scope.LOCAL if small else Scope.GLOBAL
    _scores(plan, output, block, tiles.width, scope)
    _softmax(plan, output, block, scope)
    place = column_outer[0] if column_outer else block
    if place is not None:
        s.compute_at(_VALUES, output, place)
        s.set_scope(_VALUES, Scope.REGISTER)
    accumulate(plan, _VALUES)
    s.unroll(output, row)
    plan.vectorize_columns(output, column, plan.vector_lanes)


def _loops(plan: Plan, output: str) -> Attention:
    """The loops of the output; heads that lie side by side make a loop over them."""
    *outer, rows, last = plan.steps.loops(output)
    columns = plan.compute(_VALUES).axes[-1].extent
    if plan.extent(output, last) == columns or not isinstance(columns, int):
        return Attention(tuple(outer), rows, last, None)
    heads, column = plan.steps.split(output, last, factor=columns)
    return Attention((*outer, heads), rows, column, columns)


def _transpose_keys(plan: Plan) -> None:
    """A vector of keys at a time: what is read of them, however far apart they are, then stays in cache."""
    s = plan.steps
    *outer, depth, keys = s.loops(_KEYS)
    vectors, lanes = plan.tile(_KEYS, keys, plan.vector_lanes)
    s.reorder(_KEYS, *outer, *vectors, depth, lanes)
    s.vectorize(_KEYS, lanes)
    plan.parallelize(_KEYS, outer, plan.iterations(_KEYS))


def _scores(plan: Plan, output: str, block: str | None, width: int, scope: Scope) -> None:
    """The scores of a block of rows, tile by tile of keys."""
    s = plan.steps
    *outer, rows, keys = s.loops(_SCORES)
    tile, lanes = plan.tile(_SCORES, keys, width)
    if tile:
        s.reorder(_SCORES, *outer, *tile, rows, lanes)
    if block is not None:
        s.compute_at(_SCORES, output, block)
    s.set_scope(_SCORES, scope)
    stage, place = (_SCORES, tile[0]) if tile else (output, block)
    if place is not None:
        s.compute_at(_PRODUCTS, stage, place)
        s.set_scope(_PRODUCTS, Scope.REGISTER)
    accumulate(plan, _PRODUCTS)
    if block is not None:
        plan.unroll(_SCORES, (*outer, rows))
    plan.vectorize_columns(_SCORES, lanes, plan.vector_lanes)


def _softmax(plan: Plan, output: str, block: str | None, scope: Scope) -> None:
    """Powers of the scores of a block of rows, and what one over their sums is."""
    s = plan.steps
    for stage in (_LARGEST, _TOTAL):
        partials = in_lanes(plan, stage, scope)
        if block is not None:
            for each in (*partials, stage):
                s.compute_at(each, output, block)
        s.set_scope(stage, scope)
    keys = s.state.stage(_POWERS).loops[-1].name
    _, lanes = plan.tile(_POWERS, keys, plan.lanes_at_a_time(s.state.stage(_POWERS), plan.extent(_POWERS, keys)))
    s.vectorize(_POWERS, lanes)
    for stage in (_POWERS, _SHARE):
        if block is not None:
            s.compute_at(stage, output, block)
        s.set_scope(stage, scope)


ATTENTION = Family("attention", "scores, their softmax and means by it", is_attention, read, decide, build)

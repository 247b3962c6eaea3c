"""Attention, a block of rows at a time: scores, their softmax and the weighted means of a block stay in cache, so the
matrix of all scores is never in memory.

Loops: batch · blocks of rows; in each, a product into scores, softmax of these, a product into means. The maximum and
the sum of a row are found once its scores are all there (Milakov and Gimelshein 2018, 1805.02867, keep both running;
with a whole row in cache that saves nothing). Keys are turned beforehand,
in panels, so that lanes lie along them.
"""

from __future__ import annotations

from relay.ops.attention import AttentionAttributes
from relay.targets.cpu.schedules.matmul import accumulate
from relay.targets.cpu.schedules.plan import TILED_PRODUCTS_PER_NANOSECOND, Plan, dividing_tile
from relay.targets.cpu.schedules.reduction import in_lanes
from relay.targets.cpu.schedules.tiles import most_rows
from relay.tir.buffer import Scope

_KEYS, _PRODUCTS, _SCORES = "attention_keys", "attention_products", "attention_scores"
_LARGEST, _POWERS, _TOTAL = "attention_max", "attention_exp", "attention_sum"
_SHARE, _VALUES = "attention_share", "attention_values"
_KEPT = frozenset({_KEYS, _SCORES, _POWERS, _SHARE})

_VECTORS = 2
_MOST_ROWS = 14
_LARGEST_BLOCK_ON_STACK = 1 << 14  # elements


def is_attention(plan: Plan) -> bool:
    return any(isinstance(call.attrs, AttentionAttributes) for call, _ in plan.group.anchors)


def schedule_attention(plan: Plan) -> None:
    """`attention[.., m, v]`, with what is elementwise behind it fused."""
    plan.inline_formulas(keep=_KEPT)
    s = plan.steps
    _turn_keys(plan)
    output = plan.output_name
    axes, joined = _loops(plan, output)
    rows, columns = axes[-2:]
    width = _VECTORS * plan.vector_lanes
    most = _MOST_ROWS
    if joined is not None:  # a head is stored whole, so that what it reads is known to be of one head
        width = joined
        most = most_rows(plan, joined)
    work = plan.iterations(_PRODUCTS) + plan.iterations(_VALUES)
    height = dividing_tile(plan.extent(output, rows), most)
    row_outer, row_inner = plan.tile(output, rows, height)
    column_outer, column_inner = plan.tile(output, columns, width)
    blocks = [*axes[:-2], *[loop for loop in (row_outer,) if loop]]
    s.reorder(output, *blocks, *[loop for loop in (column_outer,) if loop], row_inner, column_inner)
    block = plan.parallelize(output, blocks, work, TILED_PRODUCTS_PER_NANOSECOND)
    keys = plan.compute(_SCORES).axes[-1].extent
    small = isinstance(keys, int) and height * keys <= _LARGEST_BLOCK_ON_STACK and block is not None
    scope = Scope.LOCAL if small else Scope.GLOBAL
    _scores(plan, output, block, width, scope)
    _softmax(plan, output, block, scope)
    place = column_outer or block
    if place is not None:
        s.compute_at(_VALUES, output, place)
        s.set_scope(_VALUES, Scope.REGISTER)
    accumulate(plan, _VALUES, plan.vector_lanes)
    s.unroll(output, row_inner)
    plan.vectorize_columns(output, column_inner, plan.vector_lanes)


def _loops(plan: Plan, output: str) -> tuple[list[str], int | None]:
    """The loops of the output: over batches and heads, rows, columns; and how wide a head is where they lie side by
    side, which makes a loop over them."""
    axes = [loop.name for loop in plan.steps.state.stage(output).loops]
    columns = plan.compute(_VALUES).axes[-1].extent
    if plan.extent(output, axes[-1]) == columns or not isinstance(columns, int):
        return axes, None
    heads, column = plan.steps.split(output, axes[-1], factor=columns)
    return [*axes[:-2], heads, axes[-2], column], columns


def _turn_keys(plan: Plan) -> None:
    """A vector of keys at a time: what is read of them, however far apart they are, then stays in cache."""
    s = plan.steps
    *outer, depth, keys = [loop.name for loop in s.state.stage(_KEYS).loops]
    vectors, lanes = plan.tile(_KEYS, keys, plan.vector_lanes)
    s.reorder(_KEYS, *outer, *[loop for loop in (vectors,) if loop], depth, lanes)
    s.vectorize(_KEYS, lanes)
    plan.parallelize(_KEYS, outer, plan.iterations(_KEYS))


def _scores(plan: Plan, output: str, block: str | None, width: int, scope: Scope) -> None:
    """The scores of a block of rows, tile by tile of keys."""
    s = plan.steps
    axes = [loop.name for loop in s.state.stage(_SCORES).loops]
    tile, lanes = plan.tile(_SCORES, axes[-1], width)
    if tile is not None:
        s.reorder(_SCORES, *axes[:-2], tile, axes[-2], lanes)
    if block is not None:
        s.compute_at(_SCORES, output, block)
    s.set_scope(_SCORES, scope)
    if tile is not None:
        s.compute_at(_PRODUCTS, _SCORES, tile)
        s.set_scope(_PRODUCTS, Scope.REGISTER)
    elif block is not None:
        s.compute_at(_PRODUCTS, output, block)
        s.set_scope(_PRODUCTS, Scope.REGISTER)
    accumulate(plan, _PRODUCTS, plan.vector_lanes)
    if block is not None:
        for axis in axes[:-1]:
            s.unroll(_SCORES, axis)
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

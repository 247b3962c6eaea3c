"""Products of words by the tiles of AMX: sums of a block in a buffer in the first-level cache, from where the epilogue
takes them. Used in place of register tiles (`matmul`, `conv`) where the machine has tiles for the type of the data.

Loops: batch · column panels · blocks of rows · (the micro-kernel, then rows × vectors of the epilogue). Formulas in
front, as what pads data, are computed beforehand: tiles are loaded from memory.
"""

from __future__ import annotations

from relay.ir.expr import Op
from relay.ir.types import TensorType
from relay.targets.cpu.intrinsics.product_by_tiles import MOST_ROWS, NAME
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, dividing_tile, loops_as_read, product
from relay.targets.cpu.schedules.tiles import packed_weight, tile_dtypes
from relay.tir.buffer import Scope

_PRODUCTS = ("nn.contrib_dense_words", "nn.contrib_conv2d_words")
_TILE_ROWS = 16
_PRODUCTS_PER_NANOSECOND = 1000


def goes_by_tiles(plan: Plan) -> bool:
    """Whether the group's heavy operator is a product of words of a type that there are tiles for."""
    for call, _ in plan.group.anchors:
        data = call.args[0].checked_type
        if isinstance(call.op, Op) and call.op.name in _PRODUCTS and isinstance(data, TensorType):
            return data.dtype in tile_dtypes(plan.target)
    return False


def schedule_by_tiles(plan: Plan, reduction: str) -> None:
    """`reduction[.., rows, columns]`, dense or convolution, with everything behind it fused."""
    front = plan.formulas_read_by(reduction)
    plan.inline_formulas(keep=frozenset(front))
    for stage in front:
        _compute_beforehand(plan, stage)
    s = plan.steps
    acc, store = accumulators_of(plan, reduction, Scope.LOCAL)
    axes = loops_as_read(plan, store, acc)
    turned = s.state.stage(store).loops[-1].name != axes[-1]
    *before, columns = axes
    extents = {axis: plan.extent(store, axis) for axis in axes}
    weight = packed_weight(plan)
    assert weight is not None
    assert isinstance(weight.shape[-1], int)
    is_map = len(weight.shape) > 3  # [.., window, words, columns]
    outer, inner = before[:-1], before[-1:]
    rows_outer: list[str | None] = []
    if inner:
        row_outer, row = plan.tile(store, inner[0], dividing_tile(extents[inner[0]], MOST_ROWS))
        rows_outer, inner = [row_outer], [row]
        if is_map and row_outer is None and _goes_in_pairs(plan, store, row, outer[-1]):
            line_outer, line = plan.tile(store, outer[-1], 2)
            outer, rows_outer, inner = outer[:-1], [line_outer], [line, row]
        elif is_map:
            rows_outer, outer = [outer[-1], row_outer], outer[:-1]
    column_outer, column = plan.tile(store, columns, weight.shape[-1])
    blocks = [loop for loop in (*outer, column_outer, *rows_outer) if loop]
    vector = inner.pop() if turned and inner else column
    s.reorder(store, *blocks, *([*inner, column] if vector != column else inner), vector)
    innermost = plan.parallelize(store, blocks, plan.iterations(acc), _PRODUCTS_PER_NANOSECOND)
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    s.tensorize(acc, s.state.stage(acc).loops[0].name, NAME)
    plan.vectorize_columns(store, vector, plan.vector_lanes)


def _goes_in_pairs(plan: Plan, store: str, row: str, lines: str) -> bool:
    """Whether two short rows of a map are done together."""
    width, count = plan.extent(store, row), plan.extent(store, lines)
    return isinstance(width, int) and width <= _TILE_ROWS and isinstance(count, int) and count % 2 == 0


def _compute_beforehand(plan: Plan, stage: str) -> None:
    """In vectors along the last axis, rows shared out."""
    loops = [loop.name for loop in plan.steps.state.stage(stage).loops]
    extents = tuple(plan.extent(stage, loop) for loop in loops)
    _, lanes = plan.tile(stage, loops[-1], plan.lanes_at_a_time(plan.steps.state.stage(stage), extents[-1]))
    plan.steps.vectorize(stage, lanes)
    plan.parallelize(stage, loops[:-1], product(extents))

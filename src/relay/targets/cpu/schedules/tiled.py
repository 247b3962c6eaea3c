"""Products of words by the tiles of AMX: sums of a block in a buffer in the first-level cache, from where the epilogue
takes them. Used in place of register tiles (`matmul`, `conv`) where the machine has tiles for the type of the data.

Loops, where there are more weights than data and results: blocks of rows that the second-level cache holds · panels of
weights, the next on its way · tiles of rows. Else: tiles of rows · panels, so that results that lie together are
written together. Inside: the micro-kernel, then rows × vectors of the epilogue. Formulas in front, as what pads data,
are computed beforehand: tiles are loaded from memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.expr import Op
from relay.ir.types import TensorType
from relay.ops.conv import Conv2DAttributes
from relay.targets.cpu.intrinsics.product_by_tiles import MOST_ROWS, NAME, STEP_WORDS, TILE_ROWS
from relay.targets.cpu.schedules.matmul import prefetch_next_panel
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, dividing_tile, even_tile, loops_as_read, product
from relay.targets.cpu.schedules.tiles import packed_weight, tile_dtypes
from relay.te.tensor import Tensor
from relay.tir.buffer import Scope

_PRODUCTS = ("nn.contrib_dense_words", "nn.contrib_conv2d_words")
_PRODUCTS_PER_NANOSECOND = 1000
_WEIGHT_BYTES_PER_NANOSECOND = 64  # from the second-level cache
_MOST_LINES_APART = 2
_WORD_BYTES = 4


def goes_by_tiles(plan: Plan) -> bool:
    """Whether the group's heavy operator is a product of words of a type that there are tiles for."""
    found = _product_of(plan)
    return found is not None and found.data.dtype in tile_dtypes(plan.target)


def schedule_by_tiles(plan: Plan, reduction: str) -> None:
    """`reduction[.., rows, columns]`, dense or convolution, with everything behind it fused."""
    found, weight = _product_of(plan), packed_weight(plan)
    assert found is not None
    assert weight is not None
    assert isinstance(weight.shape[-1], int)
    front = plan.formulas_read_by(reduction)
    plan.inline_formulas(keep=frozenset(front))
    for stage in front:
        _compute_beforehand(plan, stage)
    s = plan.steps
    acc, store = accumulators_of(plan, reduction, Scope.LOCAL)
    *before, columns = loops_as_read(plan, store, acc)
    turned = s.state.stage(store).loops[-1].name != columns
    batch, tiles, inner = _tiles_of_rows(plan, store, before, _lines_together(plan, store, before, found, weight))
    panel, column = plan.tile(store, columns, weight.shape[-1])
    vector = inner.pop() if turned and inner else column
    inside = [*inner, column] if vector != column else inner
    streams = _weights_stream(plan, found, weight)
    around, within = _blocks_of_rows(plan, store, tiles, found) if streams else (tiles, [])
    outer = [*batch, *around, *([panel] if panel else []), *within]
    s.reorder(store, *outer, *inside, vector)
    if streams:
        innermost = plan.parallelize(store, outer, _weight_bytes(weight), _WEIGHT_BYTES_PER_NANOSECOND)
    else:
        innermost = plan.parallelize(store, outer, plan.iterations(acc), _PRODUCTS_PER_NANOSECOND)
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    step = _sum_in_steps(plan, acc, found)
    if streams:
        prefetch_next_panel(plan, acc, step, store, panel)
    s.tensorize(acc, s.state.stage(acc).loops[0].name, NAME)
    plan.vectorize_columns(store, vector, plan.vector_lanes)


@frozen
class _Product:
    """The group's product of words: its attributes, if it is a convolution, and the type of its data."""

    convolution: Conv2DAttributes | None
    data: TensorType

    @property
    def data_bytes(self) -> IntExpr:
        return product(self.data.shape) * self.data.dtype.item_bytes


def _product_of(plan: Plan) -> _Product | None:
    for call, _ in plan.group.anchors:
        data = call.args[0].checked_type
        if isinstance(call.op, Op) and call.op.name in _PRODUCTS and isinstance(data, TensorType):
            return _Product(call.attrs if isinstance(call.attrs, Conv2DAttributes) else None, data)
    return None


def _tiles_of_rows(
    plan: Plan, store: str, axes: Sequence[str], together: int
) -> tuple[list[str], list[str], list[str]]:
    """Loops outside of rows, over tiles of rows, and inside of these: `together` lines of a map, else rows of a matrix
    or of one line (0: there are no lines)."""
    if not axes:
        return [], [], []
    *outside, rows = axes
    lines = [outside.pop()] if together else []
    if together > 1:
        line_outer, line = plan.tile(store, lines[0], dividing_tile(plan.extent(store, lines[0]), together))
        return outside, [line_outer] if line_outer else [], [line, rows]
    row_outer, row = plan.tile(store, rows, dividing_tile(plan.extent(store, rows), MOST_ROWS))
    return outside, [*lines, *([row_outer] if row_outer else [])], [row]


def _lines_together(plan: Plan, store: str, axes: Sequence[str], found: _Product, weight: Tensor) -> int:
    """How many lines of a map a block may have: short ones that follow each other in memory as one, others two at a
    time, each in a tile of its own. 0 where there are none, or they are not of known length."""
    if found.convolution is None or not axes:
        return 0
    length = plan.extent(store, axes[-1])
    if not isinstance(length, int):
        return 0
    if plan.extent(store, axes[-2]) == 1:
        return 1
    if weight.shape[1:3] == (1, 1) and found.convolution.strides == (1, 1):
        return max(1, MOST_ROWS // length)
    return _MOST_LINES_APART if length <= TILE_ROWS else 1


def _weights_stream(plan: Plan, found: _Product, weight: Tensor) -> bool:
    """Whether to go through panels of weights one by one, with all rows: there are more of them than of what they are
    multiplied with and give, or more than the second-level cache holds."""
    result = plan.output.outputs[0]
    weight_bytes = _weight_bytes(weight)
    maps_bytes = found.data_bytes + product(result.shape) * result.dtype.item_bytes
    if not isinstance(weight_bytes, int) or not isinstance(maps_bytes, int):
        return True
    return weight_bytes > maps_bytes or weight_bytes > plan.target.cache_bytes[1] // 2


def _weight_bytes(weight: Tensor) -> IntExpr:
    return product(weight.shape) * weight.dtype.item_bytes


def _blocks_of_rows(plan: Plan, store: str, tiles: Sequence[str], found: _Product) -> tuple[list[str], list[str]]:
    """Loops over blocks of rows whose data half of the second-level cache holds, and over the tiles of a block."""
    data_bytes, room = found.data_bytes, plan.target.cache_bytes[1] // 2
    count = plan.extent(store, tiles[0]) if tiles else 1
    if not isinstance(data_bytes, int) or not isinstance(count, int) or data_bytes <= room:
        return [], list(tiles)
    block, tile = plan.tile(store, tiles[0], even_tile(count, max(1, room * count // data_bytes)))
    return [block] if block else [], [tile, *tiles[1:]]


def _sum_in_steps(plan: Plan, acc: str, found: _Product) -> str:
    """Loops over sums, and inside of them a block and the words of a step. Gives the loop over steps.

    Words of pixels next to each other lie together in memory: where one has few, a step takes those of several.
    """
    s = plan.steps
    summed = [loop.name for loop in s.state.stage(acc).loops if loop.is_reduction]
    rest = [loop.name for loop in s.state.stage(acc).loops if not loop.is_reduction]
    words = plan.extent(acc, summed[-1])
    assert isinstance(words, int)
    if len(summed) > 1 and _lie_together(found, words):
        line = plan.extent(acc, summed[-2])
        if isinstance(line, int) and _step(line * words) > _step(words):
            words, fused = line * words, s.fuse(acc, summed[-2], summed[-1])
            summed = [*summed[:-2], fused]
    steps, step = s.split(acc, summed[-1], factor=_step(words))
    s.reorder(acc, *summed[:-1], steps, *rest, step)
    return steps


def _lie_together(found: _Product, words: int) -> bool:
    """Whether the words of a pixel are followed by those of the next, in each line of the window."""
    dense = found.convolution is not None and found.convolution.dilation == (1, 1)
    return dense and found.data.shape[-1] * found.data.dtype.item_bytes == _WORD_BYTES * words


def _step(words: int) -> int:
    """Words of a step: the most that divide them."""
    return max(step for step in range(1, STEP_WORDS + 1) if words % step == 0)


def _compute_beforehand(plan: Plan, stage: str) -> None:
    """In vectors along the last axis, rows shared out."""
    loops = [loop.name for loop in plan.steps.state.stage(stage).loops]
    extents = tuple(plan.extent(stage, loop) for loop in loops)
    _, lanes = plan.tile(stage, loops[-1], plan.lanes_at_a_time(plan.steps.state.stage(stage), extents[-1]))
    plan.steps.vectorize(stage, lanes)
    plan.parallelize(stage, loops[:-1], product(extents))

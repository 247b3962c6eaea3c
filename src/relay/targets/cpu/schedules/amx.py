"""Packed dot products by the tiles of AMX: sums of a block in a buffer in the first-level cache, from where the
epilogue takes them. Used in place of register tiles where the machine has tiles for the type of the data.

Loops, where there are more weights than data and results: blocks of rows that the second-level cache holds · panels of
weights, the next on its way · tiles of rows. Else: tiles of rows · panels, so that results that lie together are
written together. Inside: the micro-kernel, then rows × vectors of the epilogue. Formulas in front, as what pads data,
are computed beforehand: tiles are loaded from memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr, ceil_divide
from relay.base.frozen import frozen
from relay.ir.expr import Op
from relay.ir.types import TensorType
from relay.ops.nn.conv import Conv2DAttributes
from relay.targets.cpu.intrinsics.product_by_tiles import MOST_ROWS, NAME, STEP_WORDS, TILE_ROWS
from relay.targets.cpu.schedules.accumulation import Summing, prefetch_next_panel
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, dividing_tile, even_tile, loops_as_read, product
from relay.targets.cpu.schedules.register_tiles import packed_weight, tile_dtypes
from relay.te.schedule.space import Decider
from relay.te.tensor import Tensor
from relay.tir.buffer import Scope

_PRODUCTS = ("nn.contrib_dense_words", "nn.contrib_conv2d_words")
_MOST_LINES_APART = 2
_WORD_BYTES = 4


@frozen
class AmxProduct:
    """A group around a product: the stage that accumulates and the one that stores, the loops of the latter, in the
    order in which results are read, and the packed weight."""

    acc: str
    store: str
    before: tuple[str, ...]
    columns: str
    of: _Product
    weight: Tensor


@frozen
class Tiles:
    """`lines` of a map that a block has (0: rows of a matrix, or of one line); `streams`: panels of weights are gone
    through one by one, with all rows, in blocks of so many tiles of rows (0: all)."""

    lines: int
    rows: int
    streams: bool
    block: int


def fits_amx(plan: Plan) -> bool:
    """Whether the group's heavy operator is a packed product of a type that there are tiles for."""
    found = _product_of(plan)
    return found is not None and len(plan.reductions()) == 1 and found.data.dtype in tile_dtypes(plan.target)


def read(plan: Plan) -> AmxProduct:
    """`reduction[.., rows, columns]`, dense or convolution, with everything behind it fused."""
    reduction = plan.reductions()[0].name
    found, weight = _product_of(plan), packed_weight(plan)
    assert found is not None
    assert weight is not None
    front = plan.formulas_read_by(reduction)
    plan.inline_formulas(keep=frozenset(front))
    for stage in front:
        _compute_beforehand(plan, stage)
    acc, store = accumulators_of(plan, reduction, Scope.LOCAL)
    *before, columns = loops_as_read(plan, store, acc)
    return AmxProduct(acc, store, tuple(before), columns, found, weight)


def decide(plan: Plan, found: AmxProduct, pick: Decider) -> Tiles:
    extents = [plan.extent(found.store, loop) for loop in found.before]
    lines = rows = 0
    if extents:
        options = _lines_together(found, extents)
        reason = "lines that follow each other are as one, short ones apart two tiles"
        lines = pick("lines", options[0], options, reason) if options[0] else 0
        extent, most = (extents[-2], lines) if lines > 1 else (extents[-1], MOST_ROWS)
        rows = pick("rows", dividing_tile(extent, most), range(1, most + 1), f"at most {most}, and no rest is left")
    streams, reason = _weights_stream(plan, found)
    streams = pick("streams", streams, (False, True), reason)
    count = _count_of_tiles(extents, lines, rows)
    block = 0
    if streams and isinstance(count, int):
        best = _tiles_of_block(plan, found.of, count)
        reason = "tiles of rows whose data take half of the second-level cache; 0: all do"
        block = pick("block", best, range(count), reason)
    return Tiles(lines, rows, streams, block)


def build(plan: Plan, found: AmxProduct, tiles: Tiles) -> None:
    s, acc, store = plan.steps, found.acc, found.store
    weight = found.weight
    assert isinstance(weight.shape[-1], int)
    transposes = s.loops(store)[-1] != found.columns
    batch, rows, inner = _tiles_of_rows(plan, found, tiles)
    panel, column = plan.tile(store, found.columns, weight.shape[-1])
    vector = inner.pop() if transposes and inner else column
    inside = [*inner, column] if vector != column else inner
    around, within = _blocks_of_rows(plan, store, rows, tiles)
    outer = (*batch, *around, *panel, *within)
    s.reorder(store, *outer, *inside, vector)
    if tiles.streams:
        innermost = plan.parallelize(store, outer, _weight_bytes(weight), plan.core.l2_weight_bytes)
    else:
        innermost = plan.parallelize(store, outer, plan.iterations(acc), plan.core.amx_products)
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    step = _sum_in_steps(plan, acc, found.of)
    if tiles.streams:
        prefetch_next_panel(plan, Summing(acc, step), store, panel[0] if panel else None)
    s.tensorize(acc, s.loops(acc)[0], NAME)
    plan.vectorize_columns(store, vector, plan.vector_lanes)


@frozen
class _Product:
    """The group's packed dot product: its attributes, if it is a convolution, and the type of its data."""

    convolution: Conv2DAttributes | None
    data: TensorType

    @property
    def data_bytes(self) -> IntExpr:
        return product(self.data.shape) * self.data.dtype.item_bytes


def _product_of(plan: Plan) -> _Product | None:
    for call, _ in plan.group.anchors:
        if isinstance(call.op, Op) and call.op.name in _PRODUCTS:
            data = call.args[0].checked_type
            assert isinstance(data, TensorType)
            return _Product(call.attrs if isinstance(call.attrs, Conv2DAttributes) else None, data)
    return None


def _tiles_of_rows(plan: Plan, found: AmxProduct, tiles: Tiles) -> tuple[list[str], list[str], list[str]]:
    """Loops outside of rows, over tiles of rows, and inside of these."""
    if not found.before:
        return [], [], []
    *outside, rows = found.before
    lines = [outside.pop()] if tiles.lines else []
    if tiles.lines > 1:
        line_outer, line = plan.tile(found.store, lines[0], tiles.rows)
        return outside, [*line_outer], [line, rows]
    row_outer, row = plan.tile(found.store, rows, tiles.rows)
    return outside, [*lines, *row_outer], [row]


def _lines_together(found: AmxProduct, extents: Sequence[IntExpr]) -> Sequence[int]:
    """How many lines of a map a block may have, the model's first: short ones that follow each other in memory as one,
    others two at a time, each in a tile of its own. 0 where there are none, or they are not of known length."""
    length, convolution = extents[-1], found.of.convolution
    if convolution is None or not isinstance(length, int):
        return (0,)
    if extents[-2] == 1:
        return (1,)
    if found.weight.shape[1:3] == (1, 1) and convolution.strides == (1, 1):
        return range(max(1, MOST_ROWS // length), 0, -1)
    return range(_MOST_LINES_APART if length <= TILE_ROWS else 1, 0, -1)


def _count_of_tiles(extents: Sequence[IntExpr], lines: int, rows: int) -> IntExpr:
    """Iterations of the outermost loop over tiles of rows."""
    if not extents:
        return 1
    if lines == 1:
        return extents[-2]
    return ceil_divide(extents[-2] if lines else extents[-1], rows)


def _weights_stream(plan: Plan, found: AmxProduct) -> tuple[bool, str]:
    """Whether to go through panels of weights one by one, with all rows, and why."""
    result = plan.output.outputs[0]
    weight_bytes = _weight_bytes(found.weight)
    maps_bytes = found.of.data_bytes + product(result.shape) * result.dtype.item_bytes
    if not isinstance(weight_bytes, int) or not isinstance(maps_bytes, int):
        return True, "how many rows there are is not known"
    if weight_bytes > maps_bytes:
        return True, "there are more weights than what they are multiplied with and give"
    large = weight_bytes > plan.core.l2_bytes // 2
    return large, f"weights take {'more' if large else 'less'} than half of the second-level cache"


def _weight_bytes(weight: Tensor) -> IntExpr:
    return product(weight.shape) * weight.dtype.item_bytes


def _tiles_of_block(plan: Plan, found: _Product, count: int) -> int:
    """Of so many tiles of rows, those whose data half of the second-level cache holds; 0 where it holds all."""
    data_bytes, room = found.data_bytes, plan.core.l2_bytes // 2
    if not isinstance(data_bytes, int) or data_bytes <= room:
        return 0
    tiles = even_tile(count, max(1, room * count // data_bytes))
    return tiles if tiles < count else 0


def _blocks_of_rows(plan: Plan, store: str, rows: Sequence[str], tiles: Tiles) -> tuple[list[str], list[str]]:
    """Loops outside of panels of weights, and those inside: over tiles of rows, or over blocks of these and in them."""
    if not tiles.streams:
        return list(rows), []
    if not rows or not tiles.block:
        return [], list(rows)
    block, tile = plan.tile(store, rows[0], tiles.block)
    return [*block], [tile, *rows[1:]]


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
    loops = list(plan.steps.loops(stage))
    extents = tuple(plan.extent(stage, loop) for loop in loops)
    _, lanes = plan.tile(stage, loops[-1], plan.lanes_at_a_time(plan.steps.state.stage(stage), extents[-1]))
    plan.steps.vectorize(stage, lanes)
    plan.parallelize(stage, loops[:-1], product(extents))


AMX = Family("amx", "a packed dot product of a type that there are tiles for", fits_amx, read, decide, build)

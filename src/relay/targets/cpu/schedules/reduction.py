"""One reduction and the formulas around it: sums, pooling, and windows of other kinds.

Where the innermost axis of what is read stays in the result, that axis is the lanes; where it is reduced, the reduction
is split in lanes.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, Symbol, free_symbols, linear_parts, multiply
from relay.base.frozen import frozen
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes
from relay.targets.cpu.schedules.accumulation import in_parts
from relay.targets.cpu.schedules.collapse import collapses
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.padding import STAGE, copies_of_data, pad, schedule_copies
from relay.targets.cpu.schedules.plan import (
    Plan,
    accumulators_of,
    dividing_tile,
    even_tile,
    exceeds,
    loops_as_read,
    product,
)  # fmt: skip
from relay.targets.cpu.schedules.row_blocks import convolution_shape, rows_of_block
from relay.te.operation import Compute, Operation, body_values, loads_of, scalar_indices
from relay.te.schedule.space import Decider
from relay.tir.buffer import Scope
from relay.tir.expr import Ramp

_QUARTERS = 4
_LARGEST_UNROLLED_WINDOW = 9
_FORMS = {
    "everything": "one number is made of whole tensors",
    "channels": "the innermost axis stays, and its elements are the lanes",
    "rows": "the innermost axis is reduced, in lanes of partial results",
}
LARGEST_NCHW_WINDOW = 25
"""Taps up to which the window of a convolution of channels in front of space is written out: its weights are single
numbers, not vectors that must stay in registers."""


@frozen
class Reduction:
    """A group around one reduction: the copies of a convolution's data, the stage that accumulates and the one that
    stores. `form`: one of `_FORMS`."""

    form: str
    copies: tuple[str, ...]
    acc: str
    store: str


@frozen
class ChannelTiles:
    """Entries of the axis before the lanes that share what they read, and the rows of a block for which the data of a
    convolution are copied (0: all)."""

    columns: int
    block_rows: int


@frozen
class Decided:
    """`parts` of a tensor that threads reduce to one number each; `vectors` of a row that are summed side by side (0:
    `tiles`)."""

    parts: int = 0
    vectors: int = 0
    tiles: ChannelTiles | None = None


def in_lanes(plan: Plan, stage: str, scope: Scope = Scope.REGISTER) -> tuple[str, ...]:
    """Split a reduction along a contiguous axis into vectors of partial results, in `scope`, and combine these at the
    end: a few vectors into one, that into a quarter of it, then one by one. Gives the stages of partial results; none
    where the axis is too short for that."""
    lanes = plan.vector_lanes
    loop, extent = _fuse_contiguous(plan, stage), _contiguous(plan, stage)[1]
    if not exceeds(extent, lanes - 1):
        return ()
    widths = [lanes] if lanes <= _QUARTERS else [lanes, lanes // _QUARTERS]
    several = plan.core.vectors_in_flight * lanes
    if exceeds(extent, 2 * several - 1):  # several sums at a time hide the latency of adding
        widths = [several, *widths]
    partials: list[str] = []
    for width in widths:
        partial, loop = _partial(plan, stage, loop, width, scope)
        if partials:
            plan.steps.unroll(partial, next(x.name for x in plan.steps.state.stage(partial).loops if x.is_reduction))
        partials.append(partial)
    plan.steps.unroll(stage, loop)
    return tuple(partials)


def of_everything(plan: Plan, stage: str, parts: int | None = None) -> None:
    """One number made of whole tensors: threads reduce `parts` of what lies together in memory, in lanes; 0: all at
    once. As many as the model takes where that is not given."""
    s = plan.steps
    parts = _parts_of_everything(plan, stage)[0] if parts is None else parts
    if not parts:
        in_lanes(plan, stage)
        return
    stretch, _ = s.split(stage, _fuse_contiguous(plan, stage), parts=parts)
    sums = s.rfactor(stage, stretch)
    s.parallel(sums, stretch)
    for partial in in_lanes(plan, sums):
        s.compute_at(partial, sums, stretch)


def _parts_of_everything(plan: Plan, stage: str) -> tuple[int, int]:
    """Into how many parts to cut what is reduced to one number, 0 where it is too little, and how many there may be."""
    work = plan.iterations(stage)
    _, extent = _contiguous(plan, stage)
    most = plan.core.stretches * plan.threads
    if not isinstance(work, int) or not plan.pays_in_parallel(work):
        return 0, most
    return dividing_tile(extent, most), most


def _contiguous(plan: Plan, stage: str) -> tuple[int, IntExpr]:
    """How many of the innermost axes of a reduction are one axis in memory, and the extent of that."""
    *axes, inner = plan.compute(stage).reduce_axes
    count, extent = 1, inner.extent
    while axes and isinstance(extent, int) and collapses(plan.steps.state.stage(stage), axes[-1], inner):
        inner = axes.pop()
        count, extent = count + 1, multiply(inner.extent, extent)
    return count, extent


def _fuse_contiguous(plan: Plan, stage: str) -> str:
    """The loop along these axes."""
    *loops, fused = [each.name for each in plan.steps.state.stage(stage).loops if each.is_reduction]
    for _ in range(_contiguous(plan, stage)[0] - 1):
        fused = plan.steps.fuse(stage, loops.pop(), fused)
    return fused


def _partial(plan: Plan, stage: str, loop: str, width: int, scope: Scope) -> tuple[str, str]:
    """`width` partial results along a reducing loop: their stage, and the loop of `stage` that is left to combine."""
    s = plan.steps
    _, lane = s.split(stage, loop, factor=width)
    partial = s.rfactor(stage, lane)
    s.set_scope(partial, scope)
    sum_vectors(plan, partial, lane)
    return partial, lane


def sum_vectors(plan: Plan, stage: str, lane: str) -> None:
    """Sum vectors of `lane`, the innermost of what is left: in parts, where that is much."""
    s = plan.steps
    parts = in_parts(plan, stage, plan.core.longest_sum)
    for each in (stage,) if parts is None else (stage, parts.stage):
        loops = s.state.stage(each).loops
        summed = [loop.name for loop in loops if loop.is_reduction]
        others = [loop.name for loop in loops if not loop.is_reduction and loop.name != lane]
        s.reorder(each, *others, *summed, lane)
        plan.vectorize_columns(each, lane, plan.vector_lanes)


def has_one_reduction(plan: Plan) -> bool:
    return len(plan.reductions()) == 1


def read(plan: Plan) -> Reduction:
    """One reduction, with padding before it and everything behind it fused.

    Padding is read in place where the window is written out: which taps fall outside is then decided in each copy.
    """
    reduction = plan.reductions()[0].name
    copies: tuple[str, ...] = ()
    unrolled = _is_unrolled(plan, plan.compute(reduction))
    if any(isinstance(call.attrs, Conv2DAttributes) for call, _ in plan.group.anchors):
        copies = tuple(name for name in copies_of_data(plan) if name != STAGE or not unrolled)
        plan.inline_formulas(keep=frozenset(copies))
    elif unrolled:
        plan.inline_formulas()
    else:
        pad(plan)
    operation = plan.compute(reduction)
    if not operation.axes:
        return Reduction("everything", copies, reduction, reduction)
    form = "channels" if keeps_innermost(plan, operation) else "rows"
    if form == "rows":
        schedule_copies(plan, copies)
    return Reduction(form, copies, *accumulators_of(plan, reduction))


def decide(plan: Plan, found: Reduction, pick: Decider) -> Decided:
    pick("form", found.form, (), _FORMS[found.form])
    if found.form == "everything":
        best, most = _parts_of_everything(plan, found.acc)
        return Decided(parts=pick("parts", best, range(most + 1), "stretches of memory for threads; 0: no threads"))
    if found.form == "rows":
        return Decided()
    vectors = 0
    if not found.copies:
        options = _vectors_of_a_row(plan, found.acc, found.store)
        reason = "vectors side by side leave no rest, and each thread has equally many" if options else "not whole rows"
        vectors = pick("vectors", (*options, 0)[0], (*options, 0), reason)
    if vectors:
        return Decided(vectors=vectors)
    return Decided(tiles=decide_channel_tiles(plan, found.acc, found.store, found.copies, pick))


def build(plan: Plan, found: Reduction, decided: Decided) -> None:
    if found.form == "everything":
        of_everything(plan, found.acc, decided.parts)
    elif found.form == "rows":
        _along_rows(plan, found.acc, found.store)
    elif decided.tiles is not None:
        channels_in_tiles(plan, found.acc, found.store, decided.tiles, found.copies)
    else:
        _rows_in_lanes(plan, found.acc, found.store, decided.vectors * plan.vector_lanes)


def _is_unrolled(plan: Plan, operation: Compute) -> bool:
    """Whether the whole window of a reduction is written out."""
    window = product(tuple(axis.extent for axis in operation.reduce_axes))
    convolutions = [
        each.attrs for each, _ in plan.group.anchors if isinstance(each.attrs, (Conv1DAttributes, Conv2DAttributes))
    ]
    is_nchw = any(each.data_layout in ("NCW", "NCHW") for each in convolutions)
    return isinstance(window, int) and window <= (LARGEST_NCHW_WINDOW if is_nchw else _LARGEST_UNROLLED_WINDOW)


def _along_rows(plan: Plan, acc: str, store: str) -> None:
    s = plan.steps
    innermost = plan.parallelize(store, s.loops(store), plan.iterations(acc))
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    for partial in in_lanes(plan, acc):
        s.compute_at(partial, store, innermost)


def _vectors_of_a_row(plan: Plan, acc: str, store: str) -> tuple[int, ...]:
    """How many vectors may be summed side by side where whole rows are, as many for each thread, the most first; none
    where there are windows, which share what they read, or rows end inside a vector."""
    operation, lanes = plan.compute(acc), plan.vector_lanes
    loops = loops_as_read(plan, store, acc)
    extent = plan.extent(store, loops[-1])
    kept = frozenset(operation.axes)
    indices = [index for load in loads_of(body_values(operation.body)) for index in scalar_indices(load)]
    if not all(isinstance(index, Symbol) or kept.isdisjoint(free_symbols(index)) for index in indices):
        return ()
    transposes = plan.steps.loops(store)[-1] != loops[-1]
    if transposes or not isinstance(extent, int) or extent % lanes:
        return ()
    total, most = extent // lanes, plan.core.register_count // 2
    parts = max(2, plan.target.num_threads) if len(loops) == 1 else 1
    return tuple(count for count in range(most, 1, -1) if total % (count * parts) == 0)


def _rows_in_lanes(plan: Plan, acc: str, store: str, width: int) -> None:
    """Sums of whole rows, `width` of their elements at a time: what is read of a row lies together, and follows from
    row to row in few streams of addresses."""
    s = plan.steps
    *rows, columns = loops_as_read(plan, store, acc)
    column_outer, column = plan.tile(store, columns, width)
    outer = (*rows, *column_outer)
    s.reorder(store, *outer, column)
    innermost = plan.parallelize(store, outer, plan.iterations(acc))
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    sum_vectors(plan, acc, plan.compute(acc).axes[-1].name)
    plan.vectorize_columns(store, column, plan.vector_lanes)


def decide_channel_tiles(
    plan: Plan, acc: str, store: str, copies: tuple[str, ...], pick: Decider, prefix: str = ""
) -> ChannelTiles:
    """The tiles of a reduction that keeps the innermost axis."""
    *others, _ = (plan.extent(store, loop) for loop in loops_as_read(plan, store, acc))
    columns, most = 1, plan.core.columns_sharing_loads
    if others:
        reason = f"even parts of {others[-1]} of at most {most}, which share what they read"
        columns = pick(f"{prefix}columns", even_tile(others[-1], most), range(1, most + 1), reason)
    block_rows = 0
    if copies:
        rows = others[1]
        cuts = range(1, rows) if isinstance(rows, int) else ()
        reason = "the rows whose copied data stay in the second-level cache; 0: all of them do, or blocks are uneven"
        block_rows = pick(f"{prefix}block_rows", _rows_to_copy(plan, acc, copies) or 0, (0, *cuts), reason)
    return ChannelTiles(columns, block_rows)


def channels_in_tiles(
    plan: Plan, acc: str, store: str, tiles: ChannelTiles, copies: tuple[str, ...] = (), is_part: bool = False
) -> None:
    """Reductions that keep the innermost axis (pooling, depthwise convolution, sums over leading axes): that axis is
    the lanes, and a few entries of the axis before it share what is read. `copies` of the data of a convolution are
    made for a block of rows at a time, where the whole would not stay in the cache. `is_part`: this is computed for a
    part of something else, which the threads share out."""
    s = plan.steps
    loops = loops_as_read(plan, store, acc)
    transposes = s.loops(store)[-1] != loops[-1]
    blocks: list[str] = []
    if tiles.block_rows:
        row_block, loops[1] = s.split(store, loops[1], factor=tiles.block_rows)
        blocks = [loops.pop(0), row_block]
    *loops, channels = loops
    lane_outer, vector = plan.tile(store, channels, plan.vector_lanes)
    tile: list[str] = []
    column_outer: tuple[str, ...] = ()
    if loops:
        column_outer, column = plan.tile(store, loops.pop(), tiles.columns)
        tile = [column]
    outer = (*loops, *column_outer, *lane_outer)
    if transposes and tile:
        tile, vector = [vector], tile[0]
    s.reorder(store, *blocks, *outer, *tile, vector)
    operation = plan.compute(acc)
    work = plan.iterations(acc)
    if blocks:
        schedule_copies(plan, copies, store, plan.parallelize(store, blocks, work))
        innermost = outer[-1]
    else:
        schedule_copies(plan, copies)
        innermost = outer[-1] if is_part else plan.parallelize(store, outer, work)
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    parts = in_parts(plan, acc, plan.core.longest_sum)
    for each in (acc,) if parts is None else (acc, parts.stage):
        summed = [axis.name for axis in plan.compute(each).reduce_axes]
        *inner, lanes = [axis.name for axis in plan.compute(each).axes if parts is None or axis.name != parts.loop]
        s.reorder(each, *summed, *inner, lanes)
        plan.unroll(each, inner)
        s.vectorize(each, lanes)
        if _is_unrolled(plan, operation):
            plan.unroll(each, summed)
    plan.unroll(store, tile)
    s.vectorize(store, vector)


def _rows_to_copy(plan: Plan, acc: str, copies: tuple[str, ...]) -> int | None:
    """The rows of a convolution's result in a block whose data are copied together; None for all of them."""
    shape = convolution_shape(plan, acc)
    operation = plan.compute(acc)
    whole = product((shape.rows, shape.row_bytes, shape.stride_down, len(copies)))
    if isinstance(whole, int) and whole <= plan.core.l2_bytes // 2:
        return None
    return rows_of_block(plan, shape, 1, operation.axes[0].extent, len(copies))


def keeps_innermost(plan: Plan, operation: Operation) -> bool:
    """Whether the innermost axis of the result is to be the lanes: something is read along it, and nothing longer is
    reduced along the contiguous axis of what is read. Half a vector of it always will do."""
    assert isinstance(operation, Compute)
    if not operation.axes:
        return False
    reduced: list[IntExpr] = [1]
    is_read = False
    for load in loads_of(body_values(operation.body)):
        last = load.indices[-1] if load.indices else 0
        terms = [term for term, _ in linear_parts(last.base if isinstance(last, Ramp) else last)[1]]
        is_read = is_read or operation.axes[-1] in terms
        reduced.append(product(tuple(axis.extent for axis in operation.reduce_axes if axis in terms)))
    kept, half = operation.axes[-1].extent, plan.vector_lanes // 2
    longest = max(extent if isinstance(extent, int) else half for extent in reduced)
    return longest == 1 or (is_read and (not isinstance(kept, int) or kept >= min(longest, half)))


REDUCTION = Family("reduction", "one reduction", has_one_reduction, read, decide, build)

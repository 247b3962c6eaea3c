"""One reduction and the formulas around it: sums, pooling, and windows of other kinds.

Where the innermost axis of what is read stays in the result, that axis is the lanes; where it is reduced, the reduction
is split in lanes.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, Symbol, linear_parts, multiply
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.targets.cpu.schedules.collapse import collapses
from relay.targets.cpu.schedules.padding import STAGE, copies_of_data, pad, schedule_copies
from relay.targets.cpu.schedules.plan import Plan, accumulators_of, dividing_tile, even_tile, loops_as_read, product
from relay.targets.cpu.schedules.row_blocks import convolution_shape, rows_of_block
from relay.te.operation import Compute, Operation, body_values, loads_of, scalar_indices
from relay.tir.buffer import Scope
from relay.tir.expr import Ramp

_COLUMNS = 8
_QUARTERS = 4
_VECTORS = 4
_STRETCHES = 8  # of a tensor, for each thread
_LARGEST_UNROLLED_WINDOW = 9
LARGEST_PLANAR_WINDOW = 25
"""Taps up to which the window of a convolution of channels in front of space is written out: its weights are single
numbers, not vectors that must stay in registers."""


def in_lanes(plan: Plan, stage: str, scope: Scope = Scope.REGISTER) -> tuple[str, ...]:
    """Split a reduction along a contiguous axis into vectors of partial results, in `scope`, and combine these at the
    end: a few vectors into one, that into a quarter of it, then one by one. Gives the stages of partial results; none
    where the axis is too short for that."""
    operation = plan.compute(stage)
    loop, extent = _contiguous(plan, stage, operation)
    lanes = plan.vector_lanes
    if not isinstance(extent, int) or extent < lanes:
        return ()
    widths = [lanes] if lanes <= _QUARTERS else [lanes, lanes // _QUARTERS]
    if extent >= 2 * _VECTORS * lanes:  # several sums at a time hide the latency of adding
        widths = [_VECTORS * lanes, *widths]
    partials: list[str] = []
    for width in widths:
        partial, loop = _partial(plan, stage, loop, width, scope)
        if partials:
            plan.steps.unroll(partial, next(x.name for x in plan.steps.state.stage(partial).loops if x.is_reduction))
        partials.append(partial)
    plan.steps.unroll(stage, loop)
    return tuple(partials)


def of_everything(plan: Plan, stage: str) -> None:
    """One number made of whole tensors: threads reduce stretches of what lies together in memory, in lanes."""
    s = plan.steps
    work = plan.iterations(stage)
    if not isinstance(work, int) or not plan.pays_in_parallel(work):
        in_lanes(plan, stage)
        return
    loop, extent = _contiguous(plan, stage, plan.compute(stage))
    parts = dividing_tile(extent, _STRETCHES * plan.threads)
    stretch, _ = s.split(stage, loop, parts=parts)
    sums = s.rfactor(stage, stretch)
    s.parallel(sums, stretch)
    for partial in in_lanes(plan, sums):
        s.compute_at(partial, sums, stretch)


def _contiguous(plan: Plan, stage: str, operation: Compute) -> tuple[str, IntExpr]:
    """The loop along the innermost axes of a reduction, as many as are one axis in memory, and its extent."""
    *axes, inner = operation.reduce_axes
    *names, loop = [each.name for each in plan.steps.state.stage(stage).loops if each.is_reduction]
    extent = inner.extent
    while axes and isinstance(extent, int) and collapses(plan.steps.state.stage(stage), axes[-1], inner):
        inner = axes.pop()
        loop = plan.steps.fuse(stage, names.pop(), loop)
        extent = multiply(inner.extent, extent)
    return loop, extent


def _partial(plan: Plan, stage: str, loop: str, width: int, scope: Scope) -> tuple[str, str]:
    """`width` partial results along a reducing loop: their stage, and the loop of `stage` that is left to combine."""
    s = plan.steps
    _, lane = s.split(stage, loop, factor=width)
    partial = s.rfactor(stage, lane)
    s.set_scope(partial, scope)
    loops = s.state.stage(partial).loops
    summed = [each.name for each in loops if each.is_reduction]
    others = [each.name for each in loops if not each.is_reduction and each.name != lane]
    s.reorder(partial, *others, *summed, lane)
    plan.vectorize_columns(partial, lane, plan.vector_lanes)
    return partial, lane


def schedule_reduction(plan: Plan, reduction: str) -> None:
    """One reduction, with padding before it and everything behind it fused.

    Padding is read in place where the window is written out: which taps fall outside is then decided in each copy.
    """
    operation = plan.compute(reduction)
    copies: tuple[str, ...] = ()
    if any(isinstance(call.attrs, Conv2DAttributes) for call, _ in plan.group.anchors):
        unrolled = _is_unrolled(plan, operation)
        copies = tuple(name for name in copies_of_data(plan) if name != STAGE or not unrolled)
        plan.inline_formulas(keep=frozenset(copies))
    elif _is_unrolled(plan, operation):
        plan.inline_formulas()
    else:
        pad(plan)
    operation = plan.compute(reduction)
    if not operation.axes:
        of_everything(plan, reduction)
    elif keeps_innermost(plan, operation):
        schedule_channels(plan, reduction, copies)
    else:
        schedule_copies(plan, copies)
        _along_rows(plan, reduction)


def _is_unrolled(plan: Plan, operation: Compute) -> bool:
    """Whether the whole window of a reduction is written out."""
    window = product(tuple(axis.extent for axis in operation.reduce_axes))
    convolutions = [
        each.attrs for each, _ in plan.group.anchors if isinstance(each.attrs, (Conv1DAttributes, Conv2DAttributes))
    ]
    is_planar = any(each.data_layout in ("NCW", "NCHW") for each in convolutions)
    return isinstance(window, int) and window <= (LARGEST_PLANAR_WINDOW if is_planar else _LARGEST_UNROLLED_WINDOW)


def _along_rows(plan: Plan, reduction: str) -> None:
    s = plan.steps
    acc, store = accumulators_of(plan, reduction)
    loops = [loop.name for loop in s.state.stage(store).loops]
    innermost = plan.parallelize(store, loops, plan.iterations(acc))
    assert innermost is not None
    s.compute_at(acc, store, innermost)
    for partial in in_lanes(plan, acc):
        s.compute_at(partial, store, innermost)


def schedule_channels(plan: Plan, reduction: str, copies: tuple[str, ...] = ()) -> None:
    """Reductions that keep the innermost axis (pooling, depthwise convolution, sums over leading axes): that axis is
    the lanes, and a few entries of the axis before it share what is read. `copies` of the data of a convolution are
    made for a block of rows at a time, where the whole would not stay in the cache."""
    acc, store = accumulators_of(plan, reduction)
    together = None if copies else _vectors_of_a_row(plan, acc, store)
    if together is None:
        channels_in_tiles(plan, acc, store, copies)
    else:
        _rows_in_lanes(plan, acc, store, together * plan.vector_lanes)


def _vectors_of_a_row(plan: Plan, acc: str, store: str) -> int | None:
    """How many vectors to sum side by side where whole rows are, as many for each thread; None where there are windows,
    which share what they read, or rows end inside a vector."""
    operation, lanes = plan.compute(acc), plan.vector_lanes
    loops = loops_as_read(plan, store, acc)
    extent = plan.extent(store, loops[-1])
    loads = loads_of(body_values(operation.body))
    if not all(isinstance(index, Symbol) for load in loads for index in scalar_indices(load)):
        return None
    turned = plan.steps.state.stage(store).loops[-1].name != loops[-1]
    if turned or not isinstance(extent, int) or extent % lanes:
        return None
    total, most = extent // lanes, plan.target.register_count // 2
    parts = max(2, plan.target.num_threads) if len(loops) == 1 else 1
    return next((count for count in range(most, 1, -1) if total % (count * parts) == 0), None)


def _rows_in_lanes(plan: Plan, acc: str, store: str, width: int) -> None:
    """Sums of whole rows, `width` of their elements at a time: what is read of a row lies together, and follows from
    row to row in few streams of addresses."""
    s = plan.steps
    *rows, columns = loops_as_read(plan, store, acc)
    column_outer, column = plan.tile(store, columns, width)
    outer = [loop for loop in (*rows, column_outer) if loop]
    s.reorder(store, *outer, column)
    innermost = plan.parallelize(store, outer, plan.iterations(acc))
    if innermost is not None:
        s.compute_at(acc, store, innermost)
    operation = plan.compute(acc)
    *names, last = [axis.name for axis in operation.axes]
    vectors, lane = s.split(acc, last, factor=plan.vector_lanes)
    s.reorder(acc, *[axis.name for axis in operation.reduce_axes], *names, vectors, lane)
    s.unroll(acc, vectors)
    s.vectorize(acc, lane)
    plan.vectorize_columns(store, column, plan.vector_lanes)


def channels_in_tiles(plan: Plan, acc: str, store: str, copies: tuple[str, ...] = (), is_part: bool = False) -> None:
    """The same for a stage that accumulates and one that stores; `is_part`: this is computed for a part of something
    else, which the threads share out."""
    s = plan.steps
    loops = loops_as_read(plan, store, acc)
    turned = s.state.stage(store).loops[-1].name != loops[-1]
    extents = [plan.extent(store, loop) for loop in loops]
    block_rows = _rows_to_copy(plan, acc, copies)
    blocks: list[str] = []
    if block_rows is not None:
        row_block, loops[1] = s.split(store, loops[1], factor=block_rows)
        blocks = [loops.pop(0), row_block]
    lane_outer, lane_inner = plan.tile(store, loops[-1], plan.vector_lanes)
    outer, tile = loops[:-2], []
    if len(loops) > 1:
        column_outer, column_inner = plan.tile(store, loops[-2], even_tile(extents[-2], _COLUMNS))
        tile = [column_inner]
        outer = [*outer, *[loop for loop in (column_outer,) if loop]]
    outer = [*outer, *[loop for loop in (lane_outer,) if loop]]
    vector = lane_inner
    if turned and tile:
        tile, vector = [lane_inner], tile[0]
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
    summed = [axis.name for axis in operation.reduce_axes]
    inner = [axis.name for axis in operation.axes]
    s.reorder(acc, *summed, *inner)
    for loop in inner[:-1]:
        s.unroll(acc, loop)
    s.vectorize(acc, inner[-1])
    if _is_unrolled(plan, operation):
        for loop in summed:
            s.unroll(acc, loop)
    for loop in tile:
        s.unroll(store, loop)
    s.vectorize(store, vector)


def _rows_to_copy(plan: Plan, acc: str, copies: tuple[str, ...]) -> int | None:
    """The rows of a convolution's result in a block whose data are copied together; None for all of them."""
    if not copies:
        return None
    shape = convolution_shape(plan, acc)
    operation = plan.compute(acc)
    whole = product((shape.rows, shape.row_bytes, shape.stride_down, len(copies)))
    if isinstance(whole, int) and whole <= plan.target.cache_bytes[1] // 2:
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

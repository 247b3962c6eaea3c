"""Several reductions over the same elements (softmax, layer norm, instance norm): everything about a row is computed
while it is in cache.

A row is what one result of a reduction is about: the elements that differ in the axes that are reduced. Where the
innermost axis is reduced, the sum of a row is a vector of partial sums. Where it is kept, its elements are the lanes,
and a vector of rows is computed at a time.
"""

from __future__ import annotations

from relay.arith.expr import FloorDiv, IntExpr, ceil_divide, free_symbols
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.matmul import PRODUCTS
from relay.targets.cpu.schedules.plan import Plan, is_costly, is_reduction, product
from relay.targets.cpu.schedules.reduction import in_lanes, keeps_innermost, of_everything, sum_vectors
from relay.te.operation import Compute, body_values, loads_of, scalar_indices
from relay.te.schedule.space import Decider
from relay.te.state import Stage
from relay.te.tensor import Axis
from relay.tir.buffer import Scope
from relay.tir.expr import Load

LARGEST_REPETITION = 2.0
"""How many times as much as its operators one by one a group of rows may compute: formulas that cost an instruction or
two are computed again in each sweep over a row, which takes no longer than to store and load their results."""


@frozen
class _Rows:
    """Where rows stand in the output: `row` is the loop over them that others are computed at (None: there is but one),
    `scope` where the results for a row live."""

    row: str | None
    scope: Scope
    elements: IntExpr  # of what is computed in one iteration of `row`
    lanes_are_rows: bool


@frozen
class RowGroup:
    """What the reductions of a group are to each other. `form`: `apart`, one stage after another; `long_row`, one row
    that threads share; `rows`, everything about a row while it is in cache. `vectors` of rows that may be
    computed side by side, the model's first."""

    form: str
    reason: str
    vectors: tuple[int, ...] = ()


def is_of_several(plan: Plan) -> bool:
    """Whether there are several reductions, or outputs apart."""
    reductions = plan.reductions()
    return len(reductions) > 1 or (bool(reductions) and plan.has_apart_outputs)


def is_read_often(plan: Plan) -> bool:
    """Whether the output has more elements than the only reduction, which is no product: each result is for several."""
    names = [stage.name for stage in plan.reductions()]
    if len(names) != 1 or names[0] in PRODUCTS:
        return False
    results, elements = (
        product(tuple(axis.extent for axis in plan.compute(stage).axes)) for stage in (names[0], plan.output_name)
    )
    return results != elements


def read(plan: Plan) -> RowGroup:
    """Reductions whose results the output reads, computed at the row; others (ranks, to sort by) one after another."""
    plan.inline_formulas(keep=_costly_of_several_sweeps(plan))
    if not _reads_rows(plan):
        return RowGroup("apart", "a stage reads of reductions more than the results for its own row")
    if _is_long_row(plan):
        return RowGroup("long_row", "one row, long enough to be shared out itself")
    if is_reduction(plan.output):
        plan.steps.cache_write(plan.output_name, Scope.REGISTER)
    return RowGroup("rows", "a row stays in cache between sweeps", _vectors_together(plan, plan.output_name))


def decide(_: Plan, found: RowGroup, pick: Decider) -> int:
    """The vectors of rows that are computed side by side; 1 where rows are no lanes."""
    pick("form", found.form, (), found.reason)
    if not found.vectors:
        return 1
    reason = "more than one line of the cache at a time lies together; no rest, and enough for each thread"
    return pick("vectors", found.vectors[0], found.vectors, reason)


def build(plan: Plan, found: RowGroup, vectors: int) -> None:
    s, output = plan.steps, plan.output_name
    if found.form == "apart":
        schedule_apart(plan)
        return
    if found.form == "long_row":
        for stage in s.state.stages:
            (of_everything if is_reduction(stage) else schedule_formula)(plan, stage.name)
        return
    rows = _loops_over_rows(plan, output, vectors)
    for stage in [stage for stage in s.state.stages if not plan.is_output(stage)]:
        if rows.row is not None:
            s.compute_at(stage.name, output, rows.row)
        if is_reduction(stage):
            _reduce(plan, stage.name, output, rows)
        elif stage.loops:
            if rows.row is not None and isinstance(rows.elements, int) and rows.elements <= plan.core.stack_elements:
                s.set_scope(stage.name, Scope.LOCAL)
            along = stage.loops[-1].name
            outer, lanes = plan.tile(stage.name, along, plan.lanes_at_a_time(stage, plan.extent(stage.name, along)))
            s.vectorize(stage.name, lanes)
            if rows.lanes_are_rows:
                plan.unroll(stage.name, outer)


def _reads_rows(plan: Plan) -> bool:
    """Whether there is one output, and each stage reads of reductions only the results for its own row."""
    state = plan.steps.state
    results = {buffer for stage in plan.reductions() for buffer in stage.outputs}
    if plan.has_apart_outputs:
        return False
    for stage in state.stages:
        operation = plan.compute(stage.name)
        for load in loads_of(body_values(operation.body)):
            if load.buffer in results and not all(
                free_symbols(index) <= {*operation.axes} for index in scalar_indices(load)
            ):
                return False
    return True


def _is_long_row(plan: Plan) -> bool:
    """Whether there is one row, long enough to be shared out itself."""
    results = [axis.extent for stage in plan.reductions() for axis in plan.compute(stage.name).axes]
    reduced = product(tuple(axis.extent for axis in _first_reduction(plan).reduce_axes))
    return all(extent == 1 for extent in results) and isinstance(reduced, int) and plan.pays_in_parallel(reduced)


def schedule_apart(plan: Plan) -> None:
    """One stage after another, each shared out among the threads; the loops inside are left to LLVM."""
    for stage in plan.steps.state.stages:
        results = [loop.name for loop in stage.loops if not loop.is_reduction]
        work = product(tuple(plan.extent(stage.name, loop.name) for loop in stage.loops))
        plan.parallelize(stage.name, results, work)


def _loops_over_rows(plan: Plan, output: str, vectors: int) -> _Rows:
    """Order the loops of the output: over rows, then along them, then lanes."""
    s = plan.steps
    axes = s.loops(output)
    if not axes:  # one number is made of whole tensors
        return _Rows(None, Scope.GLOBAL, 1, lanes_are_rows=False)
    work = product(tuple(plan.extent(output, axis) for axis in axes))
    of_rows = _row_axes(plan, output)
    kept, along = _split_rows(plan, output, of_rows)
    if _is_of_rows_alone(plan, of_rows):
        reduced = product(tuple(axis.extent for axis in _first_reduction(plan).reduce_axes))
        return _Rows(plan.parallelize(output, axes, work * reduced), Scope.REGISTER, reduced, lanes_are_rows=False)
    lanes_are_rows = axes[-1] in kept
    if lanes_are_rows:
        width = plan.vector_lanes * vectors
        lanes_outer, lanes = plan.tile(output, axes[-1], width)
        kept = [*(axis for axis in kept if axis != axes[-1]), *lanes_outer]
        elements = product((width, *(plan.extent(output, axis) for axis in along)))
        s.reorder(output, *kept, *along, lanes)
    else:
        elements = product(tuple(plan.extent(output, axis) for axis in along))
        s.reorder(output, *kept, *along)
        _, lanes = plan.tile(output, axes[-1], plan.vector_lanes)
    row = plan.parallelize(output, kept, work)
    plan.vectorize_columns(output, lanes, plan.vector_lanes)
    exact = row is not None and all(each.exact for each in of_rows)
    return _Rows(row, Scope.REGISTER if exact else Scope.GLOBAL, elements, lanes_are_rows)


def _is_of_rows_alone(plan: Plan, axes: list[_RowAxis]) -> bool:
    """Whether the output has results of rows and nothing along them: one row at a time then."""
    along = [part for axis in axes for part in axis.along]
    return all(extent == 1 for extent in along) and not any(
        keeps_innermost(plan, each.operation) for each in plan.reductions()
    )


def _vectors_together(plan: Plan, output: str) -> tuple[int, ...]:
    """How many vectors of rows may be computed side by side, the model's first; none where rows are no lanes.

    More than one line of the cache at a time lies together in memory. As many as leave no rest, and enough for each
    thread.
    """
    axes = _row_axes(plan, output)
    if not axes or axes[-1].along or _is_of_rows_alone(plan, axes):
        return ()
    *outer, last = (extent for axis in axes for extent in axis.kept)
    if not isinstance(last, int) or last % plan.vector_lanes:
        return (1,)
    vectors = last // plan.vector_lanes
    counts = [count for count in range(plan.core.register_count // 4, 0, -1) if vectors % count == 0]
    even = [count for count in counts if plan.shares_out(product((*outer, vectors // count)))]
    work = product(tuple(plan.extent(output, loop) for loop in plan.steps.loops(output)))
    best = even[0] if even and plan.pays_in_parallel(work) else counts[0]
    return (best, *(count for count in counts if count != best))


def _first_reduction(plan: Plan) -> Compute:
    return plan.compute(plan.reductions()[0].name)


@frozen
class _RowAxis:
    """An axis of the output, and the extents of the part that chooses a row (`kept`) and of the part `along` it.
    `group`: how many of its elements are reduced together. `exact`: the former choose one row."""

    axis: Axis
    kept: tuple[IntExpr, ...]
    along: tuple[IntExpr, ...]
    group: int | None
    exact: bool


def _row_axes(plan: Plan, output: str) -> list[_RowAxis]:
    """What the axes of the output are to rows. One whose elements are reduced in groups is both."""
    found: list[_RowAxis] = []
    read = [scalar_indices(load) for load in _loads_of_reductions(plan, output)]
    indices = [index for each in read for index in each]
    for axis in plan.compute(output).axes:
        group = next((i.right for i in indices if isinstance(i, FloorDiv) and i.left is axis), None)
        if all(axis in each for each in read):
            found.append(_RowAxis(axis, (axis.extent,), (), None, exact=True))
        elif isinstance(group, int):
            found.append(_RowAxis(axis, (ceil_divide(axis.extent, group),), (group,), group, exact=True))
        else:
            found.append(_RowAxis(axis, (), (axis.extent,), None, exact=group is None))
    return found


def _split_rows(plan: Plan, output: str, axes: list[_RowAxis]) -> tuple[list[str], list[str]]:
    """The loops of the output that choose a row, and those along it."""
    kept: list[str] = []
    along: list[str] = []
    for each in axes:
        if each.group is not None:
            outer, inner = plan.steps.split(output, each.axis.name, factor=each.group)
            kept.append(outer)
            along.append(inner)
        else:
            (along if each.along else kept).append(each.axis.name)
    return kept, along


def _loads_of_reductions(plan: Plan, output: str) -> list[Load]:
    operation = plan.compute(output)
    results = {buffer for stage in plan.reductions() for buffer in stage.outputs}
    return [load for load in loads_of(body_values(operation.body)) if load.buffer in results]


def _reduce(plan: Plan, stage: str, output: str, rows: _Rows) -> None:
    """One reduction of a row: in partial sums, or a vector of rows at a time."""
    s = plan.steps
    s.set_scope(stage, rows.scope)
    if rows.lanes_are_rows:
        *_, lane = (loop.name for loop in s.state.stage(stage).loops if not loop.is_reduction)
        sum_vectors(plan, stage, lane)
        return
    for partial in in_lanes(plan, stage, rows.scope):
        if rows.row is not None:
            s.compute_at(partial, output, rows.row)


def _costly_of_several_sweeps(plan: Plan) -> frozenset[str]:
    """The formulas that more than one sweep over a row reads, and that have a transcendental in them or in what they
    are made of: computed once for a row. What costs an instruction or two is computed again in each sweep."""
    kept: set[str] = set()
    sweeps: dict[str, set[str]] = {}
    stages = plan.steps.state.stages
    costly = _with_costly_makers(plan)
    for stage in reversed(stages):
        readers = plan.steps.state.consumers(stage)
        read_by = {
            sweep
            for reader in readers
            for sweep in ({reader.name} if _is_sweep(plan, reader, kept) else sweeps[reader.name])
        }
        sweeps[stage.name] = read_by
        if stage.name in costly and len(read_by) > 1 and not _is_sweep(plan, stage, kept):
            kept.add(stage.name)
    return frozenset(kept)


def _is_sweep(plan: Plan, stage: Stage, kept: set[str]) -> bool:
    """Whether a stage has loops of its own."""
    return is_reduction(stage) or plan.is_output(stage) or stage.name in kept


def _with_costly_makers(plan: Plan) -> set[str]:
    """The formulas that have something costly in them once what they read is inlined."""
    found: set[str] = set()
    for stage in plan.steps.state.stages:
        if not is_reduction(stage) and (is_costly(stage) or found.intersection(plan.formulas_read_by(stage.name))):
            found.add(stage.name)
    return found


ROWS = Family("rows", "several reductions, or outputs apart", is_of_several, read, decide, build)
REPEATED_ROW = Family("repeated_row", "a reduction whose results are read often", is_read_often, read, decide, build)

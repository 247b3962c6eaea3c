"""Several reductions over the same elements (softmax, layer norm, instance norm): everything about a row is computed
while it is in cache.

A row is what one result of a reduction is about: the elements that differ in the axes that are reduced. Where the
innermost axis is reduced, the sum of a row is a vector of partial sums. Where it is kept, its elements are the lanes,
and a vector of rows is computed at a time.
"""

from __future__ import annotations

from relay.arith.expr import FloorDiv, IntExpr, free_symbols
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.plan import Plan, is_costly, is_reduction, product
from relay.targets.cpu.schedules.reduction import in_lanes, keeps_innermost, of_everything
from relay.te.operation import Compute, body_values, loads_of, scalar_indices
from relay.te.state import Stage
from relay.tir.buffer import Scope
from relay.tir.expr import Load

_LARGEST_ROW_ON_STACK = 1 << 14  # elements
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


def schedule_rows(plan: Plan) -> None:
    """Reductions whose results the output reads, computed at the row; others (ranks, to sort by) one after another."""
    plan.inline_formulas(keep=_costly_of_several_sweeps(plan))
    if not _reads_rows(plan):
        schedule_apart(plan)
        return
    s = plan.steps
    output = plan.output_name
    if _is_long_row(plan):
        for stage in s.state.stages:
            (of_everything if is_reduction(stage) else schedule_formula)(plan, stage.name)
        return
    if is_reduction(plan.output):
        s.cache_write(output, Scope.REGISTER)
    rows = _loops_over_rows(plan, output)
    for stage in [stage for stage in s.state.stages if not plan.is_output(stage)]:
        if rows.row is not None:
            s.compute_at(stage.name, output, rows.row)
        if is_reduction(stage):
            _reduce(plan, stage.name, output, rows)
        elif stage.loops:
            if rows.row is not None and isinstance(rows.elements, int) and rows.elements <= _LARGEST_ROW_ON_STACK:
                s.set_scope(stage.name, Scope.LOCAL)
            along = stage.loops[-1].name
            outer, lanes = plan.tile(stage.name, along, plan.lanes_at_a_time(stage, plan.extent(stage.name, along)))
            s.vectorize(stage.name, lanes)
            if rows.lanes_are_rows and outer is not None:
                s.unroll(stage.name, outer)


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


def _loops_over_rows(plan: Plan, output: str) -> _Rows:
    """Order the loops of the output: over rows, then along them, then lanes."""
    s = plan.steps
    axes = [loop.name for loop in s.state.stage(output).loops]
    if not axes:  # one number is made of whole tensors
        return _Rows(None, Scope.GLOBAL, 1, lanes_are_rows=False)
    work = product(tuple(plan.extent(output, axis) for axis in axes))
    kept, along, exact = _kept_and_reduced(plan, output)
    of_rows = all(plan.extent(output, axis) == 1 for axis in along)
    if of_rows and not any(keeps_innermost(plan, each.operation) for each in plan.reductions()):
        # results of rows alone: one row at a time
        reduced = product(tuple(axis.extent for axis in _first_reduction(plan).reduce_axes))
        return _Rows(plan.parallelize(output, axes, work * reduced), Scope.REGISTER, reduced, lanes_are_rows=False)
    lanes_are_rows = axes[-1] in kept
    if lanes_are_rows:
        width = plan.vector_lanes * _vectors_together(plan, output, kept, work)
        lanes_outer, lanes = plan.tile(output, axes[-1], width)
        kept = [axis for axis in kept if axis != axes[-1]] + ([lanes_outer] if lanes_outer else [])
        elements = product((width, *(plan.extent(output, axis) for axis in along)))
        s.reorder(output, *kept, *along, lanes)
    else:
        elements = product(tuple(plan.extent(output, axis) for axis in along))
        s.reorder(output, *kept, *along)
        _, lanes = plan.tile(output, axes[-1], plan.vector_lanes)
    row = plan.parallelize(output, kept, work)
    plan.vectorize_columns(output, lanes, plan.vector_lanes)
    return _Rows(row, Scope.REGISTER if row is not None and exact else Scope.GLOBAL, elements, lanes_are_rows)


def _vectors_together(plan: Plan, output: str, kept: list[str], work: IntExpr) -> int:
    """How many vectors of rows to compute side by side: more than one line of the cache at a time lies together in
    memory. As many as leave no rest, and enough for each thread."""
    *outer, last = (plan.extent(output, axis) for axis in kept)
    if not isinstance(last, int) or last % plan.vector_lanes:
        return 1
    vectors = last // plan.vector_lanes
    counts = [count for count in range(plan.target.register_count // 4, 0, -1) if vectors % count == 0]
    even = [count for count in counts if plan.shares_out(product((*outer, vectors // count)))]
    return even[0] if even and plan.pays_in_parallel(work) else counts[0]


def _first_reduction(plan: Plan) -> Compute:
    return plan.compute(plan.reductions()[0].name)


def _kept_and_reduced(plan: Plan, output: str) -> tuple[list[str], list[str], bool]:
    """The loops of the output that choose a row, those along it, and whether the former choose one row exactly.

    An axis whose elements are reduced in groups is split into both.
    """
    kept: list[str] = []
    along: list[str] = []
    exact = True
    indices = [index for load in _loads_of_reductions(plan, output) for index in scalar_indices(load)]
    operation = plan.compute(output)
    for axis in operation.axes:
        if all(axis in indices_of for indices_of in map(scalar_indices, _loads_of_reductions(plan, output))):
            kept.append(axis.name)
            continue
        group = next((i.right for i in indices if isinstance(i, FloorDiv) and i.left is axis), None)
        if isinstance(group, int):
            outer, inner = plan.steps.split(output, axis.name, factor=group)
            kept.append(outer)
            along.append(inner)
        else:
            exact = exact and group is None
            along.append(axis.name)
    return kept, along, exact


def _loads_of_reductions(plan: Plan, output: str) -> list[Load]:
    operation = plan.compute(output)
    results = {buffer for stage in plan.reductions() for buffer in stage.outputs}
    return [load for load in loads_of(body_values(operation.body)) if load.buffer in results]


def _reduce(plan: Plan, stage: str, output: str, rows: _Rows) -> None:
    """One reduction of a row: in partial sums, or a vector of rows at a time."""
    s = plan.steps
    s.set_scope(stage, rows.scope)
    if rows.lanes_are_rows:
        loops = s.state.stage(stage).loops
        results = [loop.name for loop in loops if not loop.is_reduction]
        summed = [loop.name for loop in loops if loop.is_reduction]
        s.reorder(stage, *results[:-1], *summed, results[-1])
        plan.vectorize_columns(stage, results[-1], plan.vector_lanes)
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

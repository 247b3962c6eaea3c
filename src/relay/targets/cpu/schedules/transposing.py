"""Formulas that read along another axis than they write: transposes, and changes of layout, with what is elementwise.

A square of vectors is read along the axis of what is read, transposed in registers, and written along the axis of the
result, so neither side goes through memory an element at a time.
"""

from __future__ import annotations

from relay.arith.expr import FloorMod, IntExpr, free_symbols, linear_parts
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.plan import Plan, product
from relay.te.operation import Compute, Reduction, body_values, loads_of, scalar_indices
from relay.te.state import Stage
from relay.te.tensor import Axis
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Holds, Load, Ramp
from relay.tir.traversal import walk_value

_LONGEST_PERIOD = 4


@frozen
class Transposed:
    """The axis of a result, by its position, that `tensors` have innermost."""

    axis: int
    tensors: tuple[str, ...]


def transposed_loads(plan: Plan, stage: Stage) -> Transposed | None:
    """What a formula reads along one other axis than the innermost of its result, and with gaps along that; None where
    there is nothing of the kind, or an axis is too short for vectors."""
    operation = stage.operation
    if not isinstance(operation, Compute) or isinstance(operation.body, Reduction) or len(operation.axes) < 2:
        return None
    found: dict[Buffer, int] = {}
    loads = list(loads_of(operation.body))
    for load in loads:
        axis = _contiguous_axis(operation, load)
        if axis is not None:
            found[load.buffer] = axis
    axes = set(found.values())
    once = all(sum(load.buffer is buffer for load in loads) == 1 for buffer in found)
    if len(axes) != 1 or not once:
        return None
    axis = axes.pop()
    extents = (operation.axes[axis].extent, operation.axes[-1].extent)
    if any(isinstance(extent, int) and extent <= plan.vector_lanes // 2 for extent in extents):
        return None
    return Transposed(axis, tuple(map(plan.steps.state.name_of, found)))


def _contiguous_axis(operation: Compute, load: Load) -> int | None:
    """The axis that is the last index of a load, whole, where the innermost axis is another index, whole."""
    whole = [
        operation.axes.index(index)
        for index, extent in zip(load.indices, load.buffer.shape, strict=True)
        if isinstance(index, Axis) and index in operation.axes and index.extent == extent
    ]
    parts = [index for index in load.indices if not isinstance(index, Ramp)]
    used = [sum(axis in free_symbols(index) for index in parts) for axis in operation.axes]
    innermost = len(operation.axes) - 1
    if innermost not in whole or not load.indices or load.indices[-1] is operation.axes[-1]:
        return None
    last = load.indices[-1]
    axis = operation.axes.index(last) if isinstance(last, Axis) and last in operation.axes else -1
    return axis if axis in whole and used[axis] == used[innermost] == 1 and len(parts) == len(load.indices) else None


def transposed_formulas(plan: Plan) -> frozenset[str]:
    """The formulas that the group's output reads across, where what they read themselves is no whole axis (parts put
    side by side, padding): a square of theirs is computed in registers, along their own axis, and then transposed."""
    trial = plan.fork()
    state = trial.steps.state
    across = [transposed_loads(trial, stage) for stage in state.stages]
    inputs = {tensor.name for tensor in plan.group.inputs}
    formulas = frozenset(name for each in across if each is not None for name in each.tensors) - inputs
    if not formulas or len(plan.group.outputs) > 1:
        return frozenset()
    trial.inline_formulas()
    if transposed_loads(trial, trial.output) is not None:
        return frozenset()
    kept = plan.fork()
    kept.inline_formulas(keep=formulas)
    across = transposed_loads(kept, kept.output)
    return formulas if across is not None and formulas == frozenset(across.tensors) else frozenset()


def schedule_transposing(
    plan: Plan, name: str, across: Transposed, is_part: bool = False, formulas: frozenset[str] = frozenset()
) -> None:
    """Squares of vectors: rows of squares · other loops · squares in a row · (rows, unrolled · lanes); in parallel,
    unless it is a part that another stage computes. Where they can be, a few rows of squares are taken together. A
    square of `formulas` is computed in registers, one of other tensors is read into them.

    Other loops between the two keep what is written together: a row of squares is one stretch of memory for each row.
    """
    s = plan.steps
    loops = list(s.loops(name))
    work: IntExpr = product(tuple(plan.extent(name, loop) for loop in loops))
    lanes = plan.vector_lanes
    column_outer, column = s.split(name, loops.pop(), factor=lanes)
    row_outer, row = s.split(name, loops.pop(across.axis), factor=lanes)
    loops, phases = _by_phase(plan, name, loops, formulas)
    outer = [row_outer, *loops, column_outer]
    rows = plan.extent(name, row_outer)
    if not is_part and isinstance(rows, int) and rows % plan.core.squares_together == 0:
        row_block, row_outer = s.split(name, row_outer, factor=plan.core.squares_together)
        outer = [row_block, *loops, column_outer, row_outer]
    s.reorder(name, *outer, *phases, row, column)
    square = column_outer if is_part else plan.parallelize(name, outer, work)
    assert square is not None
    plan.unroll(name, phases)
    square = (square, *phases)[-1]
    for tensor in across.tensors:
        if tensor in formulas:
            copy = tensor
            s.set_scope(copy, Scope.REGISTER)
        else:
            copy = s.cache_read(tensor, Scope.REGISTER, (name,))
        s.compute_at(copy, name, square)
        *others, last = s.loops(copy)
        plan.unroll(copy, others)
        s.vectorize(copy, last)
    s.unroll(name, row)
    s.vectorize(name, column)


def _by_phase(plan: Plan, name: str, loops: list[str], formulas: frozenset[str]) -> tuple[list[str], list[str]]:
    """`(loops, phases)`: loops whose remainder decides what `formulas` read are split by its period, and the inner
    ones, the phases, are to be unrolled: each then knows what it reads."""
    periods: dict[str, int] = {}
    for formula in formulas:
        periods.update(_periods(plan, name, formula))
    kept, phases = list(loops), list[str]()
    for position, loop in enumerate(loops):
        if loop in periods:
            kept[position], phase = plan.steps.split(name, loop, factor=periods[loop])
            phases.append(phase)
    return kept, phases


def _periods(plan: Plan, name: str, formula: str) -> dict[str, int]:
    """The loops of a stage on whose remainder, by what is given, a decision of a formula that it reads depends."""
    stage, read = plan.steps.state.stage(name), plan.steps.state.stage(formula)
    assert isinstance(stage.operation, Compute)
    assert isinstance(read.operation, Compute)
    load = next(load for load in loads_of(body_values(stage.operation.body)) if load.buffer in read.outputs)
    moves = dict(zip(read.operation.axes, scalar_indices(load), strict=True))
    loops = {root.axis: root.axis.name for root in stage.roots}
    nodes = (node for value in body_values(read.operation.body) for node in walk_value(value))
    conditions = [node.condition for node in nodes if isinstance(node, Holds)]
    terms = [term for each in conditions for term, _ in (*linear_parts(each.left)[1], *linear_parts(each.right)[1])]
    found: dict[str, int] = {}
    for term in terms:
        if isinstance(term, FloorMod) and isinstance(term.right, int) and term.right <= _LONGEST_PERIOD:
            for axis in free_symbols(term.left):
                moved = moves.get(axis) if isinstance(axis, Axis) else None
                if isinstance(moved, Axis):
                    found[loops[moved]] = term.right
    return found

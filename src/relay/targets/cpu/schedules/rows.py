"""Several reductions along rows (softmax, layer norm), or one: everything about a row is computed while it is in cache.

Stages that reduce along the row are split in lanes, so that the sum of a row is a vector of partial sums.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr, linear_parts
from relay.targets.cpu.schedules.elementwise import schedule_formula
from relay.targets.cpu.schedules.plan import Plan, is_reduction, product
from relay.te.operation import Compute, body_values, loads_of
from relay.te.state import Stage
from relay.tir.buffer import Scope
from relay.tir.expr import Ramp, Unary, UnaryOp
from relay.tir.traversal import walk_value

_COSTLY = frozenset({UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH, UnaryOp.ERF, UnaryOp.SIGMOID})


def schedule_rows(plan: Plan) -> None:
    """Reductions whose results an output along the same rows reads, computed at the row."""
    costly = frozenset(stage.name for stage in plan.steps.state.stages if _is_shared_and_costly(plan, stage))
    plan.inline_formulas(keep=costly)
    s = plan.steps
    output = plan.output_name
    loops = [loop.name for loop in s.state.stage(output).loops]
    rows = loops[:-1]
    extents = tuple(plan.extent(output, loop) for loop in loops)
    for stage in [stage.name for stage in s.state.stages if stage.name != output]:
        if rows:
            s.compute_at(stage, output, rows[-1])
        if is_reduction(s.state.stage(stage)):
            partial = _in_lanes(plan, stage)
            if partial is not None and rows:
                s.compute_at(partial, output, rows[-1])
        else:
            s.vectorize(stage, _vector_loop(plan, stage))
    s.vectorize(output, _vector_loop(plan, output))
    plan.parallelize(output, rows, product(extents))


def _vector_loop(plan: Plan, stage: str) -> str:
    last = plan.steps.state.stage(stage).loops[-1].name
    _, inner = plan.tile(stage, last, plan.vector_lanes)
    return inner


def _is_shared_and_costly(plan: Plan, stage: Stage) -> bool:
    """A formula with a transcendental in it that more than one stage reads: computing it twice would not pay."""
    operation = stage.operation
    if not isinstance(operation, Compute) or is_reduction(stage) or plan.is_output(stage):
        return False
    nodes = [node for value in body_values(operation.body) for node in walk_value(value)]
    if not any(isinstance(node, Unary) and node.op in _COSTLY for node in nodes):
        return False
    readers = [
        other
        for other in plan.steps.state.stages
        if isinstance(other.operation, Compute)
        and any(load.buffer in stage.outputs for load in loads_of(body_values(other.operation.body)))
    ]
    return len(readers) > 1


def _in_lanes(plan: Plan, stage: str) -> str | None:
    """Split a reduction along a contiguous axis into a vector of partial results; None where the axis is short."""
    s = plan.steps
    operation = s.state.stage(stage).operation
    assert isinstance(operation, Compute)
    last = operation.reduce_axes[-1]
    lanes = plan.vector_lanes
    if not isinstance(last.extent, int) or last.extent < 2 * lanes or last.extent % lanes:
        return None
    _, inner = s.split(stage, last.name, factor=lanes)
    partial = s.rfactor(stage, inner)
    s.set_scope(partial, Scope.LOCAL)
    partial_loops = [loop.name for loop in s.state.stage(partial).loops]
    lane, summed = partial_loops[0], [loop.name for loop in s.state.stage(partial).loops if loop.is_reduction]
    others = [loop for loop in partial_loops if loop not in (lane, *summed)]
    s.reorder(partial, *others, *summed, lane)
    s.vectorize(partial, lane)
    return partial


def schedule_reduction(plan: Plan, reduction: str) -> None:
    """One reduction and the formulas around it.

    Where the innermost axis of what is read stays in the result, that axis is the lanes; where it is reduced, the
    reduction is split in lanes.
    """
    plan.inline_formulas()
    s = plan.steps
    operation = s.state.stage(reduction).operation
    assert isinstance(operation, Compute)
    work = product(tuple(axis.extent for axis in (*operation.axes, *operation.reduce_axes)))
    output = plan.output_name
    loops = [loop.name for loop in s.state.stage(output).loops]
    if _reduces_innermost(operation):
        partial = _in_lanes(plan, reduction)
        if output != reduction and loops:
            s.compute_at(reduction, output, loops[-1])
            if partial is not None:
                s.compute_at(partial, output, loops[-1])
        elif partial is not None and loops:
            s.compute_at(partial, reduction, loops[-1])
        plan.parallelize(output, loops, work)
        return
    if not loops or output == reduction:
        return
    schedule_formula(plan, output)


def _reduces_innermost(operation: Compute) -> bool:
    """Whether the reduction runs along the contiguous axis of what it reads."""
    reduced = set(operation.reduce_axes)
    for load in loads_of(body_values(operation.body)):
        if load.indices:
            last = load.indices[-1]
            index: IntExpr = last.base if isinstance(last, Ramp) else last
            if any(term in reduced for term, _ in linear_parts(index)[1]):
                return True
    return False

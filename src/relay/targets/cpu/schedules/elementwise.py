"""Groups without a reduction: every formula is inlined into the output, whose loops are collapsed, vectorised and
shared out among the threads."""

from __future__ import annotations

from relay.arith.expr import FloorDiv, IntExpr, free_symbols, linear_parts, multiply
from relay.arith.simplify import Assumptions
from relay.targets.cpu.schedules.collapse import collapses
from relay.targets.cpu.schedules.plan import Plan, product
from relay.targets.cpu.schedules.turning import schedule_turning, turned_formulas, turned_loads
from relay.te.operation import Compute, Reduction, body_values, loads_of, scalar_indices
from relay.te.state import Stage
from relay.te.tensor import Axis
from relay.tir.passes.vectorize_loops import MAXIMUM_LANES


def schedule_elementwise(plan: Plan) -> None:
    """Inline, collapse, vectorise, parallelise, for each output."""
    turned = turned_formulas(plan)
    plan.inline_formulas(keep=turned)
    for stage in plan.steps.state.stages:
        if stage.name not in turned:
            schedule_formula(plan, stage.name, turned)


def schedule_formula(plan: Plan, name: str, formulas: frozenset[str] = frozenset()) -> None:
    """One stage that is a plain formula, as a loop nest of its own; `formulas` that it reads across are part of it."""
    stage = plan.steps.state.stage(name)
    loops = [loop.name for loop in stage.loops]
    if not loops:
        return
    turned = turned_loads(plan, stage)
    if turned is not None:
        schedule_turning(plan, name, turned, formulas=formulas)
        return
    extents = [plan.extent(name, loop) for loop in loops]
    innermost, extent = loops.pop(), extents.pop()
    operation = stage.operation
    axes = list(operation.axes) if isinstance(operation, Compute) else []
    while loops and axes and collapses(stage, axes[len(loops) - 1], axes[len(loops)]):
        innermost = plan.steps.fuse(name, loops.pop(), innermost)
        extent = multiply(extents.pop(), extent)
    lanes = plan.lanes_at_a_time(plan.steps.state.stage(name), extent)
    lanes = _with_copies(lanes, stage, axes[-1] if axes else None)
    work = multiply(extent, product(tuple(extents)))
    if isinstance(extent, int) and extent <= lanes // 2 and extents and _is_long(extents[-1], lanes):
        # few channels: vectors lie along the axis before them, and are stored with gaps
        outer, inner = plan.steps.split(name, loops.pop(), factor=lanes)
        plan.steps.reorder(name, outer, innermost, inner)
        plan.steps.unroll(name, innermost)
        plan.steps.vectorize(name, inner)
        plan.parallelize(name, [*loops, outer], work)
        return
    if isinstance(extent, int) and extent < lanes:
        plan.steps.vectorize(name, innermost)
        plan.parallelize(name, loops, work)
        return
    outer, inner = plan.steps.split(name, innermost, factor=lanes)
    plan.steps.vectorize(name, inner)
    plan.parallelize(name, [*loops, outer], work)


def _with_copies(lanes: int, stage: Stage, innermost: Axis | None) -> int:
    """How many lanes hold whole elements, where each is read `copies` times in a row along the innermost axis."""
    operation = stage.operation
    if innermost is None or not isinstance(operation, Compute) or isinstance(operation.body, Reduction):
        return lanes
    known = Assumptions({}).with_loop(innermost, innermost.extent)
    for load in loads_of(body_values(operation.body)):
        for index in scalar_indices(load):
            for term, _ in linear_parts(known.simplify(index))[1] if innermost in free_symbols(index) else ():
                copies = term.right if isinstance(term, FloorDiv) and term.left is innermost else 1
                if isinstance(copies, int) and lanes % copies != 0 and lanes * copies <= MAXIMUM_LANES:
                    lanes *= copies
    return lanes


def _is_long(extent: IntExpr, lanes: int) -> bool:
    return not isinstance(extent, int) or extent >= lanes

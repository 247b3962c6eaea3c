"""Groups without a reduction: every formula is inlined into the output, whose loops are collapsed, vectorised and
shared out among the threads."""

from __future__ import annotations

from relay.arith.expr import IntExpr, Symbol, free_symbols, linear_parts, multiply
from relay.targets.cpu.schedules.plan import Plan, product
from relay.targets.cpu.schedules.turning import schedule_turning, turned_loads
from relay.te.operation import Compute, body_values, loads_of
from relay.te.state import Stage
from relay.te.tensor import Axis
from relay.tir.expr import Holds, Ramp
from relay.tir.traversal import walk_value


def schedule_elementwise(plan: Plan) -> None:
    """Inline, collapse, vectorise, parallelise, for each output."""
    plan.inline_formulas()
    for stage in plan.steps.state.stages:
        schedule_formula(plan, stage.name)


def schedule_formula(plan: Plan, name: str) -> None:
    """One stage that is a plain formula, as a loop nest of its own."""
    stage = plan.steps.state.stage(name)
    loops = [loop.name for loop in stage.loops]
    if not loops:
        return
    turned = turned_loads(plan, stage)
    if turned is not None:
        schedule_turning(plan, name, turned)
        return
    extents = [plan.extent(name, loop) for loop in loops]
    innermost, extent = loops.pop(), extents.pop()
    while loops and _collapses(plan.steps.state.stage(name), len(loops)):
        innermost = plan.steps.fuse(name, loops.pop(), innermost)
        extent = multiply(extents.pop(), extent)
    lanes = plan.lanes_at_a_time(plan.steps.state.stage(name), extent)
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


def _is_long(extent: IntExpr, lanes: int) -> bool:
    return not isinstance(extent, int) or extent >= lanes


def _collapses(stage: Stage, position: int) -> bool:
    """Whether axis `position` and the axis before it are one contiguous axis in everything the stage touches.

    True for an access whose address moves along the outer axis by exactly the inner extent times what it moves along
    the inner one, and for one that moves along neither. An axis that decides what is read stays by itself: its loop is
    cut where the decision changes.
    """
    operation = stage.operation
    if not isinstance(operation, Compute):
        return False
    outer, inner = operation.axes[position - 1], operation.axes[position]
    if _decides(operation, outer) or _decides(operation, inner):
        return False
    for load in loads_of(body_values(operation.body)):
        strides = _strides(load.buffer.shape)
        along_outer = along_inner = 0
        for index, stride in zip(load.indices, strides, strict=True):
            if isinstance(index, Ramp):
                return False
            for term, coefficient in linear_parts(index)[1]:
                if term is outer:
                    along_outer = along_outer + stride * coefficient
                elif term is inner:
                    along_inner = along_inner + stride * coefficient
                elif not isinstance(term, Symbol):
                    return False
        if along_outer != multiply(along_inner, inner.extent):
            return False
    return True


def _decides(operation: Compute, axis: Axis) -> bool:
    """Whether an axis stands in a condition of a formula."""
    nodes = (node for value in body_values(operation.body) for node in walk_value(value))
    conditions = (node.condition for node in nodes if isinstance(node, Holds))
    return any(axis in free_symbols(each.left) | free_symbols(each.right) for each in conditions)


def _strides(shape: tuple[IntExpr, ...]) -> list[IntExpr]:
    strides: list[IntExpr] = []
    step: IntExpr = 1
    for extent in reversed(shape):
        strides.append(step)
        step = multiply(step, extent)
    return strides[::-1]

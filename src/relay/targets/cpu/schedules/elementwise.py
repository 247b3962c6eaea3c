"""Groups without a reduction: every formula is inlined into the output, whose loops are collapsed, vectorised and
shared out among the threads."""

from __future__ import annotations

from relay.arith.expr import FloorDiv, IntExpr, free_symbols, linear_parts, multiply
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.targets.cpu.schedules.collapse import are_read_across, collapses
from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan, exceeds, is_of_bytes, product
from relay.targets.cpu.schedules.transposing import (
    Transposed,
    schedule_transposing,
    transposed_formulas,
    transposed_loads,
)
from relay.te.operation import Compute, Reduction, body_values, loads_of, scalar_indices
from relay.te.schedule.space import Decider
from relay.te.state import Stage
from relay.te.tensor import Axis
from relay.tir.passes.vectorize_loops import MAXIMUM_LANES


@frozen
class Formula:
    """A stage that is a plain formula: its loops, of which the innermost `fused` become one, and the extents that are
    then left. They are one axis in memory; else the last has `short` elements, too few for a vector. `across` is what
    the formula reads along another axis than it writes."""

    stage: str
    loops: tuple[str, ...]
    fused: int
    extents: tuple[IntExpr, ...]
    short: int
    across: Transposed | None


@frozen
class Elementwise:
    """The formulas that have loops, and those that are part of one which reads across them."""

    formulas: tuple[Formula, ...]
    read_across: frozenset[str]


def has_no_reduction(plan: Plan) -> bool:
    return not plan.reductions()


def read(plan: Plan) -> Elementwise:
    """Every formula inlined but outputs, and what they read across."""
    read_across = transposed_formulas(plan)
    plan.inline_formulas(keep=read_across)
    stages = [stage for stage in plan.steps.state.stages if stage.name not in read_across and stage.loops]
    return Elementwise(tuple(_formula(plan, stage) for stage in stages), read_across)


def decide(plan: Plan, found: Elementwise, pick: Decider) -> tuple[int, ...]:
    """The lanes of each formula: how many elements are computed together."""
    alone = len(found.formulas) == 1
    return tuple(_lanes(plan, each, pick, "lanes" if alone else f"lanes of {each.stage}") for each in found.formulas)


def build(plan: Plan, found: Elementwise, lanes: tuple[int, ...]) -> None:
    for formula, together in zip(found.formulas, lanes, strict=True):
        _build(plan, formula, together, found.read_across)


def schedule_formula(plan: Plan, name: str) -> None:
    """One stage that is a plain formula, as a loop nest of its own, by the model."""
    stage = plan.steps.state.stage(name)
    if stage.loops:
        formula = _formula(plan, stage)
        _build(plan, formula, _lanes(plan, formula, Decider(), "lanes"))


def _formula(plan: Plan, stage: Stage) -> Formula:
    loops = plan.steps.loops(stage.name)
    across = transposed_loads(plan, stage)
    extents = [plan.extent(stage.name, loop) for loop in loops]
    axes = stage.operation.axes if isinstance(stage.operation, Compute) else ()
    fused = 1
    while across is None and fused < len(loops) and axes and collapses(stage, axes[-1 - fused], axes[-fused]):
        innermost = extents.pop()
        extents[-1] = multiply(extents[-1], innermost)
        fused += 1
    short = 1 if across is not None or fused > 1 else _short_axis(plan, stage, extents)
    if short > 1 and len(axes) > 1 and are_read_across(stage, axes[-2], axes[-1]):
        extents[-2:] = [multiply(extents[-2], short)]
        return Formula(stage.name, loops, 2, tuple(extents), short, across)
    return Formula(stage.name, loops, fused, tuple(extents), 1, across)


def _short_axis(plan: Plan, stage: Stage, extents: list[IntExpr]) -> int:
    """The last extent, where neither that nor the one before fills a vector, and either vectors end where it ends or
    one vector holds both; else 1. One of bytes would not: so many are gathered one by one."""
    lanes = plan.vector_lanes
    match extents:
        case [*_, int(before), int(last)] if before < lanes and last <= lanes // 2:
            fits = lanes % last == 0 or (last * before <= MAXIMUM_LANES and not is_of_bytes(stage))
            return last if fits and before > 1 else 1
        case _:
            return 1


def _lanes(plan: Plan, formula: Formula, pick: Decider, field: str) -> int:
    if formula.across is not None:
        return pick(field, plan.vector_lanes, (), "squares of vectors are transposed in registers")
    stage, extent = plan.steps.state.stage(formula.stage), formula.extents[-1]
    axes = stage.operation.axes if isinstance(stage.operation, Compute) else ()
    lanes = plan.lanes_at_a_time(stage, extent)
    if isinstance(extent, int) and lanes % formula.short:
        return pick(field, extent, (), f"all of a row: {formula.short} of the last axis leave a rest of a vector")
    best = _with_copies(lanes, stage, axes[-1] if axes else None)
    several = lanes > plan.vector_lanes
    reason = "several vectors hide the latency of a polynomial, or share a line of the cache" if several else "a vector"
    options = [plan.vector_lanes * count for count in (1, 2, 4)]
    return pick(field, best, options, f"{reason}, with whole copies of what is read" if best > lanes else reason)


def _build(plan: Plan, formula: Formula, lanes: int, read_across: frozenset[str] = frozenset()) -> None:
    s, name, extents = plan.steps, formula.stage, formula.extents
    if formula.across is not None:
        schedule_transposing(plan, name, formula.across, formulas=read_across)
        return
    *loops, innermost = formula.loops
    for _ in range(formula.fused - 1):
        innermost = s.fuse(name, loops.pop(), innermost)
    *outside, extent = extents
    work = product(extents)
    if isinstance(extent, int) and extent <= lanes // 2 and outside and exceeds(outside[-1], lanes - 1):
        # few channels: vectors lie along the axis before them, and are stored with gaps
        outer, inner = s.split(name, loops.pop(), factor=lanes)
        s.reorder(name, outer, innermost, inner)
        s.unroll(name, innermost)
        s.vectorize(name, inner)
        plan.parallelize(name, [*loops, outer], work)
        return
    if isinstance(extent, int) and extent < lanes:
        s.vectorize(name, innermost)
        plan.parallelize(name, loops, work)
        return
    outer, inner = s.split(name, innermost, factor=lanes)
    s.vectorize(name, inner)
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


ELEMENTWISE = Family("elementwise", "formulas without a reduction", has_no_reduction, read, decide, build)

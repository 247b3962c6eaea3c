"""Reductions over threads: each thread reduces its own part, and then half as many combine two parts each, and half of
those, until there is one (Hillis and Steele, "Data parallel algorithms", 1986, section "Sum").

for k.outer in 4: for k.inner in 8: thread x     total.rf[x] += a[i, 8*k.outer + x]
  total[i] += a[i, 8*k.outer + k.inner]          x < 4: total.rf.4[x] = total.rf[x] + total.rf[x + 4]
                                                 x < 2: total.rf.2[x] = total.rf.4[x] + total.rf.4[x + 2]
                                                 x < 1: total.rf.1[x] = total.rf.2[x] + total.rf.2[x + 1]
                                                 x < 1: total[i] += total.rf.1[0]

The parts are in the innermost memory that the threads share. Lanes keep theirs in registers and take each other's by
shuffles (`tir/passes/exchange_lanes.py`), all of them in every step: those beyond the half compute what nobody reads.
Where loops over threads of several levels are reduced, trees are inside trees: of lanes in a subgroup, and around them
of subgroups in a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relay.arith.expr import Comparison, IntExpr, add, minimum
from relay.base.diagnostics import CompilerBug
from relay.te.extents import loop_extents
from relay.te.initial_state import plain_stage
from relay.te.operation import Components, Compute, Reduction
from relay.te.schedule.stage_steps.rewriting import compute_of, fresh_axes, with_producer_before
from relay.te.schedule.stage_steps.rfactor import RFactor
from relay.te.schedule.step import refused
from relay.te.state import At, Loop, Stage, State
from relay.te.tensor import Axis
from relay.te.values import select
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Holds, Load
from relay.tir.hierarchy import ThreadAxis
from relay.tir.stmt import LoopKind


def with_trees(state: State) -> State:
    """`state` with every reduction over threads as a tree. Raises `RelayError` (`schedule-refused`)."""
    while (found := next((stage for stage in state.stages if _over_threads(stage)), None)) is not None:
        outermost = min(_over_threads(found), key=lambda loop: state.hierarchy.depth(_axis(state, loop).level))
        state = _with_tree(state, found, outermost)
    return state


def _over_threads(stage: Stage) -> list[Loop]:
    """The reducing loops of a stage that are bound to threads."""
    return [loop for loop in stage.loops if loop.is_reduction and loop.kind is LoopKind.THREAD]


def _axis(state: State, loop: Loop) -> ThreadAxis:
    return state.hierarchy.thread(str(loop.thread))


def _with_tree(state: State, stage: Stage, loop: Loop) -> State:
    before, bound = {other.name for other in state.stages}, _over_threads(stage)
    lanes = _lanes(state, loop)
    state = RFactor(stage.name, loop.name).apply(state)
    parts = next(other for other in state.stages if other.name not in before)
    scope = state.hierarchy.scope_between(_axis(state, loop)) if lanes is None else lanes
    place = At(stage.name, loop.name)
    parts = replace(parts, scope=scope, place=place, loops=_bound(parts.loops, bound))
    state = state.with_stage(parts)
    count = _count(parts, loop)
    while count > 1:
        half = (count + 1) // 2
        parts = _halved(state, stage, parts, count, half if lanes is None else _count(parts, loop))
        parts = replace(parts, scope=scope, place=place, loops=_bound(parts.loops, [loop]))
        state = with_producer_before(state, parts, state.stage(stage.name))
        count = half
    return state.with_stage(_last(state.stage(stage.name), loop, parts))


def _lanes(state: State, loop: Loop) -> Scope | None:
    """The registers of the lanes that a loop is bound to, where each of them has a part: all take part in a shuffle."""
    scope = state.hierarchy.lane_registers(_axis(state, loop))
    counts = {
        loop_extents(stage.relations, {root.symbol: root.axis.extent for root in stage.roots})[each.symbol]
        for stage in state.stages
        for each in stage.loops
        if each.thread == loop.thread
    }
    return scope if len(counts) == 1 else None


def _bound(loops: tuple[Loop, ...], bound: Sequence[Loop]) -> tuple[Loop, ...]:
    """The loops of a stage of parts, bound as the reducing loops of the same names are."""
    kept = {loop.name: loop for loop in bound}
    return tuple(
        replace(loop, kind=kept[loop.name].kind, annotations=kept[loop.name].annotations) if loop.name in kept else loop
        for loop in loops
    )


def _count(parts: Stage, loop: Loop) -> int:
    extent = parts.outputs[0].shape[-1]
    if not isinstance(extent, int):
        raise refused(
            f"cannot reduce over `{loop.name}` by threads along {loop.thread}: there are {extent} of them",
            expected="a constant number of threads",
            found=str(extent),
            remedy="split the loop by a factor, and bind the inner loop",
        )
    return extent


def _halved(state: State, stage: Stage, parts: Stage, before: int, width: int) -> Stage:
    """The first half of the `before` parts that are left, with those behind them added; for `width` threads."""
    count = (before + 1) // 2
    _, reduction = _reduction_of(stage)
    (*axes, lane) = fresh_axes(compute_of(parts, "combine"))
    at = Axis(lane.name, width)
    left, right = _at(parts, (*axes, at)), _at(parts, (*axes, minimum(add(at, count), before - 1)))
    both = reduction.combine(left, right)
    if before % 2:  # one part is left over
        paired = Holds(Comparison(add(at, count), "<", before))
        both = tuple(select(paired, new, old) for new, old in zip(both, left, strict=True))
    name = state.fresh_name(f"{stage.name}.rf.{count}")
    shape = (*(axis.extent for axis in axes), width)
    buffers = tuple(Buffer(f"{x.name}.rf.{count}", shape, x.dtype) for x in stage.outputs)
    return plain_stage(name, Compute(name, (*axes, at), both), buffers)


def _at(parts: Stage, indices: tuple[IntExpr, ...]) -> Components:
    return tuple(Load(buffer, indices) for buffer in parts.outputs)


def _reduction_of(stage: Stage) -> tuple[Compute, Reduction]:
    operation = compute_of(stage, "reduce")
    if not isinstance(operation.body, Reduction):
        raise CompilerBug("te.trees", f"{stage.name} reduces nothing")
    return operation, operation.body


def _last(stage: Stage, loop: Loop, parts: Stage) -> Stage:
    """What is left of a reduction: one step, over the one part."""
    operation, reduction = _reduction_of(stage)
    once = Axis(loop.name, 1)
    body = replace(reduction, sources=_at(parts, (*operation.axes, once)), axes=(once,))
    roots = tuple(replace(root, axis=once) if root.is_reduction else root for root in stage.roots)
    loops = tuple(
        replace(each, kind=LoopKind.SERIAL, annotations=()) if each.name == loop.name else each for each in stage.loops
    )
    return replace(stage, operation=replace(operation, body=body), roots=roots, loops=loops)

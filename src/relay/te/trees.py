"""Reductions over threads: each thread reduces its own part, and then half as many combine two parts each, and half of
those, until there is one (Hillis and Steele, "Data parallel algorithms", 1986, section "Sum").

for k.outer in 4: for k.inner in 8: thread x     total.rf[x] += a[i, 8*k.outer + x]
  total[i] += a[i, 8*k.outer + k.inner]          x < 4: total.rf.4[x] = total.rf[x] + total.rf[x + 4]
                                                 x < 2: total.rf.2[x] = total.rf.4[x] + total.rf.4[x + 2]
                                                 x < 1: total.rf.1[x] = total.rf.2[x] + total.rf.2[x + 1]
                                                 x < 1: total[i] += total.rf.1[0]

The parts are in the innermost memory that the threads share: where that is of a subgroup, they are cross-lane reads.
"""

from __future__ import annotations

from dataclasses import replace

from relay.arith.expr import Comparison, IntExpr, add, minimum
from relay.base.diagnostics import CompilerBug
from relay.te.initial_state import plain_stage
from relay.te.operation import Components, Compute, Reduction
from relay.te.schedule.rewriting import compute_of, fresh_axes, with_producer_before
from relay.te.schedule.rfactor import RFactor
from relay.te.schedule.step import refused
from relay.te.state import At, Loop, Stage, State
from relay.te.tensor import Axis
from relay.te.values import select
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Holds, Load
from relay.tir.stmt import LoopKind


def with_trees(state: State) -> State:
    """`state` with every reduction over threads as a tree. Raises `RelayError` (`schedule-refused`)."""
    for stage in state.stages:
        for loop in stage.loops:
            if loop.is_reduction and loop.kind is LoopKind.THREAD:
                state = _with_tree(state, stage, loop)
    return state


def _with_tree(state: State, stage: Stage, loop: Loop) -> State:
    before = {other.name for other in state.stages}
    state = RFactor(stage.name, loop.name).apply(state)
    parts = next(other for other in state.stages if other.name not in before)
    scope = state.hierarchy.scope_between(state.hierarchy.thread(str(loop.thread)))
    place = At(stage.name, loop.name)
    parts = replace(parts, scope=scope, place=place, loops=_bound(parts.loops, loop))
    state = state.with_stage(parts)
    while (count := _count(parts, loop)) > 1:
        parts = _halved(state, stage, parts, count, scope)
        parts = replace(parts, place=place, loops=_bound(parts.loops, loop))
        state = with_producer_before(state, parts, state.stage(stage.name))
    return state.with_stage(_last(state.stage(stage.name), loop, parts))


def _bound(loops: tuple[Loop, ...], bound: Loop) -> tuple[Loop, ...]:
    """The loops of a stage of parts, with the one over parts bound as the reducing loop is."""
    return tuple(
        replace(loop, kind=bound.kind, annotations=bound.annotations) if loop.name == bound.name else loop
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


def _halved(state: State, stage: Stage, parts: Stage, before: int, scope: Scope) -> Stage:
    """The first half of the parts, with those behind them added."""
    count = (before + 1) // 2
    _, reduction = _reduction_of(stage)
    (*axes, lane) = fresh_axes(compute_of(parts, "combine"))
    at = Axis(lane.name, count)
    left, right = _at(parts, (*axes, at)), _at(parts, (*axes, minimum(add(at, count), before - 1)))
    both = reduction.combine(left, right)
    if before % 2:  # one part is left over
        paired = Holds(Comparison(add(at, count), "<", before))
        both = tuple(select(paired, new, old) for new, old in zip(both, left, strict=True))
    name = state.fresh_name(f"{stage.name}.rf.{count}")
    shape = (*(axis.extent for axis in axes), count)
    buffers = tuple(Buffer(f"{x.name}.rf.{count}", shape, x.dtype) for x in stage.outputs)
    return plain_stage(name, Compute(name, (*axes, at), both), buffers, scope)


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

"""Dividing the work of a stage among threads that share its result, where its schedule does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from relay.arith.expr import IntExpr, Symbol
from relay.te.operation import Compute
from relay.te.state import At, FuseRelation, Loop, Relation, SplitRelation, Stage, State
from relay.tir.hierarchy import ThreadAxis
from relay.tir.stmt import THREAD_NAME, LoopKind


def divide_among_threads(state: State, stage: Stage, counts: Mapping[ThreadAxis, IntExpr]) -> Stage:
    """`stage` with its serial loops over results fused, and shared out along the axes that see its result and that it
    binds no loop to; neighbours in memory go to neighbours among the threads.

    before: for i0 in 16: for i1 in 8           after, for 64 threads along x:
                                                for i0.i1.fused.outer in 2: thread i0.i1.fused.inner in 64
    """
    own = {loop.thread for loop in stage.loops}
    axes = [
        (axis, count)
        for axis in state.hierarchy.threads
        if isinstance(count := counts.get(axis, 1), int) and count > 1 and axis.name not in own
        if state.hierarchy.shares(stage.scope, axis)
    ]
    if not axes or not isinstance(stage.place, At) or not _may_be_divided(state, stage):
        return stage
    spatial = [loop for loop in stage.loops if not loop.is_reduction and loop.kind is LoopKind.SERIAL]
    rest = tuple(loop for loop in stage.loops if loop not in spatial)
    if not spatial:
        return stage
    relations: list[Relation] = list(stage.relations)
    outer = spatial[0]
    for inner in spatial[1:]:
        fused = _loop(f"{outer.name}.{inner.name}.fused")
        relations.append(FuseRelation(outer.symbol, inner.symbol, fused.symbol))
        outer = fused
    bound: list[Loop] = []
    for axis, count in axes:
        name = outer.name
        parent, outer, inner = outer.symbol, _loop(f"{name}.outer"), _loop(f"{name}.inner")
        relations.append(SplitRelation(parent, outer.symbol, inner.symbol, count, None))
        bound.insert(0, replace(inner, kind=LoopKind.THREAD, annotations=((THREAD_NAME, axis.name),)))
    return replace(stage, loops=(outer, *bound, *rest), relations=tuple(relations))


def _loop(name: str) -> Loop:
    return Loop(name, Symbol(name), is_reduction=False)


def _may_be_divided(state: State, stage: Stage) -> bool:
    """Whether nothing names the loops of a stage, and they may run in any order."""
    named = stage.intrinsic is not None or stage.prefetches or stage.claims
    plain = isinstance(stage.operation, Compute) and not stage.operation.ranks
    attached = any(state.attached(stage, loop) for loop in stage.loops)
    kinds = {loop.kind for loop in stage.loops} <= {LoopKind.SERIAL, LoopKind.THREAD}
    return plain and kinds and not named and not attached

"""Fuse: two loops into one."""

from __future__ import annotations

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.te.schedule.loops import check_plain, check_unused, replaced
from relay.te.schedule.step import refused
from relay.te.state import FuseRelation, Loop, State


@frozen
class Fuse:
    """Loops `outer` and `inner`, one right inside the other, become `outer.inner.fused`.

    >>> from relay import te
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> print(te.apply([c]))  # before
    for i
      for j
        for k
          c
    >>> print(te.apply([c], [te.Fuse("c", "i", "j")]))  # after
    for i.j.fused
      for k
        c
    """

    stage: str
    outer: str
    inner: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        position = stage.position(self.outer)
        outer, inner = stage.loops[position], stage.loop(self.inner)
        check_plain(state, stage, outer, "fuse")
        check_plain(state, stage, inner, "fuse")
        if stage.position(self.inner) != position + 1:
            raise refused(
                f"cannot fuse loops `{outer.name}` and `{inner.name}` of `{stage.name}`: they are not neighbours",
                expected=f"`{inner.name}` right inside `{outer.name}`",
                found="loops " + ", ".join(loop.name for loop in stage.loops),
                remedy="reorder them first",
            )
        if outer.is_reduction != inner.is_reduction:
            raise refused(
                f"cannot fuse loops `{outer.name}` and `{inner.name}` of `{stage.name}`: only one is reduced over",
                remedy="fuse loops of results with each other, and loops of the reduction with each other",
            )
        name = f"{outer.name}.{inner.name}.fused"
        check_unused(stage, (name,))
        fused = Loop(name, Symbol(name), outer.is_reduction)
        relation = FuseRelation(outer.symbol, inner.symbol, fused.symbol)
        return state.with_stage(replaced(stage, position, 2, (fused,), relation))

"""Fuse: two loops into one."""

from __future__ import annotations

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import check_plain, check_unused, replaced
from relay.te.schedule.step import refused
from relay.te.state import FuseRelation, Loop, State


@frozen
class Fuse:
    """Fuse loop `outer` and loop `inner`, which must be directly nested, into the loop `outer.inner.fused`.

    >>> from relay import te
    >>> a = te.placeholder((8, 8), "float32", "a")
    >>> c = te.compute((8, 8), lambda i, j: a[i, j] * 2.0, name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    serial i in 8 {
      serial j in 8 {
        c[i, j] = (a[i, j] * float32(2.0));
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.Fuse("c", "i", "j")])))  # after
    serial i.j.fused in 64 {
      c[i.j.fused // 8, i.j.fused % 8] = (a[i.j.fused // 8, i.j.fused % 8] * float32(2.0));
    }
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

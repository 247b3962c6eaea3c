"""Split: one loop into two."""

from __future__ import annotations

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import check_plain, check_unused, replaced
from relay.te.schedule.step import refused
from relay.te.state import Loop, SplitRelation, State


@frozen
class Split:
    """Split loop `i` into `i.outer` around `i.inner`. `factor` is the extent of the inner loop, `parts` that of the
    outer.

    If `factor` does not divide the extent, the split adds a guard. Loop partitioning later removes it from the main
    part of the loop.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b])))  # before
    serial i in 64 {
      b[i] = (a[i] * float32(2.0));
    }
    >>> print(te.print_loops(te.apply([b], [te.Split("b", "i", factor=16)])))  # after
    serial i.outer in 4 {
      serial i.inner in 16 {
        b[16*i.outer + i.inner] = (a[16*i.outer + i.inner] * float32(2.0));
      }
    }
    """

    stage: str
    loop: str
    factor: int | None = None
    parts: int | None = None

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        position = stage.position(self.loop)
        loop = stage.loops[position]
        check_plain(state, stage, loop, "split")
        given = [size for size in (self.factor, self.parts) if size is not None]
        if len(given) != 1 or given[0] < 1:
            raise refused(
                f"cannot split loop `{loop.name}` of `{stage.name}`",
                expected="either a factor or a number of parts, at least 1",
                found=f"factor={self.factor}, parts={self.parts}",
            )
        names = (f"{loop.name}.outer", f"{loop.name}.inner")
        check_unused(stage, names)
        outer, inner = (Loop(name, Symbol(name), loop.is_reduction) for name in names)
        relation = SplitRelation(loop.symbol, outer.symbol, inner.symbol, self.factor, self.parts)
        return state.with_stage(replaced(stage, position, 1, (outer, inner), relation))

"""Vectorize: the iterations of a loop become the lanes of vectors."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import check_plain, with_loop
from relay.te.schedule.step import refused
from relay.te.state import State
from relay.tir.stmt import LoopKind


@frozen
class Vectorize:
    """Execute the innermost loop of a stage, which must not be a reduction loop, as one vector operation.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b])))  # before
    serial i in 64 {
      b[i] = (a[i] * float32(2.0));
    }
    >>> steps = [te.Split("b", "i", factor=16), te.Vectorize("b", "i.inner")]
    >>> print(te.print_loops(te.apply([b], steps)))  # after
    serial i.outer in 4 {
      vectorized i.inner in 16 {
        b[16*i.outer + i.inner] = (a[16*i.outer + i.inner] * float32(2.0));
      }
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        loop = stage.loop(self.loop)
        check_plain(state, stage, loop, "vectorize")
        if loop.is_reduction:
            raise refused(
                f"cannot vectorize loop `{loop.name}` of `{stage.name}`: its iterations add up to one result",
                remedy=f"give each lane a result of its own with rfactor over `{loop.name}`, then vectorize that",
            )
        if loop is not stage.loops[-1]:
            raise refused(
                f"cannot vectorize loop `{loop.name}` of `{stage.name}`: it is not the innermost",
                expected=f"`{loop.name}` innermost",
                found="loops " + ", ".join(loop.name for loop in stage.loops),
                remedy=f"reorder `{loop.name}` to the innermost place first",
            )
        return with_loop(state, stage, replace(loop, kind=LoopKind.VECTORIZED))

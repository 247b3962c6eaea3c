"""Parallel: the iterations of a loop run on several threads."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.operation import Scan
from relay.te.schedule.step import refused
from relay.te.state import State
from relay.tir.stmt import LoopKind


@frozen
class Parallel:
    """The iterations of the loop, which must not be reduced over, run in any order on several threads.

    >>> from relay import te
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    serial i in 8 {
      serial j in 8 {
        c[i, j] = float32(0.0);
        serial k in 8 {
          c[i, j] = (c[i, j] + (a[i, k] * b[k, j]));
        }
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.Parallel("c", "i")])))  # after
    parallel i in 8 {
      serial j in 8 {
        c[i, j] = float32(0.0);
        serial k in 8 {
          c[i, j] = (c[i, j] + (a[i, k] * b[k, j]));
        }
      }
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        position = stage.position(self.loop)
        loop = stage.loops[position]
        if loop.kind is not LoopKind.SERIAL:
            raise refused(
                f"cannot make loop `{loop.name}` of `{stage.name}` parallel: it is {loop.kind} already",
                remedy="give a loop one kind only",
            )
        if loop.is_reduction or isinstance(stage.operation, Scan):
            raise refused(
                f"cannot make loop `{loop.name}` of `{stage.name}` parallel: its iterations need each other's results",
                remedy=f"give each thread a result of its own with rfactor over `{loop.name}`"
                if loop.is_reduction
                else "make a loop inside the scan's update parallel",
            )
        loops = (*stage.loops[:position], replace(loop, kind=LoopKind.PARALLEL), *stage.loops[position + 1 :])
        return state.with_stage(replace(stage, loops=loops))

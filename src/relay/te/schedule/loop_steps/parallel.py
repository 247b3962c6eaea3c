"""Parallel: the iterations of a loop run on several threads."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import with_kind
from relay.te.state import State
from relay.tir.stmt import LoopKind


@frozen
class Parallel:
    """Run the iterations of the loop, which must not be a reduction loop, on several threads in any order.

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
        of_reduction = f"give each thread a result of its own with rfactor over `{self.loop}`"
        of_scan = "make a loop inside the scan's update parallel"
        return with_kind(state, self, LoopKind.PARALLEL, "make {} parallel", (of_reduction, of_scan))

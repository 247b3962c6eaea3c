"""LeaveGap: rows of a buffer further apart than they are long."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.operation import Compute
from relay.te.schedule.step import refused
from relay.te.state import State
from relay.te.tensor import Gap


@frozen
class LeaveGap:
    """Leave room for `elements` more elements after each row of the buffer of `stage`, along its last axis.

    Rows whose distance is a multiple of 4096 bytes map to the same set of the first-level cache and evict each other. A
    gap of one cache line avoids this. The loops do not change.

    >>> from relay import te
    >>> a = te.placeholder((8, 1024), "float32", "a")
    >>> b = te.compute((8, 1024), lambda i, j: a[i, j] * 2.0, name="b")
    >>> c = te.compute((8, 1024), lambda i, j: b[i, j] + 1.0, name="c")
    >>> print(te.print_loops(te.apply([c], [te.LeaveGap("b", 16)])))
    alloc b: float32[8, 1040] {
      serial i in 8 {
        serial j in 1024 {
          b[i, j] = (a[i, j] * float32(2.0));
        }
      }
      serial i_1 in 8 {
        serial j_1 in 1024 {
          c[i_1, j_1] = (b[i_1, j_1] + float32(1.0));
        }
      }
    }
    """

    stage: str
    elements: int

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        if not isinstance(stage.operation, Compute) or not stage.operation.axes or state.is_output(stage):
            raise refused(
                f"cannot leave gaps in the buffer of `{stage.name}`",
                expected="a compute whose buffer is the program's own, with an axis",
                found="a result, whose place its caller knows" if state.is_output(stage) else "another stage",
            )
        if self.elements < 0:
            raise refused("a gap cannot be negative", expected="0 or more elements", found=str(self.elements))
        return state.with_stage(replace(stage, gap=Gap(-1, self.elements) if self.elements else None))

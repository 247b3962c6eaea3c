"""VirtualThread: iterations of a loop take turns."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import with_kind
from relay.te.state import State
from relay.tir.stmt import LoopKind


@frozen
class VirtualThread:
    """Interleave the iterations of the loop, which must not be a reduction loop, on one thread: while a queue executes
    the operations of one iteration, others compute. Each iteration has buffers of its own.

    >>> from relay import te
    >>> a = te.placeholder((2, 64), "float32", "a")
    >>> b = te.compute((2, 64), lambda i, j: a[i, j] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b])))  # before
    serial i in 2 {
      serial j in 64 {
        b[i, j] = (a[i, j] * float32(2.0));
      }
    }
    >>> print(te.print_loops(te.apply([b], [te.VirtualThread("b", "i")])))  # after
    serial j in 64 {
      b[0, j] = (a[0, j] * float32(2.0));
    }
    serial j_1 in 64 {
      b[1, j_1] = (a[1, j_1] * float32(2.0));
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        instead = "choose a loop over results"
        return with_kind(state, self, LoopKind.VIRTUAL, "make {} virtual threads", (instead, instead))

"""Unroll: the body of a loop is repeated."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import with_kind
from relay.te.state import State
from relay.tir.stmt import LoopKind


@frozen
class Unroll:
    """Unroll the loop completely. After the schedule is applied, its extent must be a constant.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b])))  # before
    serial i in 64 {
      b[i] = (a[i] * float32(2.0));
    }
    >>> print(te.print_loops(te.apply([b], [te.Split("b", "i", factor=4), te.Unroll("b", "i.inner")])))  # after
    serial i.outer in 16 {
      unrolled i.inner in 4 {
        b[4*i.outer + i.inner] = (a[4*i.outer + i.inner] * float32(2.0));
      }
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        return with_kind(state, self, LoopKind.UNROLLED, "unroll {}", None)

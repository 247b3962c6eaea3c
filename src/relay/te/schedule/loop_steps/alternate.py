"""Alternate: a loop that goes the other way every second time."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.operation import Scan
from relay.te.schedule.loop_steps.loops import with_loop
from relay.te.schedule.step import refused
from relay.te.state import State
from relay.tir.stmt import ALTERNATE


@frozen
class Alternate:
    """Run the iterations of the loop, which must not be a reduction loop, from first to last in one call of the kernel
    and from last to first in the next. If the data do not fit in a cache, each call then begins with the data that the
    previous call left there. With a fixed order, they would be evicted before they are used.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b], [te.Alternate("b", "i")])))
    serial i in 64 ("alternate": 1) {
      b[i] = (a[i] * float32(2.0));
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        loop = stage.loop(self.loop)
        if loop.is_reduction or isinstance(stage.operation, Scan):
            raise refused(
                f"cannot alternate loop `{loop.name}` of `{stage.name}`: the order of its iterations counts",
                remedy="alternate a loop around it",
            )
        kept = tuple(pair for pair in loop.annotations if pair[0] != ALTERNATE)
        return with_loop(state, stage, replace(loop, annotations=(*kept, (ALTERNATE, 1))))

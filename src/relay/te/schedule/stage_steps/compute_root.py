"""ComputeRoot: a stage gets a loop nest of its own."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.step import refused
from relay.te.state import AtRoot, State


@frozen
class ComputeRoot:
    """Compute all of `stage` before its consumers start. This is where every stage is computed initially.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> c = te.compute((64,), lambda i: b[i] + 1.0, name="c")
    >>> print(te.print_loops(te.apply([c], [te.ComputeAt("b", "c", "i")])))  # before
    serial i in 64 {
      alloc b: float32[1] {
        b[0] = (a[i] * float32(2.0));
        c[i] = (b[0] + float32(1.0));
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.ComputeAt("b", "c", "i"), te.ComputeRoot("b")])))  # after
    alloc b: float32[64] {
      serial i in 64 {
        b[i] = (a[i] * float32(2.0));
      }
      serial i_1 in 64 {
        c[i_1] = (b[i_1] + float32(1.0));
      }
    }
    """

    stage: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        scan = state.scan_around(stage)
        if scan is not None:
            raise refused(f"`{stage.name}` needs earlier rows of scan `{scan.name}`, and stays inside it")
        return state.with_stage(replace(stage, place=AtRoot()))

"""SetScope: where the result of a stage is kept."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.step import refused
from relay.te.state import State
from relay.tir.buffer import Scope


@frozen
class SetScope:
    """Put the buffers of the stage into `scope`: `global`, `local`, `register`, or another scope of the target.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> c = te.compute((64,), lambda i: b[i] + 1.0, name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    alloc b: float32[64] {
      serial i in 64 {
        b[i] = (a[i] * float32(2.0));
      }
      serial i_1 in 64 {
        c[i_1] = (b[i_1] + float32(1.0));
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.ComputeAt("b", "c", "i"), te.SetScope("b", "register")])))  # after
    serial i in 64 {
      alloc b: float32[1] register {
        b[0] = (a[i] * float32(2.0));
        c[i] = (b[0] + float32(1.0));
      }
    }
    """

    stage: str
    scope: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        scope = state.hierarchy.scope(self.scope)
        if state.is_output(stage) and scope is not Scope.GLOBAL:
            raise refused(
                f"`{stage.name}` is a result of the program, and stays in global scope",
                remedy=f"compute it in a stage of its own with cache_write, and put that in {self.scope} scope",
            )
        return state.with_stage(replace(stage, scope=scope))

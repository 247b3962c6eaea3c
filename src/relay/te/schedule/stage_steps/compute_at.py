"""ComputeAt: a stage is computed piece by piece, inside a loop of a consumer."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.operation import Compute, Scan
from relay.te.schedule.step import refused
from relay.te.state import At, State
from relay.tir.stmt import LoopKind


@frozen
class ComputeAt:
    """Compute `stage` at the start of each iteration of loop `loop` of `target`, and only the part that is read there.

    When the program is lowered, all consumers of the stage must be inside this loop.

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
    >>> print(te.print_loops(te.apply([c], [te.ComputeAt("b", "c", "i")])))  # after
    serial i in 64 {
      alloc b: float32[1] {
        b[0] = (a[i] * float32(2.0));
        c[i] = (b[0] + float32(1.0));
      }
    }
    """

    stage: str
    target: str
    loop: str

    def apply(self, state: State) -> State:
        stage, target = state.stage(self.stage), state.stage(self.target)
        loop = target.loop(self.loop)
        if not isinstance(stage.operation, Compute):
            raise refused(f"`{stage.name}` is not a compute, and has no parts to compute elsewhere")
        if state.is_output(stage):
            raise refused(
                f"`{stage.name}` is a result of the program, and is computed whole, at the root",
                remedy="compute its producers at its loops instead",
            )
        if not state.depends_on(target, stage):
            raise refused(
                f"cannot compute `{stage.name}` at `{target.name}`, which does not read it",
                expected="one of its consumers: "
                + (", ".join(x.name for x in state.consumers(stage)) or "it has none"),
                found=target.name,
            )
        if loop.kind is LoopKind.VECTORIZED:
            raise refused(
                f"cannot compute `{stage.name}` at loop `{loop.name}` of `{target.name}`: that loop is vectorized",
                remedy="compute it at a loop outside",
            )
        if any(isinstance(other.operation, Scan) for other in state.consumers(stage)):
            raise refused(f"`{stage.name}` is read by a scan, and stays where the scan needs it")
        return state.with_stage(replace(stage, place=At(target.name, loop.name)))

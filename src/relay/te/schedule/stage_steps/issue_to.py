"""IssueTo: a stage is done by a queue, as a whole or one iteration of a loop after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.stage_steps.rewriting import compute_of
from relay.te.schedule.step import refused
from relay.te.state import Loop, Stage, State
from relay.tir.stmt import LoopKind


@frozen
class IssueTo:
    """Issue the computation of the stage to `queue`, one of the target's queues. With a `loop`, issue each iteration of
    this loop as an operation of its own. Lowering inserts awaits where the results are read, for the part that is read,
    and before the operands are overwritten.

    >>> from relay import te
    >>> from relay.tir.hierarchy import Hierarchy, Queue
    >>> machine = Hierarchy(("device", "core"), queues=(Queue("load"),))
    >>> a = te.placeholder((64,), "float32", "a")
    >>> c = te.compute((64,), lambda i: a[i] + 1.0, name="c")
    >>> steps = [te.Split("c", "i", 8), te.CacheRead("a", "local", ("c",)), te.ComputeAt("a.local", "c", "i.outer")]
    >>> print(te.print_loops(te.apply([c], steps, machine)))  # before
    serial i.outer in 8 {
      alloc a.local: float32[8] local {
        serial i0 in 8 {
          a.local[i0] = a[8*i.outer + i0];
        }
        serial i.inner in 8 {
          c[8*i.outer + i.inner] = (a.local[i.inner] + float32(1.0));
        }
      }
    }
    >>> print(te.print_loops(te.apply([c], [*steps, te.IssueTo("a.local", "load")], machine)))  # after
    serial i.outer in 8 {
      alloc a.local: float32[8] local {
        issue load {
          serial i0 in 8 {
            a.local[i0] = a[8*i.outer + i0];
          }
        }
        issue load {
          evaluate call("signal.load", int32);
        }
        evaluate call("await.load", int32, int32(1));
        serial i.inner in 8 {
          c[8*i.outer + i.inner] = (a.local[i.inner] + float32(1.0));
        }
      }
    }
    """

    stage: str
    queue: str
    loop: str = ""

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        compute_of(stage, "issue")
        issued = replace(stage, queue=state.hierarchy.queue(self.queue).name, issued_at=self.loop)
        check_issued_loop(issued)
        return state.with_stage(issued)


def check_issued_loop(stage: Stage, around: Sequence[Loop] = ()) -> None:
    """Raises `RelayError`: `schedule-unknown-loop`; `schedule-refused`, where iterations of the loop that is issued, or
    of one outside of it (`around` the stage, too), run side by side."""
    own = stage.loops[: stage.position(stage.issued_at) + 1] if stage.issued_at else ()
    at = f" at loop `{stage.issued_at}`" if stage.issued_at else ""
    for loop in (*around, *own):
        if loop.kind in (LoopKind.VECTORIZED, LoopKind.PARALLEL):
            raise refused(
                f"cannot issue `{stage.name}` to {stage.queue}{at}: the iterations of `{loop.name}` run side by side",
                expected=f"`{loop.name}` as a loop whose iterations follow each other",
                found=f"a {loop.kind} loop",
                remedy="issue it outside of that loop, or leave the loop serial",
            )

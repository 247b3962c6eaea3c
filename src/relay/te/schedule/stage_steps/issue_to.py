"""IssueTo: a stage is done by a queue."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.stage_steps.rewriting import compute_of
from relay.te.state import State


@frozen
class IssueTo:
    """What the stage computes at its place is issued to `queue`, one of those that the target has. Lowering awaits it
    where it is read, and before what it reads is written over.

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

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        compute_of(stage, "issue")
        return state.with_stage(replace(stage, queue=state.hierarchy.queue(self.queue).name))

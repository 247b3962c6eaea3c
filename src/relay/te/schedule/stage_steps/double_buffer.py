"""DoubleBuffer: a stage is computed one iteration ahead."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.stage_steps.rewriting import compute_of
from relay.te.schedule.step import refused
from relay.te.state import At, State


@frozen
class DoubleBuffer:
    """Give the stage two buffers: each iteration of the loop at which it is computed reads one of them, while the data
    for the next iteration are written to the other. If the stage is issued to a queue, its copies overlap with the
    computation.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> c = te.compute((64,), lambda i: a[i] + 1.0, name="c")
    >>> steps = [te.Split("c", "i", 8), te.CacheRead("a", "local", ("c",)), te.ComputeAt("a.local", "c", "i.outer")]
    >>> print(te.print_loops(te.apply([c], steps)))  # before
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
    >>> print(te.print_loops(te.apply([c], [*steps, te.DoubleBuffer("a.local")])))  # after
    alloc a.local: float32[2, 8] local {
      serial i0 in 8 {
        a.local[0, i0] = a[i0];
      }
      serial i.outer in 8 {
        if holds(i.outer + 1 < 8) {
          serial i0_1 in 8 {
            a.local[(i.outer + 1) % 2, i0_1] = a[8*i.outer + i0_1 + 8];
          }
        }
        serial i.inner in 8 {
          c[8*i.outer + i.inner] = (a.local[i.outer % 2, i.inner] + float32(1.0));
        }
      }
    }
    """

    stage: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        compute_of(stage, "double-buffer")
        if not isinstance(stage.place, At):
            raise refused(
                f"cannot double-buffer `{stage.name}`: it is computed at the root, once",
                remedy="compute it at a loop of the stage that reads it first",
            )
        return state.with_stage(replace(stage, double_buffered=True))

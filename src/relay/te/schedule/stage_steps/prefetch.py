"""Prefetch: memory is asked for before it is needed."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.step import refused
from relay.te.state import Prefetching, State


@frozen
class Prefetch:
    """In `loop` of `stage`, prefetch the part of `tensor` that the next iteration of loop `ahead` of `target` will
    read.

    The prefetches are distributed over the iterations in between. For example, while a micro-kernel processes the rows
    of one panel of packed weights, the next panel is loaded into the second-level cache.

    >>> from relay import te
    >>> a, w = te.placeholder((8, 8), "float32", "a"), te.placeholder((2, 8, 4), "float32", "w")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((2, 8, 4), lambda p, i, j: te.sum(a[i, k] * w[p, k, j], axis=k), name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    serial p in 2 {
      serial i in 8 {
        serial j in 4 {
          c[p, i, j] = float32(0.0);
          serial k in 8 {
            c[p, i, j] = (c[p, i, j] + (a[i, k] * w[p, k, j]));
          }
        }
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.Prefetch("c", "i", "w", "c", "p")])))  # after
    serial p in 2 {
      serial i in 8 {
        evaluate call("prefetch", int32, w[p + 1, 0, 16*i], int32(0), int32(2));
        serial j in 4 {
          c[p, i, j] = float32(0.0);
          serial k in 8 {
            c[p, i, j] = (c[p, i, j] + (a[i, k] * w[p, k, j]));
          }
        }
      }
    }
    """

    stage: str
    loop: str
    tensor: str
    target: str
    ahead: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        stage.position(self.loop)
        state.stage(self.target).position(self.ahead)
        sources = state.sources(stage)
        named = [buffer for buffer in sources if buffer.name == self.tensor]
        if len(named) != 1 or not stage.reads():
            raise refused(
                f"`{stage.name}` does not read `{self.tensor}`",
                expected="one of " + ", ".join(source.name for source in sources),
                found=self.tensor,
            )
        prefetching = Prefetching(self.loop, named[0], self.target, self.ahead)
        return state.with_stage(replace(stage, prefetches=(*stage.prefetches, prefetching)))

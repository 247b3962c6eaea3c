"""PrefetchStores: memory is asked for before it is written."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.operation import Compute
from relay.te.schedule.step import refused
from relay.te.state import State


@frozen
class PrefetchStores:
    """At the start of each iteration of `loop` of `stage`, prefetch the cache lines that the iteration writes.

    A store to a line that is not in the cache waits for the line, and so do the stores after it. A tile of results is
    written once, at its end, so its lines can be loaded while the tile is computed.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> steps = [te.Split("b", "i", factor=16)]
    >>> print(te.print_loops(te.apply([b], steps)))  # before
    serial i.outer in 4 {
      serial i.inner in 16 {
        b[16*i.outer + i.inner] = (a[16*i.outer + i.inner] * float32(2.0));
      }
    }
    >>> print(te.print_loops(te.apply([b], [*steps, te.PrefetchStores("b", "i.outer")])))  # after
    serial i.outer in 4 {
      evaluate call("prefetch", int32, b[16*i.outer], int32(1), int32(3));
      serial i.inner in 16 {
        b[16*i.outer + i.inner] = (a[16*i.outer + i.inner] * float32(2.0));
      }
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        stage.position(self.loop)
        if not isinstance(stage.operation, Compute):
            raise refused(f"`{stage.name}` is not a compute, and has no stores of its own")
        return state.with_stage(replace(stage, claims=(*stage.claims, self.loop)))

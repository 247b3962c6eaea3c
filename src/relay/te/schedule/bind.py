"""Bind: a loop becomes an axis of an accelerator's threads."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.loops import with_loop
from relay.te.schedule.step import refused
from relay.te.state import State
from relay.tir.stmt import LoopKind

THREADS = (*(f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in "xyz"), "vthread")


@frozen
class Bind:
    """The iterations of the loop are the threads along `thread` (`blockIdx.x`, `threadIdx.y`, `vthread`). A CPU has no
    such threads: its backend refuses the loop (`bound-loop`).

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.apply([b]))  # before
    for i
      b
    >>> print(te.apply([b], [te.Bind("b", "i", "threadIdx.x")]))  # after
    for i: thread, thread=threadIdx.x
      b
    """

    stage: str
    loop: str
    thread: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        loop = stage.loop(self.loop)
        if self.thread not in THREADS:
            raise refused(
                f"cannot bind loop `{loop.name}` of `{stage.name}`: accelerators have no threads along {self.thread}",
                expected="one of " + ", ".join(THREADS),
                found=self.thread,
                remedy="bind it to one of these",
            )
        if loop.kind is not LoopKind.SERIAL or loop.is_reduction:
            why = "its iterations add up to one result" if loop.is_reduction else f"it is {loop.kind} already"
            raise refused(
                f"cannot bind loop `{loop.name}` of `{stage.name}` to {self.thread}: {why}",
                remedy="bind a serial loop over results",
            )
        bound = replace(loop, kind=LoopKind.THREAD, annotations=(*loop.annotations, ("thread", self.thread)))
        return with_loop(state, stage, bound)

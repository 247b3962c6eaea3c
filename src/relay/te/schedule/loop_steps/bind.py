"""Bind: a loop becomes an axis of a target's threads."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.operation import Scan
from relay.te.schedule.loop_steps.loops import with_loop
from relay.te.schedule.stage_steps.rewriting import compute_of
from relay.te.schedule.step import refused
from relay.te.state import Loop, Stage, State
from relay.tir.hierarchy import ThreadAxis
from relay.tir.stmt import THREAD_NAME, LoopKind


@frozen
class Bind:
    """Run the iterations of the loop on the threads along `thread`, one of the target's thread axes. Loops of several
    stages that are bound to the same axis become one loop with the largest extent; threads beyond the extent of a
    shorter loop are idle. A reduction loop becomes a tree reduction: each thread computes a partial result, and the
    threads combine them. Then the class is ROUNDING.

    >>> from relay import te
    >>> from relay.tir.hierarchy import Hierarchy, ThreadAxis
    >>> machine = Hierarchy(("device", "thread"), threads=(ThreadAxis("x", "thread"),))
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b], [], machine)))  # before
    serial i in 64 {
      b[i] = (a[i] * float32(2.0));
    }
    >>> print(te.print_loops(te.apply([b], [te.Bind("b", "i", "x")], machine)))  # after
    thread x in 64 ("thread": "x") {
      b[x] = (a[x] * float32(2.0));
    }
    """

    stage: str
    loop: str
    thread: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        loop = stage.loop(self.loop)
        axis = state.hierarchy.thread(self.thread)
        self._check(state, stage, loop, axis)
        taken = [other.name for other in stage.loops if dict(other.annotations).get(THREAD_NAME) == self.thread]
        if taken:
            raise refused(
                f"cannot bind loop `{loop.name}` of `{stage.name}` to {self.thread}: loop `{taken[0]}` is bound to it",
                remedy="fuse the two loops, or bind one to another axis",
            )
        bound = replace(loop, kind=LoopKind.THREAD, annotations=(*loop.annotations, (THREAD_NAME, self.thread)))
        return with_loop(state, stage, bound)

    def _check(self, state: State, stage: Stage, loop: Loop, axis: ThreadAxis) -> None:
        action = f"cannot bind loop `{loop.name}` of `{stage.name}` to {self.thread}"
        if loop.kind is not LoopKind.SERIAL:
            raise refused(f"{action}: it is {loop.kind} already", remedy="bind a serial loop")
        if isinstance(stage.operation, Scan):
            raise refused(
                f"{action}: its iterations need each other's results", remedy="bind a loop inside the scan's update"
            )
        if loop.is_reduction:
            compute_of(stage, "bind")
            if state.hierarchy.lane_registers(axis) is None:
                state.hierarchy.scope_between(axis)

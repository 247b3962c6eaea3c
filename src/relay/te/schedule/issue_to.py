"""IssueTo: a stage is done by a queue."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.rewriting import compute_of
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
    >>> print(te.apply([c], steps, machine))  # before
    for i.outer
      for i0
        a.local in local
      for i.inner
        c
    >>> print(te.apply([c], [*steps, te.IssueTo("a.local", "load")], machine))  # after
    for i.outer
      for i0
        a.local in local, issued to load
      for i.inner
        c
    """

    stage: str
    queue: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        compute_of(stage, "issue")
        return state.with_stage(replace(stage, queue=state.hierarchy.queue(self.queue).name))

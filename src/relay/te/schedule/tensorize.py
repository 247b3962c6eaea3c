"""Tensorize: the inner loops of a stage become one instruction."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.step import refused
from relay.te.state import Intrinsic, State


@frozen
class Tensorize:
    """Everything inside and including `loop` is done by `intrinsic`, a name that lowering is given the meaning of.

    >>> from relay import te
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> print(te.apply([c]))  # before
    for i
      for j
        for k
          c
    >>> steps = [te.Reorder("c", ("i", "k", "j")), te.Tensorize("c", "j", "fma8")]
    >>> print(te.apply([c], steps))  # after
    for i
      for k
        c by fma8
    """

    stage: str
    loop: str
    intrinsic: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        position = stage.position(self.loop)
        for loop in stage.loops[position:]:
            attached = state.attached(stage, loop)
            if attached:
                raise refused(
                    f"cannot tensorize loop `{self.loop}` of `{stage.name}`: `{attached[0].name}` is inside it",
                    remedy="compute it at a loop outside",
                )
        return state.with_stage(replace(stage, intrinsic=Intrinsic(self.loop, self.intrinsic)))

"""Pragma: a word to the target about a loop."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.loop_steps.loops import with_loop
from relay.te.state import State


@frozen
class Pragma:
    """Annotate the loop with `key = value`. A target ignores annotations that it does not know.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> print(te.print_loops(te.apply([b])))  # before
    serial i in 64 {
      b[i] = (a[i] * float32(2.0));
    }
    >>> print(te.print_loops(te.apply([b], [te.Pragma("b", "i", "prefetch", 8)])))  # after
    serial i in 64 ("prefetch": 8) {
      b[i] = (a[i] * float32(2.0));
    }
    """

    stage: str
    loop: str
    key: str
    value: str | int = 1

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        loop = stage.loop(self.loop)
        kept = tuple(pair for pair in loop.annotations if pair[0] != self.key)
        return with_loop(state, stage, replace(loop, annotations=(*kept, (self.key, self.value))))

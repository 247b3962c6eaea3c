"""Reorder: loops in another order."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.step import refused
from relay.te.state import Stage, State
from relay.tir.stmt import LoopKind


@frozen
class Reorder:
    """Put the named loops into this order, outermost first, in the positions that they occupied together. Other loops
    stay.

    >>> from relay import te
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    serial i in 8 {
      serial j in 8 {
        c[i, j] = float32(0.0);
        serial k in 8 {
          c[i, j] = (c[i, j] + (a[i, k] * b[k, j]));
        }
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.Reorder("c", ("k", "i", "j"))])))  # after
    serial i.init in 8 {
      serial j.init in 8 {
        c[i.init, j.init] = float32(0.0);
      }
    }
    serial k in 8 {
      serial i in 8 {
        serial j in 8 {
          c[i, j] = (c[i, j] + (a[i, k] * b[k, j]));
        }
      }
    }
    """

    stage: str
    loops: tuple[str, ...]

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        if len(set(self.loops)) != len(self.loops):
            raise refused(
                f"cannot reorder loops of `{stage.name}`: one is named twice",
                found=", ".join(self.loops),
                remedy="name each loop once",
            )
        places = sorted(stage.position(name) for name in self.loops)
        loops = list(stage.loops)
        for place, name in zip(places, self.loops, strict=True):
            loops[place] = stage.loop(name)
        reordered = replace(stage, loops=tuple(loops))
        check_vector_loop(reordered)
        return state.with_stage(reordered)


def check_vector_loop(stage: Stage) -> None:
    """Refuse a vectorised loop that is not the innermost one."""
    for outside, inside in zip(stage.loops, stage.loops[1:], strict=False):
        if outside.kind is LoopKind.VECTORIZED:
            raise refused(
                f"loop `{outside.name}` of `{stage.name}` is vectorized, and must stay innermost",
                expected="no loop inside a vectorized one",
                found=f"`{inside.name}` inside `{outside.name}`",
                remedy=f"reorder `{outside.name}` to the innermost place",
            )

"""Tensorize: the inner loops of a stage become one instruction."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.schedule.step import refused
from relay.te.state import Intrinsic, State


@frozen
class Tensorize:
    """Replace `loop` and everything inside it by `intrinsic`, the name of an intrinsic that lowering is given.

    >>> from relay import te
    >>> from relay.base.dtypes import DType
    >>> from relay.tir.expr import Call
    >>> from relay.tir.stmt import Evaluate
    >>> def emit(inputs, output):
    ...     return Evaluate(Call("fma8", (output.load(0), inputs[0].load(), inputs[1].load(0)), DType.FLOAT32))
    >>> s, x, once = te.placeholder((), "float32", "s"), te.placeholder((8,), "float32", "x"), te.reduce_axis(1, "once")
    >>> sums = te.compute((8,), lambda j: te.sum(s[()] * x[j], axis=once), name="sums")
    >>> fma8 = te.TensorIntrinsic("fma8", sums, (s, x), emit)
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> steps = [te.Split("c", "k", 1), te.Reorder("c", ("i", "k.outer", "j", "k.inner"))]
    >>> print(te.print_loops(te.apply([c], steps)))  # before
    serial i in 8 {
      serial j.init in 8 {
        c[i, j.init] = float32(0.0);
      }
      serial k.outer in 8 {
        serial j in 8 {
          c[i, j] = (c[i, j] + (a[i, k.outer] * b[k.outer, j]));
        }
      }
    }
    >>> steps += [te.Tensorize("c", "j", "fma8")]
    >>> print(te.print_loops(te.apply([c], steps), [fma8]))  # after
    serial i in 8 {
      serial j.init in 8 {
        c[i, j.init] = float32(0.0);
      }
      serial k.outer in 8 {
        evaluate call("fma8", float32, c[i, 0], a[i, k.outer], b[k.outer, 0]);
      }
    }
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

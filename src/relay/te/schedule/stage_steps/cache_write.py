"""CacheWrite: a stage is computed in a buffer of its own, then copied."""

from __future__ import annotations

from dataclasses import replace

from relay.base.frozen import frozen
from relay.te.initial_state import plain_stage
from relay.te.operation import Compute
from relay.te.schedule.stage_steps.rewriting import compute_of, fresh_axes, with_producer_before
from relay.te.schedule.step import refused
from relay.te.state import At, State
from relay.tir.buffer import Buffer
from relay.tir.expr import Load


@frozen
class CacheWrite:
    """Add a stage `stage.scope` with the formula of `stage`, which becomes a copy of it.

    If the new stage is computed at a tile loop of the copy and has register scope, it is the accumulator tile of a
    micro-kernel.

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
    >>> steps = [te.CacheWrite("c", "local"), te.ComputeAt("c.local", "c", "i")]
    >>> print(te.print_loops(te.apply([c], steps)))  # after
    serial i in 8 {
      alloc c.local: float32[1, 8] local {
        serial j in 8 {
          c.local[0, j] = float32(0.0);
          serial k in 8 {
            c.local[0, j] = (c.local[0, j] + (a[i, k] * b[k, j]));
          }
        }
        serial j_1 in 8 {
          c[i, j_1] = c.local[0, j_1];
        }
      }
    }
    """

    stage: str
    scope: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        operation = compute_of(stage, "cache")
        scope = state.hierarchy.scope(self.scope)
        if stage.relations or any(isinstance(x.place, At) and x.place.stage == stage.name for x in state.stages):
            raise refused(
                f"cannot cache `{stage.name}`: its loops are scheduled already",
                remedy="make cache_write the first step on a stage",
            )
        name = state.fresh_name(f"{stage.name}.{self.scope}")
        many = len(stage.outputs) > 1
        buffers = tuple(
            Buffer(f"{name}.{component}" if many else name, buffer.shape, buffer.dtype)
            for component, buffer in enumerate(stage.outputs)
        )
        cached = plain_stage(name, replace(operation, name=name), buffers, scope)
        axes = fresh_axes(operation)
        copy = Compute(operation.name, axes, tuple(Load(buffer, axes) for buffer in buffers), operation.attributes)
        fresh = replace(plain_stage(stage.name, copy, stage.outputs, stage.scope), place=stage.place)
        return with_producer_before(state, cached, fresh)

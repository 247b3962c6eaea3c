"""CacheRead: consumers read a copy."""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.te.initial_state import plain_stage
from relay.te.operation import Compute
from relay.te.schedule.stage_steps.rewriting import reading, with_producer_before
from relay.te.schedule.step import refused
from relay.te.state import Stage, State
from relay.te.tensor import Axis
from relay.tir.buffer import Buffer
from relay.tir.expr import Load


@frozen
class CacheRead:
    """Add a stage `tensor.scope` that copies `tensor`, an input or the result of a stage. The stages `readers` read the
    copy.

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
    >>> steps = [te.CacheRead("a", "local", ("c",)), te.ComputeAt("a.local", "c", "i")]
    >>> print(te.print_loops(te.apply([c], steps)))  # after
    serial i in 8 {
      alloc a.local: float32[1, 8] local {
        serial i1 in 8 {
          a.local[0, i1] = a[i, i1];
        }
        serial j in 8 {
          c[i, j] = float32(0.0);
          serial k in 8 {
            c[i, j] = (c[i, j] + (a.local[0, k] * b[k, j]));
          }
        }
      }
    }
    """

    tensor: str
    scope: str
    readers: tuple[str, ...]

    def apply(self, state: State) -> State:
        readers = [state.stage(name) for name in self.readers]
        buffer = self._buffer(state, readers)
        scope = state.hierarchy.scope(self.scope)
        name = state.fresh_name(f"{self.tensor}.{self.scope}")
        copy = Buffer(name, buffer.shape, buffer.dtype)
        axes = tuple(Axis(f"i{axis}", extent) for axis, extent in enumerate(buffer.shape))
        cached = plain_stage(name, Compute(name, axes, (Load(buffer, axes),)), (copy,), scope)
        first = next(stage for stage in state.stages if stage.name in self.readers)
        state = with_producer_before(state, cached, first)
        for reader in readers:
            state = state.with_stage(
                reading(reader, lambda load: Load(copy, load.indices) if load.buffer is buffer else load)
            )
        return state

    def _buffer(self, state: State, readers: list[Stage]) -> Buffer:
        """The tensor that is meant: the result of the stage of that name, or the input of that name."""
        made = [stage.outputs[0] for stage in state.stages if stage.name == self.tensor]
        for reader in readers:
            named = [x for x in state.sources(reader) if x in made or (not made and x.name == self.tensor)]
            if len(named) != 1:
                raise refused(
                    f"`{reader.name}` does not read `{self.tensor}`",
                    expected="one of " + ", ".join(source.name for source in state.sources(reader)),
                    found=self.tensor,
                )
            made = named
        if not made:
            raise refused(f"cache_read of `{self.tensor}` names no readers")
        return made[0]

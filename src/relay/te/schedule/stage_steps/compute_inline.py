"""ComputeInline: a stage dissolves into its consumers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.te.operation import Components, Compute, Reduction, scalar_indices
from relay.te.schedule.stage_steps.rewriting import compute_of, formula_at, reading
from relay.te.schedule.step import refused
from relay.te.state import At, Stage, State
from relay.tir.expr import Load, Value


@frozen
class ComputeInline:
    """Replace every read of the stage by its formula. The loops and the buffer of the stage disappear.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> b = te.compute((64,), lambda i: a[i] * 2.0, name="b")
    >>> c = te.compute((64,), lambda i: b[i] + 1.0, name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    alloc b: float32[64] {
      serial i in 64 {
        b[i] = (a[i] * float32(2.0));
      }
      serial i_1 in 64 {
        c[i_1] = (b[i_1] + float32(1.0));
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.ComputeInline("b")])))  # after
    serial i in 64 {
      c[i] = ((a[i] * float32(2.0)) + float32(1.0));
    }
    """

    stage: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        operation = compute_of(stage, "inline")
        body = operation.body
        if isinstance(body, Reduction):
            raise refused(
                f"cannot inline `{stage.name}`: it is a reduction, and a reduction needs loops",
                remedy="compute it at a loop of its consumer instead",
            )
        if state.is_output(stage):
            raise refused(f"cannot inline `{stage.name}`: it is a result of the program")
        attached = next((x for x in state.stages if isinstance(x.place, At) and x.place.stage == stage.name), None)
        if attached is not None:
            raise refused(f"cannot inline `{stage.name}`: `{attached.name}` is computed at its loops")
        consumers = state.consumers(stage)
        if any(not isinstance(consumer.operation, Compute) for consumer in consumers):
            raise refused(f"cannot inline `{stage.name}`: a scan or extern reads it whole")

        for consumer in consumers:
            state = state.with_stage(reading(consumer, _formulas(stage, operation, body)))
        return replace(state, stages=tuple(other for other in state.stages if other.name != stage.name))


def _formulas(stage: Stage, operation: Compute, body: Components) -> Callable[[Load], Value]:
    """What stands for each load of a stage's elements; one value for all that read the same element."""
    at_indices: dict[tuple[IntExpr, ...], Callable[[Value], Value]] = {}

    def on_load(load: Load) -> Value:
        if load.buffer not in stage.outputs:
            return load
        indices = scalar_indices(load)
        if indices not in at_indices:
            at_indices[indices] = formula_at(operation, indices)
        return at_indices[indices](body[stage.outputs.index(load.buffer)])

    return on_load

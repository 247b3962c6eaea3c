"""What the steps that change formulas share: reading a tensor elsewhere, or its formula instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relay.te.operation import Compute, map_body, rewriting
from relay.te.schedule.step import refused
from relay.te.state import Stage, State
from relay.te.tensor import Axis
from relay.tir.expr import Load, Value


def reading(stage: Stage, on_load: Callable[[Load], Value]) -> Stage:
    """The stage with its loads replaced."""
    operation = stage.operation
    if not isinstance(operation, Compute):
        raise refused(f"`{stage.name}` reads whole tensors, and cannot read them elsewhere")
    return replace(stage, operation=replace(operation, body=map_body(operation.body, rewriting(on_load=on_load))))


def fresh_axes(operation: Compute) -> tuple[Axis, ...]:
    return tuple(Axis(axis.name, axis.extent) for axis in operation.axes)


def compute_of(stage: Stage, action: str) -> Compute:
    """The stage's compute. Raises `RelayError` (`schedule-refused`) for a scan or extern."""
    if not isinstance(stage.operation, Compute):
        raise refused(f"cannot {action} `{stage.name}`: it is not a compute")
    if stage.operation.ranks and action != "inline":
        raise refused(f"cannot {action} `{stage.name}`: its results have different numbers of axes")
    return stage.operation


def with_producer_before(state: State, producer: Stage, stage: Stage) -> State:
    """`state` with `stage` replaced, and `producer` added right before it: at the root, or beside a part of a scan."""
    if state.scan_around(state.stage(stage.name)) is not None:
        producer = replace(producer, place=stage.place)
    stages: list[Stage] = []
    for old in state.stages:
        stages.extend((producer, stage) if old.name == stage.name else (old,))
    return replace(state, stages=tuple(stages))

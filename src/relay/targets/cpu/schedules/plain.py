"""Groups that stay as they are written: what is no formula (scans, sorts of other programs), and empty tensors."""

from __future__ import annotations

from relay.targets.cpu.schedules.family import Family
from relay.targets.cpu.schedules.plan import Plan
from relay.te.operation import Compute
from relay.te.schedule.space import Decider


def stays_as_written(plan: Plan) -> bool:
    """Whether some stage is no formula, or there is nothing to compute, or with."""
    tensors = (*plan.group.inputs, *plan.group.outputs)
    formulas = all(isinstance(stage.operation, Compute) for stage in plan.steps.state.stages)
    return not formulas or any(0 in tensor.shape for tensor in tensors)


def read(plan: Plan) -> None:
    """Nothing is read off it."""


def decide(plan: Plan, found: None, pick: Decider) -> None:
    """Nothing is decided."""


def build(plan: Plan, found: None, decided: None) -> None:
    """No step is made."""


PLAIN = Family("plain", "it is no formula, or empty", stays_as_written, read, decide, build)

"""Which family of schedules a group gets: the first that fits, in the order of this table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from relay.base.names.named import find_named
from relay.base.names.near_names import near_names
from relay.lower.kernels.group import Group
from relay.targets.cpu.schedules.amx import AMX
from relay.targets.cpu.schedules.attention import ATTENTION
from relay.targets.cpu.schedules.convolution.conv import CONVOLUTION, SEPARABLE
from relay.targets.cpu.schedules.convolution.conv_nchw import CONVOLUTION_NCHW
from relay.targets.cpu.schedules.convolution.weight_gradient import WEIGHT_GRADIENT
from relay.targets.cpu.schedules.convolution.winograd import WINOGRAD
from relay.targets.cpu.schedules.deep_product import DEEP_PRODUCT
from relay.targets.cpu.schedules.elementwise import ELEMENTWISE
from relay.targets.cpu.schedules.family import Family, KernelSpace
from relay.targets.cpu.schedules.matmul import MATMUL
from relay.targets.cpu.schedules.plain import PLAIN
from relay.targets.cpu.schedules.plan import Plan
from relay.targets.cpu.schedules.reduction import REDUCTION
from relay.targets.cpu.schedules.rows import REPEATED_ROW, ROWS
from relay.targets.cpu.schedules.sampling import SAMPLING
from relay.targets.cpu.target import CpuTarget
from relay.te.schedule.choice import Choice, Variant
from relay.te.schedule.space import RULE
from relay.te.schedule.step import Step

OF_OPERATORS: tuple[Family[Any, Any], ...] = (PLAIN, ATTENTION, WINOGRAD, SAMPLING)
"""Families of one operator each, whose stages they know by name."""

OF_REDUCTIONS: tuple[Family[Any, Any], ...] = (
    ELEMENTWISE, SEPARABLE, ROWS, AMX, DEEP_PRODUCT, MATMUL, CONVOLUTION, CONVOLUTION_NCHW, WEIGHT_GRADIENT,
    REPEATED_ROW, REDUCTION,
)  # fmt: skip
"""Families by the reductions of a group, those over the same elements taken together."""


def schedule_group(group: Group, target: CpuTarget) -> tuple[Step, ...]:
    """The steps for a group on a resolved target, by the model of its core."""
    plan, families = _fitting(group, target)
    return next(families).steps(plan)


def space_of(group: Group, target: CpuTarget, family: str = "") -> KernelSpace:
    """What there is to decide about a group: the space of a family by name, or of the one that the model takes.

    Raises `RelayError` (`schedule-choice`) for a family that there is not, or that does not fit the group.
    """
    plan, families = _fitting(group, target)
    return _named(tuple(families), family).space(plan) if family else next(families).space(plan)


def _named(fitting: tuple[Family[Any, Any], ...], name: str) -> Family[Any, Any]:
    return find_named(
        fitting, name, rule=RULE, message=f"the family of schedules {name} is not for this kernel",
        remedy=near_names(name, (each.name for each in fitting)),
    )  # fmt: skip


def choose(group: Group, target: CpuTarget, given: Choice | None = None) -> Choice:
    """What is decided about a group on a resolved target: by the model, and by what is `given` where it decides. The
    model has variants for calls that something else is better for.

    Raises what `steps_of` raises."""
    if given is not None:
        return space_of(group, target, given.family).check(given)
    plan, families = _fitting(group, target)
    fitting = tuple(families)
    variants = tuple(
        Variant(each.when, _named(fitting, each.choice.family).space(plan.fork()).check(each.choice))
        for each in fitting[0].variants(plan)
    )
    return replace(fitting[0].space(plan).model(), variants=variants)


def steps_of(group: Group, target: CpuTarget, choice: Choice) -> tuple[Step, ...]:
    """The steps that a choice means; what it leaves open is decided by the model.

    Raises `RelayError` (`schedule-choice`) for a family, field or value that is not possible.
    """
    return space_of(group, target, choice.family).steps(choice)


def _fitting(group: Group, target: CpuTarget) -> tuple[Plan, Iterator[Family[Any, Any]]]:
    """The families that fit a group, the model's first, and the schedule that they go on from."""
    plan = Plan.of(group, target)
    if any(family.fits(plan) for family in OF_OPERATORS):
        return plan, (family for family in OF_OPERATORS if family.fits(plan))
    plan.reduce_together()
    return plan, (family for family in OF_REDUCTIONS if family.fits(plan))

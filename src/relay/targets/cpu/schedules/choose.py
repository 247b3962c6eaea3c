"""Which schedule a group gets: by its heavy stage, if it has one."""

from __future__ import annotations

from relay.base.target import Target
from relay.lower.group import Group
from relay.ops.conv import Conv2DAttributes
from relay.targets.cpu.schedules.conv import schedule_conv2d
from relay.targets.cpu.schedules.elementwise import schedule_elementwise
from relay.targets.cpu.schedules.matmul import PRODUCTS, schedule_matmul
from relay.targets.cpu.schedules.plan import Plan
from relay.targets.cpu.schedules.reduction import schedule_reduction
from relay.targets.cpu.schedules.rows import schedule_rows
from relay.te.operation import Compute
from relay.te.schedule.builder import ScheduleBuilder
from relay.te.schedule.step import Step


def schedule_group(group: Group, target: Target) -> tuple[Step, ...]:
    """The steps for a group on a resolved target."""
    plan = Plan(group, target, ScheduleBuilder(group.outputs))
    if not all(isinstance(stage.operation, Compute) for stage in plan.steps.state.stages):
        return ()
    reductions = [stage.name for stage in plan.reductions()]
    if not reductions:
        schedule_elementwise(plan)
    elif len(reductions) > 1 or len(group.outputs) > 1:
        schedule_rows(plan)
    elif reductions[0] in PRODUCTS:
        schedule_matmul(plan, reductions[0])
    elif _is_plain_conv2d(group):
        schedule_conv2d(plan, reductions[0])
    else:
        schedule_reduction(plan, reductions[0])
    return plan.steps.steps


def _is_plain_conv2d(group: Group) -> bool:
    """Whether the group's heavy operator is a convolution over NHWC data without groups."""
    for call, _ in group.anchors:
        if isinstance(call.attrs, Conv2DAttributes):
            return call.attrs.data_layout == "NHWC" and call.attrs.groups == 1
    return False

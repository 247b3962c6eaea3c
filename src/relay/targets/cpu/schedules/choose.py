"""Which schedule a group gets: by its heavy stage, if it has one."""

from __future__ import annotations

from relay.arith.expr import free_symbols
from relay.ir.expr import Call
from relay.ir.types import TensorType
from relay.lower.kernels.group import Group
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.targets.cpu.schedules.attention import is_attention, schedule_attention
from relay.targets.cpu.schedules.conv import schedule_conv2d
from relay.targets.cpu.schedules.conv_planar import schedule_planar_convolution
from relay.targets.cpu.schedules.deep_product import blocks_of, schedule_deep_product
from relay.targets.cpu.schedules.elementwise import schedule_elementwise
from relay.targets.cpu.schedules.matmul import PRODUCTS, schedule_matmul
from relay.targets.cpu.schedules.plan import Plan, product
from relay.targets.cpu.schedules.reduction import schedule_reduction
from relay.targets.cpu.schedules.rows import schedule_rows
from relay.targets.cpu.schedules.tiled import goes_by_tiles, schedule_by_tiles
from relay.targets.cpu.schedules.tiles import packed_weight
from relay.targets.cpu.schedules.winograd import is_winograd, schedule_winograd
from relay.targets.cpu.target import CpuTarget
from relay.te.operation import Compute, body_values, loads_of, scalar_indices
from relay.te.schedule.builder import ScheduleBuilder
from relay.te.schedule.step import Step


def schedule_group(group: Group, target: CpuTarget) -> tuple[Step, ...]:
    """The steps for a group on a resolved target."""
    plan = Plan(group, target, ScheduleBuilder(group.outputs))
    if not all(isinstance(stage.operation, Compute) for stage in plan.steps.state.stages) or _is_empty(group):
        return ()
    if is_attention(plan):
        schedule_attention(plan)
        return plan.steps.steps
    if is_winograd(plan):
        schedule_winograd(plan)
        return plan.steps.steps
    plan.reduce_together()
    reductions = [stage.name for stage in plan.reductions()]
    if not reductions:
        schedule_elementwise(plan)
    elif _is_separable(group):
        schedule_conv2d(plan, reductions[-1])
    elif len(reductions) > 1 or plan.has_apart_outputs:
        schedule_rows(plan)
    elif goes_by_tiles(plan):
        schedule_by_tiles(plan, reductions[0])
    elif reductions[0] in PRODUCTS and _reads_columns(plan, reductions[0]):
        blocks = blocks_of(plan, reductions[0])
        if blocks is None:
            schedule_matmul(plan, reductions[0])
        else:
            schedule_deep_product(plan, reductions[0], blocks)
    elif _layout_of_channels(group, groups=False) == "NHWC" or _is_packed_by_groups(plan):
        schedule_conv2d(plan, reductions[0])
    elif _layout_of_channels(group) in ("NCW", "NCHW"):
        schedule_planar_convolution(plan, reductions[0])
    elif _is_read_often(plan, reductions[0]):
        schedule_rows(plan)
    else:
        schedule_reduction(plan, reductions[0])
    return plan.steps.steps


def _is_read_often(plan: Plan, reduction: str) -> bool:
    """Whether the output has more elements than a reduction that is no product: each result is for several."""
    results, elements = (
        product(tuple(axis.extent for axis in plan.compute(stage).axes)) for stage in (reduction, plan.output_name)
    )
    return reduction not in PRODUCTS and results != elements


def _is_empty(group: Group) -> bool:
    """Whether there is nothing to compute, or with."""
    return any(0 in tensor.shape for tensor in (*group.inputs, *group.outputs))


def _is_separable(group: Group) -> bool:
    """Whether the group is a depthwise convolution and the 1×1 convolution of its result."""
    return sum(isinstance(call.attrs, Conv2DAttributes) for call, _ in group.anchors) > 1


def _is_packed_by_groups(plan: Plan) -> bool:
    """Whether the group's convolution has groups, and its weights are packed in blocks that lie in one of them."""
    layouts = [call.attrs.data_layout for call, _ in plan.group.anchors if isinstance(call.attrs, Conv2DAttributes)]
    return layouts == ["NHWC"] and packed_weight(plan) is not None


def _layout_of_channels(group: Group, groups: bool = True) -> str | None:
    """The layout of data and result of the group's convolution, if it is one that sums over channels; one with groups
    only where that is allowed."""
    for call, _ in group.anchors:
        if isinstance(call.attrs, (Conv1DAttributes, Conv2DAttributes)) and _sums_channels(call, groups):
            layout = call.attrs.data_layout
            return layout if call.attrs.out_layout in ("", layout) else None
    return None


def _sums_channels(call: Call, groups: bool) -> bool:
    attributes, weight = call.attrs, call.args[1].checked_type
    assert isinstance(attributes, (Conv1DAttributes, Conv2DAttributes))
    if attributes.groups == 1:
        return True
    position = attributes.kernel_layout.find("I")
    return groups and isinstance(weight, TensorType) and weight.shape[position] != 1


def _reads_columns(plan: Plan, product: str) -> bool:
    """Whether a product reads a matrix along the columns of the result: these are the lanes then. Other products are
    sums along rows of both matrices."""
    operation = plan.compute(product)
    column = operation.axes[-1]
    last = [scalar_indices(load)[-1] for load in loads_of(body_values(operation.body)) if load.indices]
    return any(column in free_symbols(index) for index in last)

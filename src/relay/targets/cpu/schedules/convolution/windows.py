"""What the convolution of a group is: one that sums over channels, and where these lie."""

from __future__ import annotations

from relay.ir.expr import Call
from relay.ir.types import TensorType
from relay.lower.kernels.group import Group
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes


def layout_of_channels(group: Group, groups: bool = True) -> str | None:
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

"""What is decided about a convolution before it is part of a kernel: how it is computed, and in which layout.

The choice for a kernel begins with it, and says why. It has no other options then: a record about the convolution has.
"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.ir.expr import Call
from relay.ir.types import TensorType
from relay.ops.framework.layouts import parse_layout
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes
from relay.ops.nn.winograd import TAPS, WinogradAttributes, algorithm_name
from relay.targets.cpu.schedules.plan import Plan
from relay.targets.cpu.winograd_model import WinogradModel
from relay.te.schedule.space import Decider

_CHANNELS_LAST = "NHWC"
_OTHERS = "minimal filtering is for 3×3 windows at stride 1 over NHWC, of known extents, in float32"


def decide_convolution(plan: Plan, pick: Decider) -> None:
    """The algorithm and the layout of the group's last convolution, as its program has them."""
    *_, call = (call for call, _ in plan.group.anchors if _layout(call))
    layout = _layout(call)
    tile = call.attrs.tile_size if isinstance(call.attrs, WinogradAttributes) else 0
    extents = _extents(call)
    why = _OTHERS if extents is None else WinogradModel(plan.target).why(extents, tile)
    pick("algorithm", algorithm_name(tile), (), why)
    last = layout[-1] == "C"
    why = "vectors lie along channels" if last else "vectors lie along rows, and nothing is transposed"
    pick("layout", layout, (), why)


def _layout(call: Call) -> str:
    """The layout of a convolution's data; nothing for other calls."""
    match call.attrs:
        case Conv1DAttributes(data_layout=layout) | Conv2DAttributes(data_layout=layout):
            return layout
        case WinogradAttributes():
            return _CHANNELS_LAST
        case _:
            return ""


def _extents(call: Call) -> tuple[int, int, int, int] | None:
    """Rows, columns and channels of the result, and channels that are summed over, of a convolution that minimal
    filtering could compute; None of others."""
    result, data, weight = call.checked_type, call.args[0].checked_type, call.args[1].checked_type
    if not isinstance(result, TensorType) or not isinstance(data, TensorType) or not isinstance(weight, TensorType):
        return None
    match call.attrs:
        case Conv2DAttributes(strides=(1, 1), dilation=(1, 1), groups=1, data_layout="NHWC") as attributes:
            taps = parse_layout(attributes.kernel_layout).extents(weight.shape)
            fits = taps["H"] == taps["W"] == TAPS and {data.dtype, weight.dtype, result.dtype} == {DType.FLOAT32}
        case WinogradAttributes():
            fits = True
        case _:
            fits = False
    known = [extent for extent in (*result.shape[1:], data.shape[-1]) if isinstance(extent, int)]
    if not fits or len(known) != len(data.shape):
        return None
    rows, columns, channels, depth = known
    return rows, columns, channels, depth

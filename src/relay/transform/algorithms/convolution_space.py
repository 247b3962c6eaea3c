"""What is decided about a convolution before it is part of a kernel: one choice, whatever layout it has by now.

    convolution: before it is part of a kernel
      layout = NHWC: vectors lie along channels
      width = 32: leaves the fewest channels empty of 64
      algorithm = F(4, 3): fewer multiplications, by the model of the target

`layout` is that of data and result, unless a neighbour wants the other one; of constant weights `width` output channels
lie together; `algorithm` is for channels behind space. AlterOpLayout brings about the first two, Conv2DToWinograd the
third.
"""

from __future__ import annotations

import math

from relay.base.diagnostics import Origin, RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Op
from relay.ir.types import TensorType
from relay.ops.framework.layouts import parse_layout
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes
from relay.ops.nn.convolution_text import convolution_text
from relay.ops.nn.winograd import ALGORITHMS, PLAIN_SUMS, TAPS, algorithm_name
from relay.te.schedule.choice import Choice
from relay.te.schedule.records import ScheduleRecords, Subject
from relay.te.schedule.space import Decider, Space
from relay.transform.framework.context import (
    ConvolutionExtents,
    ConvolutionWeights,
    LayoutPreferences,
    fitting_block,
)

CHANNELS_FIRST = "NCHW"


@frozen
class ChosenConvolution:
    """A choice, as the passes read it: 0 is no width, and no tile of minimal filtering."""

    choice: Choice

    @property
    def keeps_channels_first(self) -> bool:
        return self.choice.values["layout"] == CHANNELS_FIRST

    @property
    def width(self) -> int:
        return int(self.choice.values.get("width", 0))

    @property
    def tile(self) -> int:
        return ALGORITHMS[str(self.choice.values["algorithm"])]


def chosen_convolution(call: Call, preferences: LayoutPreferences, records: ScheduleRecords) -> ChosenConvolution:
    """What is on record for a convolution, and else what the target prefers.

    Raises `RelayError` (rule `schedule-record`) where that on record is not possible."""
    space = convolution_space(call, preferences)
    record = records.convolution(convolution_text(call))
    if record is None or record.choice is None:
        return ChosenConvolution(space.model())
    try:
        return ChosenConvolution(space.check(record.choice))
    except RelayError as error:
        raise RelayError(
            rule="schedule-record",
            message=f"the choice on record for a convolution does not fit: {error.message}",
            expected=error.expected,
            found=error.found,
            remedy=error.remedy,
            origins=(Origin("the record", record.origin),) if record.origin else (),
        ) from error


def convolution_space(call: Call, preferences: LayoutPreferences) -> Space:
    """All choices for a call of a convolution over one axis or two."""
    weights, extents = _weights(call), _extents(call)

    def decide(pick: Decider) -> None:
        keeps, preferred = preferences.keeps_channels_first, preferences.conv2d_data
        is_first = keeps is not None and weights is not None and keeps(weights)
        why = "vectors lie along rows, and nothing is transposed" if is_first else "vectors lie along channels"
        pick("layout", CHANNELS_FIRST if is_first else preferred, (CHANNELS_FIRST, preferred), why)
        blocks = preferences.conv2d_kernel_blocks
        if blocks and weights is not None:
            why = f"leaves the fewest channels empty of {weights.outputs}"
            pick("width", packing_width(blocks, weights.outputs, weights.groups), blocks, why)
        if extents is None or preferences.winograd_tile is None:
            pick("algorithm", PLAIN_SUMS, () if extents is None else tuple(ALGORITHMS), _PLAIN)
        else:
            tile = preferences.winograd_tile(extents)
            why = f"{'fewer multiplications' if tile else 'no transforms'}, by the model of the target"
            pick("algorithm", algorithm_name(tile), tuple(ALGORITHMS), why)

    return Space(Subject.CONVOLUTION, "before it is part of a kernel", decide)


_PLAIN = "minimal filtering is for 3×3 windows at stride 1 of known extents, in float32"


def packing_width(blocks: tuple[int, ...], outputs: int, groups: int) -> int:
    """How many output channels lie together: those of a block are of one group.

    >>> packing_width((32, 16), 48, 1), packing_width((32, 16), 48, 3)
    (16, 16)
    """
    if groups > 1:
        return next((block for block in blocks if (outputs // groups) % block == 0), blocks[0])
    return fitting_block(blocks, outputs)


def _weights(call: Call) -> ConvolutionWeights | None:
    """What is known of the kernel of a convolution, whatever its layout; None where that does not suffice."""
    type_ = call.args[1].checked_type
    if not isinstance(call.attrs, Conv1DAttributes | Conv2DAttributes) or not isinstance(type_, TensorType):
        return None
    kernel = parse_layout(call.attrs.kernel_layout).extents(type_.shape)
    outputs = kernel["O"] if call.attrs.channels is None else call.attrs.channels
    window = [kernel[axis] for axis in ("H", "W") if axis in kernel]
    taps = [extent for extent in window if isinstance(extent, int)]
    if len(taps) != len(window) or not isinstance(outputs, int):
        return None
    groups = call.attrs.groups
    return ConvolutionWeights(outputs, groups, (outputs, kernel["I"]) == (groups, 1), math.prod(taps))


def _extents(call: Call) -> ConvolutionExtents | None:
    """The extents of a convolution that minimal filtering can compute; None of others."""
    data, weight = call.args
    image, kernel, result = data.checked_type, weight.checked_type, call.checked_type
    if not isinstance(image, TensorType) or not isinstance(kernel, TensorType) or not isinstance(result, TensorType):
        return None
    match call:
        case Call(op=Op(name="nn.conv2d"), attrs=Conv2DAttributes(strides=(1, 1), dilation=(1, 1), groups=1) as plain):
            taps = parse_layout(plain.kernel_layout).extents(kernel.shape)
        case _:
            return None
    is_narrow = any(type_.dtype is not DType.FLOAT32 for type_ in (image, kernel, result))
    if is_narrow or (taps["H"], taps["W"]) != (TAPS, TAPS) or not _is_constant(weight):
        return None
    made = parse_layout(plain.out_layout or plain.data_layout).extents(result.shape)
    read = parse_layout(plain.data_layout).extents(image.shape)
    extents = [each for each in (made["H"], made["W"], made["C"], read["C"]) if isinstance(each, int)]
    return ConvolutionExtents(*extents) if len(extents) == len("HWCC") else None


def _is_constant(weight: Expr) -> bool:
    """Whether a kernel is constant, or one that AlterOpLayout has packed."""
    match weight:
        case Call(op=Op(name="layout_transform"), args=(inner,)):
            return isinstance(inner, Constant)
        case _:
            return isinstance(weight, Constant)

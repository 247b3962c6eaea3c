"""Convolutions that keep channels in front of space, though others get them behind it.

    stays:    nn.relu(nn.conv2d(%x, W, groups=960)), where %x comes with channels in front and nothing behind minds
    stays:    image.resize2d(nn.conv2d(%x, W, channels=3)), likewise: what a head of a network gives
    changes:  the same in front of a convolution that sums over channels, or behind one

Where each channel is by itself, vectors lie as well along a row of its image as along channels, while the window is
small enough to be written out; where the output channels leave most of a vector empty, they lie better along the row.
What turning the data and the result would take is saved.
"""

from __future__ import annotations

import math

from relay.ir.expr import Call, Expr, Op, Tuple
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.layout_transform import LAYOUT_TRANSFORM
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes, ConvAttributes
from relay.ops.nn.convolution_text import convolution_text
from relay.te.schedule.records import ScheduleRecords
from relay.transform.algorithms.row_convolution import is_row_as_image
from relay.transform.framework.context import ConvolutionWeights, LayoutPreferences


def convolutions_in_place(body: Expr, preferences: LayoutPreferences, records: ScheduleRecords) -> frozenset[Expr]:
    """The convolutions that are as fast with channels in front of space, or are on record so, and whose results no
    other convolution takes. They stay as they are where their data do."""
    found, wanted = set[Expr](), set[Expr]()
    for expr in reversed(post_order(body)):
        match expr:
            case Tuple(fields) if expr in wanted:
                wanted.update(fields)
            case Call(args=arguments, attrs=ConvAttributes()):
                if expr not in wanted and _keeps_channels_first(expr, preferences, records):
                    found.add(expr)
                else:
                    wanted.add(arguments[0])
            case Call(Op(operator=OperatorRecord() as record), arguments) if expr in wanted:
                if not isinstance(record.layout, OwnLayout) or record is LAYOUT_TRANSFORM or is_row_as_image(expr):
                    wanted.update(arguments)
            case _:
                pass
    return frozenset(found)


def _keeps_channels_first(convolution: Call, preferences: LayoutPreferences, records: ScheduleRecords) -> bool:
    """Whether a convolution has channels in front of space, and is as fast so, or on record."""
    keeps = preferences.keeps_channels_first
    weight = convolution.args[1].checked_type
    match convolution.attrs:
        case Conv2DAttributes(data_layout="NCHW", kernel_layout="OIHW", out_layout="", groups=groups):
            pass
        case Conv1DAttributes(data_layout="NCW", kernel_layout="OIW", out_layout="", groups=groups):
            pass
        case _:
            return False
    if keeps is None or not isinstance(weight, TensorType):
        return False
    outputs, of_group, *window = weight.shape
    known = [extent for extent in window if isinstance(extent, int)]
    if len(known) != len(window) or not isinstance(outputs, int):
        return False
    recorded = records.decided(convolution_text(convolution), "layout", ("NCHW", preferences.conv2d_data))
    if recorded is not None:
        return recorded == "NCHW"
    is_depthwise = (outputs, of_group) == (groups, 1)
    return keeps(ConvolutionWeights(outputs, groups, is_depthwise, math.prod(known)))

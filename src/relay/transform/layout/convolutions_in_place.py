"""Convolutions that keep channels in front of space, though others get them behind it.

    stays:    nn.relu(nn.conv2d(%x, W, groups=960)), where %x comes with channels in front and nothing behind minds
    stays:    image.resize2d(nn.conv2d(%x, W, channels=3)), likewise: what a head of a network gives
    changes:  the same in front of a convolution that sums over channels, or behind one

Where each channel is by itself, vectors lie as well along a row of its image as along channels, while the window is
small enough to be written out; where the output channels leave most of a vector empty, they lie better along the row.
What turning the data and the result would take is saved.
"""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Op, Tuple
from relay.ir.traversal import post_order
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.layout_transform import LAYOUT_TRANSFORM
from relay.ops.nn.conv import Conv1DAttributes, Conv2DAttributes, ConvAttributes
from relay.ops.nn.conv_backward_weight import ConvBackwardWeightAttributes
from relay.te.schedule.records import ScheduleRecords
from relay.transform.algorithms.convolution_space import chosen_convolution
from relay.transform.algorithms.row_convolution import is_row_as_image
from relay.transform.framework.context import LayoutPreferences


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
            case Call(args=arguments, attrs=ConvBackwardWeightAttributes()):
                wanted.update(arguments)
            case Call(Op(operator=OperatorRecord() as record), arguments) if expr in wanted:
                if not isinstance(record.layout, OwnLayout) or record is LAYOUT_TRANSFORM or is_row_as_image(expr):
                    wanted.update(arguments)
            case _:
                pass
    return frozenset(found)


def _keeps_channels_first(convolution: Call, preferences: LayoutPreferences, records: ScheduleRecords) -> bool:
    """Whether a convolution has channels in front of space, and they are chosen to be there."""
    match convolution.attrs:
        case Conv2DAttributes(data_layout="NCHW", kernel_layout="OIHW", out_layout=""):
            pass
        case Conv1DAttributes(data_layout="NCW", kernel_layout="OIW", out_layout=""):
            pass
        case _:
            return False
    if preferences.keeps_channels_first is None:
        return False
    return chosen_convolution(convolution, preferences, records).keeps_channels_first

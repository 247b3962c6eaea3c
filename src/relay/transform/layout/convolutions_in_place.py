"""Convolutions that keep channels in front of space, though others get them behind it.

    stays:    nn.relu(nn.conv2d(%x, W, groups=960)), where %x comes with channels in front and nothing behind minds
    stays:    image.resize2d(nn.conv2d(%x, W, channels=3)), likewise: what a head of a network gives
    changes:  the same in front of a convolution that sums over channels, or behind one

Where each channel is by itself, vectors lie as well along a row of its image as along channels, while the window is
small enough to be written out; where the output channels leave most of a vector empty, they lie better along the row.
What turning the data and the result would take is saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from relay.ir.expr import Call, Expr, Op, Tuple, TupleGetItem
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
    """The convolutions that are as fast with channels in front of space, or are on record so, whose results no other
    convolution takes, and whose data no other convolution makes."""
    order = post_order(body)
    found = frozenset(
        each
        for each in order
        if isinstance(each, Call)
        and isinstance(each.attrs, ConvAttributes)
        and _keeps_channels_first(each, preferences, records)
    )
    while found:
        staying = found - _wanted(order, found) - _turned(order, found)
        if staying == found:
            break
        found = staying
    return found


def _wanted(order: Sequence[Expr], in_place: AbstractSet[Expr]) -> set[Expr]:
    """What a convolution takes that does not stay as it is, through what follows the layout of its inputs."""
    wanted = set[Expr]()
    for expr in reversed(order):
        match expr:
            case Tuple(fields) if expr in wanted:
                wanted.update(fields)
            case Call(args=arguments, attrs=ConvAttributes()) if expr not in in_place or expr in wanted:
                wanted.add(arguments[0])
            case Call(args=arguments, attrs=ConvBackwardWeightAttributes()):
                wanted.update(arguments)
            case Call(Op(operator=OperatorRecord() as record), arguments) if expr in wanted:
                if _follows(expr, record) or record is LAYOUT_TRANSFORM:
                    wanted.update(arguments)
            case _:
                pass
    return wanted


def _turned(order: Sequence[Expr], in_place: AbstractSet[Expr]) -> set[Expr]:
    """The convolutions whose data one makes that does not stay as it is, through what follows the layout of its
    inputs."""
    made, turned = set[Expr](), set[Expr]()
    for expr in order:
        match expr:
            case Tuple(fields) if not made.isdisjoint(fields):
                made.add(expr)
            case TupleGetItem(tuple_value=whole) if whole in made:
                made.add(expr)
            case Call(args=arguments, attrs=ConvAttributes()):
                if expr not in in_place:
                    made.add(expr)
                elif arguments[0] in made:
                    turned.add(expr)
            case Call(Op(operator=OperatorRecord() as record), arguments):
                if not made.isdisjoint(arguments) and _follows(expr, record):
                    made.add(expr)
            case _:
                pass
    return turned


def _follows(expr: Call, record: OperatorRecord) -> bool:
    return not isinstance(record.layout, OwnLayout) or is_row_as_image(expr)


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

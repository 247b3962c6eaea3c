"""Depthwise convolutions that keep channels in front of space, though others get them behind it.

    stays:    nn.relu(nn.conv2d(%x, W, groups=960)), where %x comes with channels in front and nothing behind minds
    changes:  the same in front of a convolution that sums over channels, or behind one

Each channel is by itself, so vectors lie as well along a row of its image as along channels, while the window is small
enough to be written out: what turning the data and the result would take is saved.
"""

from __future__ import annotations

import math

from relay.ir.expr import Call, Expr, Op, Tuple
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.conv import CONVOLUTIONS, Conv1DAttributes, Conv2DAttributes
from relay.ops.conv_transpose import TRANSPOSED_CONVOLUTIONS
from relay.ops.layout_rule import OwnLayout
from relay.ops.record import OperatorRecord


def depthwise_in_place(body: Expr, largest_window: int) -> frozenset[Expr]:
    """The depthwise convolutions over windows of up to `largest_window` taps, whose results no other
    convolution takes. They stay as they are where their data do."""
    found, wanted = set[Expr](), set[Expr]()
    for expr in reversed(post_order(body)):
        match expr:
            case Tuple(fields) if expr in wanted:
                wanted.update(fields)
            case Call(Op(operator=OperatorRecord() as record), arguments):
                if record in (*CONVOLUTIONS, *TRANSPOSED_CONVOLUTIONS):
                    if expr not in wanted and _is_depthwise(expr, largest_window):
                        found.add(expr)
                    else:
                        wanted.add(arguments[0])
                elif expr in wanted and not isinstance(record.layout, OwnLayout):
                    wanted.update(arguments)
            case _:
                pass
    return frozenset(found)


def _is_depthwise(convolution: Call, largest_window: int) -> bool:
    """Whether a convolution takes each channel by itself, in front of space, over a small window."""
    weight = convolution.args[1].checked_type
    match convolution.attrs:
        case Conv2DAttributes(data_layout="NCHW", kernel_layout="OIHW", out_layout="", groups=groups):
            pass
        case Conv1DAttributes(data_layout="NCW", kernel_layout="OIW", out_layout="", groups=groups):
            pass
        case _:
            return False
    if not isinstance(weight, TensorType) or weight.shape[:2] != (groups, 1):
        return False
    taps = [extent for extent in weight.shape[2:] if isinstance(extent, int)]
    return len(taps) == len(weight.shape) - 2 and math.prod(taps) <= largest_window

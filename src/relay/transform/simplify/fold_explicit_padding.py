"""Let convolutions and poolings pad by themselves: FoldExplicitPadding.

    before: nn.conv2d(nn.pad(%x, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), %w)
    after:  nn.conv2d(%x, %w, padding=[1, 1, 1, 1])

A constant padding of space alone, by 0 in front of a convolution or an average that counts its padding, by the lowest
number (or -inf) in front of a maximum. Negative widths, poolings with `ceil_mode`, and averages of other padding stay.
A padding that has other users too stays for those. Floating point: EXACT.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relay.base.dtypes import DType
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.framework.build import call
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.record import OperatorRecord
from relay.ops.framework.window import full_padding, pads_of
from relay.ops.manipulation.pad import PadAttributes
from relay.ops.nn.conv import ConvAttributes
from relay.ops.nn.pool import AvgPoolAttributes, MaxPoolAttributes
from relay.te.reducers import lowest
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=2)
def FoldExplicitPadding(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Make the padding in front of a convolution or a pooling its own."""
    return rewrite_nodes(function, lambda _, expr: _folded(expr))


def _folded(expr: Expr) -> Expr:
    match expr:
        case Call(
            op=Op(operator=OperatorRecord() as record),
            args=(
                Call(
                    args=(data, Constant() as value), attrs=PadAttributes() as pad, checked_type=TensorType() as type_
                ),
                *others,
            ),
        ) if pad.pad_mode == "constant":
            attributes = _padded(expr.attrs, pad, value, type_.dtype)
            return expr if attributes is None else call(record, (data, *others), attributes)
        case _:
            return expr


def _padded(attributes: object, pad: PadAttributes, value: Constant, dtype: DType) -> Attributes | None:
    """The attributes with the padding of `pad` added to their own, or None where that is something else."""
    number = value.data.item()
    match attributes:
        case ConvAttributes():
            return _with_padding(attributes, attributes.data_layout, pad) if number == 0 else None
        case AvgPoolAttributes():
            counts = attributes.count_include_pad or not any(attributes.padding)
            if number != 0 or not counts or attributes.ceil_mode:
                return None
            return _with_padding(attributes, attributes.layout, pad, count_include_pad=True)
        case MaxPoolAttributes():
            is_lowest = number in (lowest(dtype), float("-inf"))
            return _with_padding(attributes, attributes.layout, pad) if is_lowest and not attributes.ceil_mode else None
        case _:
            return None


def _with_padding(attributes: Any, layout: str, pad: PadAttributes, **others: bool) -> Attributes | None:
    letters = parse_layout(layout).letters
    widths = dict(zip(letters, pad.pad_width, strict=True))
    space = [letter for letter in ("D", "H", "W") if letter in widths]
    if any(side < 0 for width in pad.pad_width for side in width):
        return None
    if any(widths[letter] != (0, 0) for letter in letters if letter not in space):
        return None
    own = pads_of(full_padding(attributes.padding, len(space)))
    before = tuple(mine[0] + widths[letter][0] for mine, letter in zip(own, space, strict=True))
    after = tuple(mine[1] + widths[letter][1] for mine, letter in zip(own, space, strict=True))
    return replace(attributes, padding=before + after, **others)

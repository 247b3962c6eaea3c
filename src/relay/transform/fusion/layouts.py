"""Reshapes, transpositions and changes of layout around heavy operators, which their kernels do while they read and
store.

    queries, keys, values:   what splits the width of a layer into heads
    result:                  what joins the heads:  [batch · heads, m, v] → [batch, m, heads · v]

    result of convolutions:  channels in front of space: tiles of them are in registers, and are turned there

What attention reads row by row must keep columns side by side, or each vector would be gathered; keys are copied
anyhow.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.record import FusionKind
from relay.ops.manipulation.layout_transform import LayoutTransformAttributes
from relay.ops.manipulation.transpose import TransposeAttributes
from relay.ops.nn.attention import AttentionAttributes
from relay.ops.nn.conv import Conv2DAttributes
from relay.transform.fusion.graph import Node, external_operands, shape_of

_KEYS = 1
_HEADS_INSIDE = (0, 2, 1, 3)
_MANY_CHANNELS = 16  # whole vectors of them are turned
_MANY_COLUMNS = 16
_WIDEST_HEAD = 64  # of which some rows are in registers at a time


def is_attention(node: Node) -> bool:
    return isinstance(node.call.attrs, AttentionAttributes)


def reads_as(members: Sequence[Node], attention: Node) -> bool:
    """Whether the attention among these calls can read what the calls before it make, element by element."""
    front = [member for member in members if member.position < attention.position]
    if not all(map(_moves_elements, front)):
        return False
    made: dict[Expr, Node] = {member.call: member for member in front}
    inputs = attention.operands
    readers = [each for position, each in enumerate(inputs) if position != _KEYS and each in made]
    return all(_keeps_columns(each) for each in _behind(readers, made))


def _behind(roots: Sequence[Expr], made: dict[Expr, Node]) -> list[Node]:
    """The calls that these values are made of, themselves included."""
    found: dict[Node, None] = {}
    stack = [made[root] for root in roots]
    while stack:
        node = stack.pop()
        found[node] = None
        stack.extend(made[operand] for operand in node.operands if operand in made)
    return list(found)


def _moves_elements(node: Node) -> bool:
    return node.record.is_view or isinstance(node.call.attrs, TransposeAttributes)


def _keeps_columns(node: Node) -> bool:
    """Whether neighbours along the last axis of the result are neighbours in what it is made of."""
    shape, source = shape_of(node), _source_shape(node)
    if not shape or not source:
        return False
    if isinstance(node.call.attrs, TransposeAttributes):
        axes = node.call.attrs.axes
        return axes is not None and axes[-1] % len(axes) == len(axes) - 1
    last, before = shape[-1], source[-1]
    if last == before:
        return True
    return isinstance(last, int) and isinstance(before, int) and last > 0 and before % last == 0


def joins_heads(attention: Node, chain: Sequence[Node]) -> bool:
    """Whether these calls, one behind the other, bring the heads of a result side by side."""
    shape = shape_of(attention)
    turned = [node for node in chain if isinstance(node.call.attrs, TransposeAttributes)]
    if len(turned) != 1 or not all(map(_moves_elements, chain)) or not shape:
        return False
    (turn,) = turned
    split, joined, axes = _source_shape(turn), shape_of(chain[-1]), getattr(turn.call.attrs, "axes", None)
    if axes != _HEADS_INSIDE or not split or not joined:
        return False
    batch, heads, rows, width = split
    if not isinstance(heads, int) or not isinstance(width, int) or width > _WIDEST_HEAD:
        return False
    return shape[-2:] == (rows, width) and joined in ((batch, rows, heads * width), (rows, heads * width))


def stores_in_tiles(members: Sequence[Node]) -> bool:
    """Whether these calls are a convolution over channels innermost that stores tiles of pixels and channels, and
    arithmetic on it that reads nothing else as large."""
    heavy = next((member for member in members if member.kind is FusionKind.OUT_ELEMWISE_FUSABLE), None)
    if heavy is None or not (convolves_tiles(heavy) or _is_depthwise(heavy)):
        return False
    others = external_operands(member for member in members if member is not heavy)
    read = [_shape(each) for each in others if each is not heavy.call]
    return shape_of(heavy) not in read


def convolves_tiles(node: Node) -> bool:
    """Whether a convolution over channels innermost takes tiles of pixels and of all channels together."""
    attributes = node.call.attrs
    if not isinstance(attributes, Conv2DAttributes) or attributes.data_layout != "NHWC":
        return False
    return attributes.groups == 1 or bool(parse_layout(attributes.kernel_layout).blocks)


def _is_depthwise(node: Node) -> bool:
    """Whether a convolution over channels innermost takes each channel by itself."""
    attributes = node.call.attrs
    if not isinstance(attributes, Conv2DAttributes) or attributes.data_layout != "NHWC":
        return False
    *_, channels = _source_shape(node) or (None,)
    return attributes.groups == channels


def convolves_wide_channels(node: Node) -> bool:
    """Whether a convolution takes each channel by itself, and rows are so long that squares of channels and columns
    can be turned in registers."""
    *_, columns, _ = _source_shape(node) or (None, None)
    return _is_depthwise(node) and isinstance(columns, int) and columns >= _MANY_COLUMNS


def brings_channels_back(node: Node) -> bool:
    """Whether a change of layout brings many channels behind space."""
    *_, channels = shape_of(node) or (None,)
    many = isinstance(channels, int) and channels >= _MANY_CHANNELS
    return many and node.call.attrs == LayoutTransformAttributes("NCHW", "NHWC")


def brings_channels_forward(node: Node) -> bool:
    return node.call.attrs == LayoutTransformAttributes("NHWC", "NCHW")


def _source_shape(node: Node) -> tuple[object, ...] | None:
    return _shape(node.operands[0])


def _shape(expr: Expr) -> tuple[object, ...] | None:
    type_ = expr.checked_type
    return type_.shape if isinstance(type_, TensorType) else None

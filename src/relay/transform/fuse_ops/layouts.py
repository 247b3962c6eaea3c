"""Reshapes and transpositions around attention, which its kernel does while it reads and stores.

    queries, keys, values:   what splits the width of a layer into heads
    result:                  what joins the heads:  [batch · heads, m, v] → [batch, m, heads · v]

What is read row by row must keep columns side by side, or each vector would be gathered; keys are copied anyhow.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.ops.attention import AttentionAttributes
from relay.ops.transpose import TransposeAttributes
from relay.transform.fuse_ops.graph import Node, operands, shape_of

_KEYS = 1
_HEADS_INSIDE = (0, 2, 1, 3)
_WIDEST_HEAD = 64  # of which some rows are in registers at a time


def is_attention(node: Node) -> bool:
    return isinstance(node.call.attrs, AttentionAttributes)


def reads_as(members: Sequence[Node], attention: Node) -> bool:
    """Whether the attention among these calls can read what the calls before it make, element by element."""
    front = [member for member in members if member.position < attention.position]
    if not all(map(_moves_elements, front)):
        return False
    made = {id(member.call): member for member in front}
    inputs = operands(attention.call)
    readers = [each for position, each in enumerate(inputs) if position != _KEYS and id(each) in made]
    return all(_keeps_columns(each) for each in _behind(readers, made))


def _behind(roots: Sequence[object], made: dict[int, Node]) -> list[Node]:
    """The calls that these values are made of, themselves included."""
    found: dict[int, Node] = {}
    stack = [made[id(root)] for root in roots]
    while stack:
        node = stack.pop()
        found[id(node)] = node
        stack.extend(made[id(operand)] for operand in operands(node.call) if id(operand) in made)
    return list(found.values())


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
    if axes != _HEADS_INSIDE or not split or not joined or not all(isinstance(extent, int) for extent in split):
        return False
    batch, heads, rows, width = split
    assert isinstance(heads, int)
    assert isinstance(width, int)
    if width > _WIDEST_HEAD:
        return False
    return shape[-2:] == (rows, width) and joined in ((batch, rows, heads * width), (rows, heads * width))


def _source_shape(node: Node) -> tuple[object, ...] | None:
    type_ = operands(node.call)[0].checked_type
    return getattr(type_, "shape", None)

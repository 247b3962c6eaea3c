"""Which reductions can be computed row by row in cache, together with what makes the rows and what is made of them.

A row is what one result of a reduction is about. Reductions over the same axes of values of the same shape have the
same rows; between them stand elementwise operators on whole values and on results that are shaped like rows.
"""

from __future__ import annotations

from typing import TypeAlias

from relay.arith.expr import IntExpr
from relay.ir.types import TensorType
from relay.ops.norm import LayerNormAttributes
from relay.ops.record import FloatClass, FusionKind
from relay.ops.reduce import ReduceAttributes, VarianceAttributes, reduced_axes
from relay.ops.softmax import SoftmaxAttributes
from relay.transform.fuse_ops.graph import Node, operands, shape_of

Shape: TypeAlias = tuple[IntExpr, ...]

_LARGEST_ROW_ELEMENTS = 1 << 14  # a row of float32 and what is made of it stay in a second-level cache
_FEWEST_ROWS = 4
_MOST_REDUCTIONS = 4


def is_row_operator(node: Node) -> bool:
    """Whether an operator alone consists of reductions and of formulas over their rows."""
    return isinstance(node.call.attrs, (SoftmaxAttributes, LayerNormAttributes))


def is_reduction(node: Node) -> bool:
    return node.kind is FusionKind.COMM_REDUCE or is_row_operator(node)


def is_arithmetic(node: Node) -> bool:
    """Whether an operator is done by an instruction or two. The results of a reduction come one at a time: polynomials
    of them would be slow."""
    return node.kind <= FusionKind.BROADCAST and node.record.float_class is FloatClass.EXACT


def share_rows(members: list[Node], result: Node) -> bool:
    """Whether these calls, of which `result` is what they are for, are formulas over the same rows."""
    reductions = [member for member in members if is_reduction(member)]
    shape = shape_of(result)
    if not reductions or shape is None or len(reductions) > _MOST_REDUCTIONS or is_reduction_result(result):
        return False
    if any(map(is_row_operator, reductions)) and len(reductions) > 1:
        return False
    axes = {_reduced_axes(member, shape) for member in reductions}
    if len(axes) != 1 or None in axes:
        return False
    (reduced,) = axes
    assert reduced is not None
    if not _are_innermost(shape, reduced) or not _are_many_and_short(shape, reduced):
        return False
    rows = tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))
    return all(
        shape_of(member) in (shape, rows) and (is_reduction(member) or member.kind <= FusionKind.BROADCAST)
        for member in members
    )


def is_reduction_result(node: Node) -> bool:
    """Whether a call gives the bare results of a reduction."""
    return node.kind is FusionKind.COMM_REDUCE


def _reduced_axes(node: Node, shape: tuple[object, ...]) -> frozenset[int] | None:
    """The axes of its rows; None where what is reduced has another shape, or the result does not keep its axes."""
    data = operands(node.call)[0].checked_type
    if not isinstance(data, TensorType) or data.shape != shape:
        return None
    match node.call.attrs:
        case SoftmaxAttributes(axis=axis) | LayerNormAttributes(axis=axis):
            return frozenset((axis % len(shape),))
        case (ReduceAttributes(keepdims=True) | VarianceAttributes(keepdims=True)) as attributes:
            return frozenset(reduced_axes(attributes, len(shape))) or None
        case _:
            return None


def _are_innermost(shape: tuple[object, ...], reduced: frozenset[int]) -> bool:
    """Whether a row is contiguous. Columns that are read several times would be read from afar each time."""
    return reduced == frozenset(range(len(shape) - len(reduced), len(shape)))


def _are_many_and_short(shape: tuple[object, ...], reduced: frozenset[int]) -> bool:
    """Whether rows fit the cache, and are enough to share out; extents that are not known are taken to be large."""
    elements, rows = 1, 1
    for axis, extent in enumerate(shape):
        if not isinstance(extent, int):
            if axis in reduced:
                return False
            rows *= _FEWEST_ROWS
        elif axis in reduced:
            elements *= extent
        else:
            rows *= extent
    return elements <= _LARGEST_ROW_ELEMENTS and rows >= _FEWEST_ROWS

"""Which reductions can be computed row by row in cache, together with what makes the rows and what is made of them.

A row is what one result of a reduction is about. Reductions over the same axes of values of the same shape have the
same rows; between them stand elementwise operators on whole values and on results that are shaped like rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from relay.arith.expr import IntExpr
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.framework.record import FusionKind
from relay.ops.nn.norm import LayerNormAttributes
from relay.ops.nn.softmax import SoftmaxAttributes
from relay.ops.reduction.reduce import ReduceAttributes, reduced_axes
from relay.ops.reduction.variance import VarianceAttributes
from relay.transform.fusion.graph import Node, shape_of

Shape: TypeAlias = tuple[IntExpr, ...]

_LARGEST_ROW_ELEMENTS = 1 << 14  # a row of float32 and what is made of it stay in a second-level cache
_FEWEST_ROWS = 4
_SHORTEST_ROW_OF_A_CHAIN = 256  # elements
_MOST_REDUCTIONS = 4


def is_row_operator(node: Node) -> bool:
    """Whether an operator alone consists of reductions and of formulas over their rows."""
    return isinstance(node.call.attrs, (SoftmaxAttributes, LayerNormAttributes))


def is_reduction(node: Node) -> bool:
    return node.kind is FusionKind.COMM_REDUCE or is_row_operator(node)


def is_arithmetic(node: Node) -> bool:
    """Whether an operator is done by an instruction or two. The results of a reduction come one at a time: polynomials
    of them would be slow."""
    return node.kind <= FusionKind.BROADCAST and node.record.floating_point is FloatingPointClass.EXACT


def share_rows(members: list[Node], result: Node) -> bool:
    """Whether these calls, of which `result` is what they are for, are formulas over the same rows."""
    reductions = [member for member in members if is_reduction(member)]
    if not reductions or len(reductions) > _MOST_REDUCTIONS:
        return False
    shape = _shape_of_data(reductions[0])
    if shape is None or (any(map(is_row_operator, reductions)) and len(reductions) > 1):
        return False
    axes = {_reduced_axes(member, shape, dropped=member is result) for member in reductions}
    if len(axes) != 1 or None in axes:
        return False
    (reduced,) = axes
    assert reduced is not None
    if not _are_innermost(shape, reduced) or not _are_many_and_short(shape, reduced):
        return False
    rows = tuple(1 if axis in reduced else extent for axis, extent in enumerate(shape))
    gives_rows = shape_of(result) != shape or result.kind is FusionKind.COMM_REDUCE
    if gives_rows and (len(reductions) == 1 or not _are_worth_a_chain(members, shape, reduced)):
        return False
    return all(
        is_reduction(member) or (member.kind <= FusionKind.BROADCAST and shape_of(member) in (shape, rows))
        for member in members
    )


def _are_worth_a_chain(members: list[Node], shape: tuple[object, ...], reduced: frozenset[int]) -> bool:
    """Whether results of rows, found one after another, take no longer than rows that are read twice.

    Each result waits for the one before it in the same row: little beside a long row, and more than the second reading
    of a short one (64 elements: 0.92 of the speed). So would a polynomial for each row (`log` behind 1024: 0.93).
    """
    elements = math.prod(extent for axis in reduced if isinstance(extent := shape[axis], int))
    on_results = (member for member in members if not is_reduction(member) and shape_of(member) != shape)
    return elements >= _SHORTEST_ROW_OF_A_CHAIN and all(map(is_arithmetic, on_results))


@frozen
class Sweep:
    """What reductions have in common that can be computed while their data are read once."""

    shape: tuple[object, ...]  # of the data
    axes: frozenset[int]  # that are reduced
    keepdims: bool

    @property
    def shape_of_results(self) -> tuple[object, ...]:
        kept = ((axis not in self.axes, extent) for axis, extent in enumerate(self.shape))
        return tuple(extent if stays else 1 for stays, extent in kept if stays or self.keepdims)


def sweep_of(members: Sequence[Node]) -> Sweep | None:
    """The sweep over data in which these calls are computed: formulas of single elements, reductions of these, and
    arithmetic on the results. None where they need more than one, or reduce nothing."""
    sweeps = {_swept(member) for member in members if is_reduction(member)}
    sweep = next(iter(sweeps)) if len(sweeps) == 1 else None
    if sweep is None or sum(map(is_reduction, members)) > _MOST_REDUCTIONS:
        return None
    results: set[Expr] = set()
    for member in members:
        behind = any(operand in results for operand in member.operands)
        if is_reduction(member) and not behind:
            results.add(member.call)
        elif shape_of(member) == sweep.shape and member.kind <= FusionKind.BROADCAST and not behind:
            continue
        elif shape_of(member) == sweep.shape_of_results and is_arithmetic(member):
            results.add(member.call)
        else:
            return None
    return sweep


def _swept(node: Node) -> Sweep | None:
    shape = _shape_of_data(node)
    match node.call.attrs:
        case ReduceAttributes(keepdims=keepdims) as attributes if shape is not None:
            reduced = frozenset(reduced_axes(attributes, len(shape)))
            return Sweep(shape, reduced, keepdims) if reduced and len(node.operands) == 1 else None
        case _:
            return None


def _shape_of_data(node: Node) -> tuple[object, ...] | None:
    data = node.operands[0].checked_type
    return data.shape if isinstance(data, TensorType) else None


def _reduced_axes(node: Node, shape: tuple[object, ...], *, dropped: bool) -> frozenset[int] | None:
    """The axes of its rows; None where what is reduced has another shape, or the result does not keep its axes, which
    `dropped` allows: where nothing else reads it."""
    if _shape_of_data(node) != shape:
        return None
    match node.call.attrs:
        case SoftmaxAttributes(axis=axis) | LayerNormAttributes(axis=axis):
            return frozenset((axis % len(shape),))
        case (ReduceAttributes(keepdims=kept) | VarianceAttributes(keepdims=kept)) as attributes if kept or dropped:
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

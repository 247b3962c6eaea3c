"""Axes that are one axis in memory: loops over them are fused, so that vectors need not end where rows do."""

from __future__ import annotations

from typing import TypeAlias

from relay.arith.expr import IntExpr, Symbol, free_symbols, linear_parts, multiply
from relay.te.operation import Compute, body_values, loads_of
from relay.te.state import Stage
from relay.te.tensor import Axis, Tensor
from relay.tir.expr import Holds, Index, Ramp
from relay.tir.traversal import walk_value


def collapses(stage: Stage, outer: Axis, inner: Axis) -> bool:
    """Whether two axes, one right before the other, are one contiguous axis in all that the stage reads and writes.

    True for an access whose address moves along the outer axis by exactly the inner extent times what it moves along
    the inner one, and for one that moves along neither. An axis that decides what is read stays by itself: its loop is
    cut where the decision changes.
    """
    accesses = _accesses(stage, outer, inner)
    return accesses is not None and all(_is_one_axis(each, outer, inner) for each in accesses)


def are_read_across(stage: Stage, outer: Axis, inner: Axis) -> bool:
    """Whether nothing lies along the inner axis in memory but what lies along both, as one axis.

    Pixels that are shuffled: out[.., h, i, w, j] = data[.., 2 * i + j, h, w] for w and j.
    """
    accesses = _accesses(stage, outer, inner)
    return accesses is not None and all(
        inner not in free_symbols(indices[-1]) or _is_one_axis((indices, shape), outer, inner)
        for indices, shape in accesses
        if indices and not isinstance(indices[-1], Ramp)
    )


_Access: TypeAlias = tuple[tuple[Index, ...], tuple[IntExpr, ...]]
"""Indices, and the extents of what they are in."""


def _accesses(stage: Stage, outer: Axis, inner: Axis) -> list[_Access] | None:
    """All that a formula reads, and what it writes into something larger; None where an axis decides what is read."""
    operation = stage.operation
    if not isinstance(operation, Compute) or _decides(operation, outer) or _decides(operation, inner):
        return None
    reads: list[_Access] = [(load.indices, load.buffer.shape) for load in loads_of(body_values(operation.body))]
    return [*reads, *_written(stage, operation)]


def _is_one_axis(access: _Access, outer: Axis, inner: Axis) -> bool:
    along_outer = along_inner = 0
    indices, shape = access
    for index, stride in zip(indices, _strides(shape), strict=True):
        if isinstance(index, Ramp):
            return False
        for term, coefficient in linear_parts(index)[1]:
            if term is outer:
                along_outer = along_outer + stride * coefficient
            elif term is inner:
                along_inner = along_inner + stride * coefficient
            elif not isinstance(term, Symbol):
                return False
    return along_outer == multiply(along_inner, inner.extent)


def _written(stage: Stage, operation: Compute) -> list[_Access]:
    """The indices of a result and the extents of what it lies in, for those that lie in something larger."""
    return [
        (operation.axes[: len(tensor.shape)], tensor.gap.around(tensor.shape))
        for tensor in stage.outputs
        if isinstance(tensor, Tensor) and tensor.gap is not None
    ]


def _decides(operation: Compute, axis: Axis) -> bool:
    """Whether an axis stands in a condition of a formula."""
    nodes = (node for value in body_values(operation.body) for node in walk_value(value))
    conditions = (node.condition for node in nodes if isinstance(node, Holds))
    return any(axis in free_symbols(each.left) | free_symbols(each.right) for each in conditions)


def _strides(shape: tuple[IntExpr, ...]) -> list[IntExpr]:
    strides: list[IntExpr] = []
    step: IntExpr = 1
    for extent in reversed(shape):
        strides.append(step)
        step = multiply(step, extent)
    return strides[::-1]

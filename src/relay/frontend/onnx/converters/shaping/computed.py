"""Operators whose shapes, sizes, places and amounts data compute; the number of entries of each such input is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from relay.arith.expr import add as add_extents
from relay.base.names.loading import when_called
from relay.frontend.onnx.node import OnnxNode
from relay.frontend.shared.places.computed_axes import (
    LONG,
    entries,
    numbers,
    scalar,
    shape_of_value,
)
from relay.frontend.shared.value import is_symbolic
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.checked import checked
from relay.ops.elementwise.comparison import equal, greater_equal, less, where
from relay.ops.elementwise.elementwise_binary import add, logical_and
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction import reduce

if TYPE_CHECKING:
    from relay.ops.indexing.scatter import scatter_elements
    from relay.ops.reduction.scan import cumsum
else:  # most shapes are known
    scatter_elements = when_called("relay.ops.indexing.scatter", "scatter_elements")
    cumsum = when_called("relay.ops.reduction.scan", "cumsum")


def is_computed(node: OnnxNode, *indices: int) -> bool:
    """Whether data compute some of these inputs."""
    given = (node.optional_value(index) for index in indices)
    return any(value is not None and value.known is None for value in given)


def is_plain(node: OnnxNode, *indices: int) -> bool:
    """Whether all of these inputs that there are are plain numbers, known now."""
    given = (node.optional_value(index) for index in indices)
    return all(value is None or (value.known is not None and not is_symbolic(value.known)) for value in given)


def reshaped(node: OnnxNode) -> Expr:
    shape, _ = entries(node, 1, "a shape")
    return dyn.reshape(node.expr(), shape, bool(node.int("allowzero", 0)))


def expanded(node: OnnxNode) -> Expr:
    """Broadcasting both ways: an extent of 1 in the shape keeps that of the tensor."""
    wanted, count = entries(node, 1, "a shape")
    old, rank = shape_of_value(node.value(0)), node.value(0).rank
    if count < rank:
        wanted = concatenate([numbers(*(1,) * (rank - count)), wanted], 0)
    elif rank < count:
        old = concatenate([numbers(*(1,) * (count - rank)), old], 0)
    return dyn.broadcast_to(node.expr(), where(equal(wanted, const(1, LONG)), old, wanted))


def tiled(node: OnnxNode) -> Expr:
    repeats, count = entries(node, 1, "repeats")
    if count != node.value(0).rank:
        node.unsupported(f"with {count} repeats of {node.value(0).type}")
    return dyn.tile(node.expr(), repeats)


def split_into(node: OnnxNode, axis: int) -> tuple[Expr, ...]:
    """Parts of the sizes given, which must cover the axis."""
    sizes, count = entries(node, 1, "sizes")
    extent = take(shape_of_value(node.value(0)), const(axis, LONG))
    positive = reduce.all(greater_equal(sizes, const(0, LONG)), (0,))
    covers = logical_and(positive, equal(reduce.sum(sizes, (0,)), extent))
    sizes = checked(sizes, covers, f"{node.operator} {node.name}: the sizes do not cover the axis")
    starts = cumsum(sizes, 0, exclusive=True)
    before, whole, steps = numbers(*(0,) * axis), numbers(*(-1,) * axis), numbers(*(1,) * (axis + 1))

    def part(position: int) -> Expr:
        begin, size = (strided_slice(each, (position,), (position + 1,), (1,)) for each in (starts, sizes))
        if axis:
            begin, size = concatenate([before, begin], 0), concatenate([whole, size], 0)
        return dyn.strided_slice(node.expr(), begin, size, steps, "size")

    return tuple(map(part, range(count)))


def sliced(node: OnnxNode) -> Expr:
    """Starts, ends, axes and steps, some of which data compute. Axes behind the last one that is named keep their
    extents."""
    (starts, count), (ends, ends_count) = entries(node, 1, "starts"), entries(node, 2, "ends")
    rank = node.value(0).rank
    steps, steps_count = numbers(*(1,) * count), count
    if node.optional_value(4) is not None:
        steps, steps_count = entries(node, 4, "steps")
    axes, axes_count, reach = numbers(*range(count)), count, count
    if node.optional_value(3) is not None:
        axes, axes_count = entries(node, 3, "axes")
        reach = rank
        if is_plain(node, 3):
            reach = max((node.wrapped_axis(axis, rank) + 1 for axis in node.integers(3, "axes")), default=0)
    if not count == ends_count == steps_count == axes_count or count > rank:
        node.unsupported(f"with {count} starts, {ends_count} ends, {steps_count} steps and {axes_count} axes")
    places = check_indices(axes, (rank,), f"{node.operator} {node.name}")
    places = where(less(places, const(0, LONG)), add(places, const(rank, LONG)), places)
    shape = strided_slice(shape_of_value(node.value(0)), (0,), (reach,), (1,))
    begin = scatter_elements(const(np.zeros(reach, np.int64)), places, starts, 0)
    end = scatter_elements(shape, places, ends, 0)
    step = scatter_elements(const(np.ones(reach, np.int64)), places, steps, 0)
    return dyn.strided_slice(node.expr(), begin, end, step)


def padded(node: OnnxNode, mode: str) -> Expr:
    value = node.value(0)
    pads, count = entries(node, 1, "pads")
    if node.optional_value(3) is None:
        axes, axes_count = None, value.rank
    else:
        axes, axes_count = entries(node, 3, "axes")
    if count != 2 * axes_count:
        node.unsupported(f"with {count} pads for {axes_count} axes")
    known, axes_known = node.value(1).known, axes is None or is_plain(node, 3)
    widths = transpose(reshape(pads, (2, axes_count)), (1, 0))
    if axes is not None:
        places = check_indices(axes, (value.rank,), f"{node.operator} {node.name}")
        places = broadcast_to(reshape(places, (axes_count, 1)), (axes_count, 2))
        widths = scatter_elements(const(np.zeros((value.rank, 2), np.int64)), places, widths, 0)
    result = dyn.pad(value.expr, widths, padding_value(node), mode)
    if known is None or not axes_known:
        return result
    # The pads are extents, so those of the result are, too.
    chosen = range(value.rank) if axes is None else [a % value.rank for a in node.integers(3, "axes")]
    amounts = node.extents(1, "pads")
    more = {axis: add_extents(*amounts[place::axes_count]) for place, axis in enumerate(chosen)}
    shape = tuple(add_extents(extent, more.get(axis, 0)) for axis, extent in enumerate(value.shape))
    return reshape(result, shape, allowzero=True)


def padding_value(node: OnnxNode) -> Expr:
    """The number around a tensor, of its type."""
    return const(0, node.value(0).dtype) if node.optional_value(2) is None else scalar(node, 2, "a constant_value")

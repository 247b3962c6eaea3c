"""Blocks of an image put back to where they came from, and sums of what overlaps (col2im)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce as folded

from relay.base.dtypes import DType
from relay.frontend.shared.places.computed_axes import LONG, numbers, shape_of_value
from relay.frontend.shared.places.resampling import steps
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.elementwise.comparison import greater_equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, floor_divide, floor_mod, logical_and, multiply, subtract
from relay.ops.indexing.index import take
from relay.ops.indexing.scatter import scatter_elements
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.reduction import reduce


def put_together(
    columns: Value, image: Expr, block: Expr, axes: int, strides: Sequence[int], dilations: Sequence[int],
    padding: Sequence[int],
) -> Expr:  # fmt: skip
    """columns[batch, channels · block, blocks] → [batch, channels, *image], for an image[axes] and a block[axes]."""
    taps, places, extents = (_entries(each, axes) for each in (block, image, image))
    counts = [
        _windows(places[axis], taps[axis], strides[axis], dilations[axis], padding[axis] + padding[axis + axes])
        for axis in range(axes)
    ]
    tap, block_at = (_unravelled(sizes) for sizes in (taps, counts))
    inside: list[Expr] = []
    flat: Expr = const(0, LONG)
    for axis in range(axes):
        start = subtract(multiply(block_at[axis], const(strides[axis], LONG)), const(padding[axis], LONG))
        at = add(expand_dims(multiply(tap[axis], const(dilations[axis], LONG)), 1), start)  # [taps, blocks]
        inside.append(logical_and(greater_equal(at, const(0, LONG)), less(at, extents[axis])))
        flat = add(multiply(flat, extents[axis]), at)
    size = reduce.prod(image, (0,))
    target = where(folded(logical_and, inside), flat, size)  # what lies outside goes behind the last element
    total = reshape(multiply(reduce.prod(block, (0,)), folded(multiply, counts)), (1,))
    shape = shape_of_value(columns)
    batch = take(shape, numbers(0), axis=0)
    channels = floor_divide(take(shape, numbers(1), axis=0), reduce.prod(block, (0,)))
    outer = concatenate([batch, channels], 0)
    values = dyn.reshape(columns.expr, concatenate([outer, total], 0), allowzero=True)
    indices = dyn.broadcast_to(dyn.reshape(target, total, allowzero=True), concatenate([outer, total], 0))
    more = reshape(add(size, const(1, LONG)), (1,))
    empty = dyn.full(const(0, columns.dtype), concatenate([outer, more], 0))
    summed = scatter_elements(empty, indices, values, 2, "add")
    kept = dyn.strided_slice(summed, numbers(0, 0, 0), concatenate([numbers(-1, -1), reshape(size, (1,))], 0),
                             numbers(1, 1, 1), "size")  # fmt: skip
    return dyn.reshape(kept, concatenate([outer, image], 0), allowzero=True)


def _entries(vector: Expr, count: int) -> list[Expr]:
    return [take(vector, const(position, LONG), axis=0) for position in range(count)]


def _windows(extent: Expr, tap: Expr, stride: int, dilation: int, padding: int) -> Expr:
    """How many windows lie along an axis."""
    reach = add(multiply(subtract(tap, const(1, LONG)), const(dilation, LONG)), const(1 - padding, LONG))
    return add(floor_divide(subtract(extent, reach), const(stride, LONG)), const(1, LONG))


def _unravelled(sizes: Sequence[Expr]) -> list[Expr]:
    """The places along each axis of all elements of a tensor of these extents: int64[elements] each."""
    rest = cast(steps(folded(multiply, sizes)), DType.INT64)
    found: list[Expr] = []
    for size in reversed(sizes):
        found.append(floor_mod(rest, size))
        rest = floor_divide(rest, size)
    return found[::-1]

"""Where the largest element of each window is, and elements put back to such places (max pooling and unpooling)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.shared.places.computed_axes import LONG, shape_of_value
from relay.frontend.shared.places.resampling import steps
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.creation.create import zeros
from relay.ops.elementwise.comparison import where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import take
from relay.ops.indexing.scatter import scatter_elements
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax
from relay.te.reducers import lowest


@frozen
class Windows:
    """`counts[axis]` windows of `taps[axis]` elements along each spatial axis; `before` is what is padded in front."""

    counts: tuple[int, ...]
    taps: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]

    def places(self, axis: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        """[windows, taps]; outside of the data where padding is."""
        window = np.arange(self.counts[axis], dtype=np.int64) * self.strides[axis] - self.before[axis]
        return window[:, None] + np.arange(self.taps[axis]) * self.dilations[axis]


def places_of_maxima(data: Value, extents: Sequence[int], windows: Windows, *, column_major: bool = False) -> Expr:
    """x[batch, channels, ..] → int64[batch, channels, ..]: the place of the largest element of each window in its
    image, counted row by row (or column by column); of equal ones the first."""
    axes = range(len(extents))
    gathered: Expr = data.expr
    for axis in reversed(axes):
        places = np.clip(windows.places(axis), 0, extents[axis] - 1)
        gathered = take(gathered, const(places), axis=axis + 2)
    order = (0, 1, *(2 + 2 * axis for axis in axes), *(3 + 2 * axis for axis in axes))
    taps = product(windows.taps)
    rows = reshape(transpose(gathered, order), (*data.shape[:2], *windows.counts, taps), allowzero=True)
    inside, flat = _flat_places(extents, windows, column_major)
    candidates = where(const(inside), rows, const(lowest(data.dtype), data.dtype))
    best = cast(argmax(candidates, len(extents) + 2), LONG)
    # The place of a tap follows from that of its window: one lookup in a table [windows, taps].
    table, count = const(flat.reshape(-1)), int(np.prod(windows.counts))
    first = np.arange(count, dtype=np.int64).reshape(windows.counts) * int(np.prod(windows.taps))
    return take(table, add(best, const(first)), axis=0)


def _flat_places(
    extents: Sequence[int], windows: Windows, column_major: bool
) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.bool_]], np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """`(which taps lie inside, where in the image)`, both [.. windows, taps]."""
    rank = len(extents)
    weights = np.cumprod([1, *(extents[:-1] if column_major else tuple(reversed(extents))[:-1])])
    by_axis = weights if column_major else weights[::-1]
    inside = np.ones((1,) * (2 * rank), bool)
    flat = np.zeros((1,) * (2 * rank), np.int64)
    for axis in range(rank):
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = windows.counts[axis], windows.taps[axis]
        places = windows.places(axis).reshape(shape)
        inside = inside & (places >= 0) & (places < extents[axis])
        flat = flat + places * by_axis[axis]
    whole = (*windows.counts, int(np.prod(windows.taps)))
    return inside.reshape(whole), np.where(inside, flat, 0).reshape(whole)


def image_starts(data: Value) -> Expr:
    """How many elements come before each image of x[batch, channels, ..]: int64[batch, channels, 1, ..]."""
    batch, channels, *extents = data.shape
    count, size = _elements(data, 0, 2), _elements(data, 2, data.rank)
    starts = multiply(cast(steps(count), LONG), size)
    return reshape(starts, (batch, channels, *(1,) * len(extents)), allowzero=True)


def _elements(data: Value, first: int, last: int) -> Expr:
    """The product of some extents."""
    return reduce.prod(strided_slice(shape_of_value(data), (first,), (last,), (1,)), (0,))


def put_back(values: Value, places: Expr, shape: Sequence[IntExpr]) -> Expr:
    """A tensor of zeros with `values` at `places`, counted over all its elements."""
    count = product(shape)
    flat = reshape(values.expr, (product(values.shape),), allowzero=True)
    at = reshape(places, (product(values.shape),), allowzero=True)
    return reshape(scatter_elements(zeros((count,), values.dtype), at, flat, 0), tuple(shape), allowzero=True)

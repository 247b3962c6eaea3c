"""Where the largest element of each window is, and elements put back to such places (max pooling and unpooling)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.shared.formulas.triangles import extent, positions
from relay.frontend.shared.places.computed_axes import LONG, shape_of_value
from relay.frontend.shared.places.resampling import steps
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.creation.create import zeros
from relay.ops.elementwise.comparison import greater_equal, less_equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import (
    add,
    floor_divide,
    floor_mod,
    logical_and,
    maximum,
    minimum,
    multiply,
    subtract,
)
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import take
from relay.ops.indexing.scatter import scatter_elements
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax
from relay.te.reducers import lowest


@frozen
class Windows:
    """`taps[axis]` elements along each spatial axis; `before` is what is padded in front."""

    taps: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]

    def starts(self, pooled: Value, axis: int) -> Expr:
        """Where each window of an axis of pooled[batch, channels, ..] begins, below 0 in padding: int64[windows]."""
        places = multiply(positions((pooled, axis + 2)), const(self.strides[axis], LONG))
        return subtract(places, const(self.before[axis], LONG))


def places_of_maxima(data: Value, pooled: Value, windows: Windows, *, column_major: bool = False) -> Expr:
    """x[batch, channels, ..] and its maxima[batch, channels, ..] → int64[batch, channels, ..]: the place of the largest
    element of each window in its image, counted row by row (or column by column); of equal ones the first."""
    rank = data.rank - 2
    gathered, inside = data.expr, const(True)
    for axis in reversed(range(rank)):
        steps_of_taps = const(np.arange(windows.taps[axis]) * windows.dilations[axis])
        places = add(expand_dims(windows.starts(pooled, axis), 1), steps_of_taps)  # [windows, taps]
        last = subtract(extent((data, axis + 2)), const(1, LONG))
        kept = logical_and(greater_equal(places, const(0, LONG)), less_equal(places, last))
        gathered = take(gathered, minimum(maximum(places, const(0, LONG)), last), axis=axis + 2)
        shape: list[IntExpr] = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = pooled.shape[axis + 2], windows.taps[axis]
        inside = logical_and(inside, reshape(kept, shape, allowzero=True))
    order = (0, 1, *(2 + 2 * axis for axis in range(rank)), *(3 + 2 * axis for axis in range(rank)))
    taken = where(inside, transpose(gathered, order), const(lowest(data.dtype), data.dtype))
    rows = reshape(taken, (*pooled.shape, product(windows.taps)), allowzero=True)
    best = cast(argmax(rows, data.rank), LONG)
    return _place_in_image(data, pooled, windows, best, column_major=column_major)


def _place_in_image(data: Value, pooled: Value, windows: Windows, best: Expr, *, column_major: bool) -> Expr:
    """Where in its image the tap `best`, counted row by row, of each window lies."""
    axes = range(data.rank - 2)
    place = dict[int, Expr]()
    for axis in reversed(axes):
        tap = floor_mod(best, const(windows.taps[axis], LONG))
        best = floor_divide(best, const(windows.taps[axis], LONG))
        start = expand_dims(windows.starts(pooled, axis), 1, len(axes) - 1 - axis)
        place[axis] = add(start, multiply(tap, const(windows.dilations[axis], LONG)))
    first, *others = reversed(axes) if column_major else axes
    flat = place[first]
    for axis in others:
        flat = add(multiply(flat, extent((data, axis + 2))), place[axis])
    return flat


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

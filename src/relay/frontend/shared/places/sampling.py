"""Elements between those of an image, at places that data compute.   x[batch, channels, ..] × places → [.., ..]

A value at a place is a sum of the elements around it, its taps, with weights by distance: all taps of all places are
one gather, and their sums one reduction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce as folded

import numpy as np

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.shared.formulas.rounding import round_to_even
from relay.frontend.shared.places.computed_axes import LONG, shape_of_value
from relay.frontend.shared.places.resampling import Sampling, kernel
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import greater_equal, less_equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import (
    add,
    divide,
    floor_mod,
    logical_and,
    maximum,
    minimum,
    multiply,
    subtract,
)
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import floor
from relay.ops.indexing.index import gather_nd, take
from relay.ops.manipulation.combine import stack
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction import reduce
from relay.ops.vision.affine_grid import affine_grid
from relay.ops.vision.grid_sample import grid_sample


@frozen(eq=False)
class Taps:
    """Elements around places, and what each counts: values[.., taps, channels] and weights[.., taps, 1]."""

    values: Expr
    weights: Expr


def extent_of(value: Value, axis: int, dtype: DType) -> Expr:
    """The extent of an axis as a number of this type."""
    extent = value.shape[axis]
    if isinstance(extent, int):
        return const(extent, dtype)
    return cast(take(shape_of_value(value), const(axis, LONG), axis=0), dtype)


def sampled_by_grid(data: Value, grid: Expr, method: str, padding: str, *, align_corners: bool) -> Expr:
    """x[batch, channels, e0, ..] at the places that grid[batch, .., axes] names, from -1 to 1."""
    places = transpose(grid, (0, data.rank - 1, *range(1, data.rank - 1)))
    layout = {3: "NCW", 4: "NCHW", 5: "NCDHW"}[data.rank]
    return grid_sample(data.expr, places, method, layout, padding, align_corners)


def unit_grid(theta: Expr, extents: Sequence[IntExpr], *, align_corners: bool) -> Expr:
    """theta[batch, axes, axes + 1] → grid[batch, .., axes]: places of an image as theta moves them."""
    rank = len(extents)
    return transpose(affine_grid(theta, extents, align_corners), (0, *range(2, rank + 2), 1))


def sampled(data: Value, places: Sequence[Expr], how: Sampling, padding: str, *, align_corners: bool) -> Expr:
    """x[batch, channels, e0, ..] at `places`, a tensor [batch, ..] for each axis behind the channels. What lies
    outside is 0 (`zeros`), the nearest element (`border`), or what a mirror at the outer elements, or with
    `align_corners` in their middles, would show (`reflection`)."""
    taps = taps_around(data, places, how, padding, align_corners=align_corners)
    rank = len(getattr(taps.values.checked_type, "shape", ()))
    found = reduce.sum(multiply(taps.values, taps.weights), (rank - 2,))
    return transpose(found, (0, rank - 2, *range(1, rank - 2)))


def taps_around(data: Value, places: Sequence[Expr], how: Sampling, padding: str, *, align_corners: bool) -> Taps:
    dtype = data.dtype
    width = {"nearest": 1, "linear": 2, "cubic": 4}[how.method]
    patterns = np.indices((width,) * len(places)).reshape(len(places), -1) - (1 if width == 4 else 0)
    indices: list[Expr] = []
    weights: list[Expr] = []
    rank = len(getattr(places[0].checked_type, "shape", ()))
    for axis, (place, pattern) in enumerate(zip(places, patterns, strict=True), start=2):
        extent = extent_of(data, axis, dtype)
        last = subtract(extent, const(1, dtype))
        if how.method != "cubic":
            place = _moved_inside(place, last, padding, dtype, align_corners)
        first = floor(place) if how.method != "nearest" else round_to_even(place, dtype)
        offsets = const(pattern, dtype)
        taps = add(expand_dims(first, rank), offsets)
        if how.method != "nearest":
            weights.append(kernel(how, magnitude(subtract(offsets, expand_dims(subtract(place, first), rank))), dtype))
        if padding == "zeros":
            inside = logical_and(greater_equal(taps, const(0, dtype)), less_equal(taps, last))
            weights.append(cast(inside, dtype))
        elif how.method == "cubic":
            taps = _moved_inside(taps, last, padding, dtype, align_corners)
        indices.append(cast(_clipped(taps, last, dtype), LONG))
    data_last = transpose(data.expr, (0, *range(2, data.rank), 1))
    values = gather_nd(data_last, stack(indices, 0), batch_dims=1, index_rank=len(indices))
    weight = folded(multiply, weights) if weights else const(1, dtype)
    return Taps(values, expand_dims(weight, rank + 1) if weights else weight)


def _clipped(place: Expr, last: Expr, dtype: DType) -> Expr:
    return minimum(maximum(place, const(0, dtype)), last)


def _moved_inside(place: Expr, last: Expr, padding: str, dtype: DType, align_corners: bool) -> Expr:
    if padding == "zeros":
        return place
    if padding == "border":
        return _clipped(place, last, dtype)
    # There and back again is one period.
    low, length = (const(0, dtype), last) if align_corners else (const(-0.5, dtype), add(last, const(1, dtype)))
    period = maximum(multiply(length, const(2, dtype)), const(1, dtype))
    way = floor_mod(subtract(place, low), period)
    return _clipped(add(minimum(way, subtract(period, way)), low), last, dtype)


def unit_places(extent: Expr, steps: Expr, dtype: DType, *, align_corners: bool) -> Expr:
    """Places from -1 to 1 along an axis of `extent`, for `steps` 0, 1, …; one element lies in the middle."""
    one, two = const(1, dtype), const(2, dtype)
    if align_corners:
        gaps = maximum(subtract(extent, one), one)
        corner = minimum(subtract(extent, one), one)  # 0 for a single element
        return subtract(divide(multiply(steps, two), gaps), corner)
    return subtract(divide(add(multiply(steps, two), one), extent), one)

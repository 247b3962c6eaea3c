"""Gradients of images read at places that data compute: by the image, and by the places."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from relay.base.dtypes import DType
from relay.ir.expr import Call, Expr, const
from relay.ops.creation.create import arange, shape_of
from relay.ops.elementwise.comparison import equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import floor_mod, logical_and, maximum, minimum, multiply
from relay.ops.elementwise.elementwise_unary import floor
from relay.ops.gradients.shared import kept_where, rank_of, tensor_of, zeros_of
from relay.ops.indexing.index import gather_nd, take
from relay.ops.indexing.scatter import scatter_nd
from relay.ops.manipulation.combine import stack
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.vision.affine_grid import AffineGridAttributes, affine_grid
from relay.ops.vision.grid_sample import GridSampleAttributes
from relay.ops.vision.taps import ALPHA, Numbers, Sampling, Shares, Taps

_LONG = DType.INT64


def _place(value: Expr, last: Expr) -> Expr:
    return minimum(maximum(cast(value, _LONG), const(0, _LONG)), cast(last, _LONG))


OF_EXPRESSIONS = Numbers(floor, minimum, maximum, floor_mod, where, less, logical_and, equal, _place)


def of_grid_sample(call: Call, given: Expr) -> tuple[Expr | None, ...]:
    """Each place adds to the elements around it what they counted there, and moves by how their weights change. Of
    places that were moved inside, those beyond the outer elements do not matter."""
    assert isinstance(call.attrs, GridSampleAttributes)
    data, grid = call.args
    how, rank = call.attrs.sampling, rank_of(data)
    units = [take(grid, const(rank - 3 - axis, _LONG), axis=1) for axis in range(rank - 2)]
    extents = [extent_of(data, axis + 2) for axis in range(rank - 2)]
    places = [how.from_unit(unit, extent) for unit, extent in zip(units, extents, strict=True)]
    taps = [how.taps(place, extent, OF_EXPRESSIONS) for place, extent in zip(places, extents, strict=True)]
    instances = reshape(arange(const(0, _LONG), take(shape_of(data, "int64"), const(0, _LONG), axis=0), dtype=_LONG),
                        (-1, *(1,) * (rank - 2)))  # fmt: skip
    around = list(product(*taps))
    rows = [[multiply(taps[0][0][0], const(0, _LONG)) + instances, *(place for place, _ in each)] for each in around]
    indices = stack([stack(row, 0) for row in rows], 1)  # [axes, taps, N, result]
    last = (0, *range(2, rank), 1)
    given_last = transpose(given, last)
    counted = [_times(given_last, each) for each in around]
    by_data = scatter_nd(transpose(zeros_of(data), last), indices, stack(counted, 0), mode="add")
    back = (0, rank - 1, *range(1, rank - 1))
    if how.method == "nearest":
        return transpose(by_data, back), zeros_of(grid)
    read = gather_nd(transpose(data, last), indices, index_rank=rank - 1)
    shares = sum_over(multiply(read, expand_dims(given_last, 0)), -1)  # [taps, N, result]
    entries: list[Expr] = []
    for axis, (place, extent) in enumerate(zip(places, extents, strict=True)):
        slopes = how.taps(place, extent, OF_EXPRESSIONS, slopes_of(how))
        changed = [*taps[:axis], slopes, *taps[axis + 1 :]]
        weights = stack([reduce(multiply, [weight for _, weight in each]) for each in product(*changed)], 0)
        slope = multiply(sum_over(multiply(shares, weights), 0), _slope_of_place(how, place, extent))
        entries.insert(0, slope)
    return transpose(by_data, back), stack(entries, 1)


def of_affine_grid(call: Call, given: Expr) -> tuple[Expr | None, ...]:
    """Each element of the map by the places that it was a factor of: what no map moves, and 1."""
    assert isinstance(call.attrs, AffineGridAttributes)
    (data,) = call.args
    batch, spatial, *_ = tensor_of(given).shape
    dtype, count = tensor_of(data).dtype, len(call.attrs.target_shape)
    maps = np.concatenate([np.eye(count, count + 1), np.eye(1, count + 1, count)])
    fixed = [affine_grid(const(row.reshape(1, 1, -1).repeat(count, 1), dtype), call.attrs.target_shape,
                         call.attrs.align_corners) for row in maps]  # fmt: skip
    places = [sum_over(multiply(given, each), list(range(2, count + 2))) for each in fixed]
    return (reshape(stack(places, 2), (batch, spatial, count + 1), allowzero=True),)


def extent_of(data: Expr, axis: int, dtype: DType | None = None) -> Any:
    """The extent of an axis as a number, of the type of the data unless another is named."""
    extent, dtype = tensor_of(data).shape[axis], dtype or tensor_of(data).dtype
    if isinstance(extent, int):
        return const(extent, dtype)
    return cast(take(shape_of(data, "int64"), const(axis, _LONG), axis=0), dtype)


def _times(given: Expr, taps: Taps) -> Expr:
    """given[N, result, C] times what an element counts, which it is by a tap along each axis."""
    weights = [weight for _, weight in taps if weight is not None]
    return multiply(given, expand_dims(reduce(multiply, weights), rank_of(given) - 1)) if weights else given


def slopes_of(how: Sampling) -> Shares:
    """How the shares of the elements around a place change with it."""

    def linear(distance: Any, one: Any) -> tuple[Any, ...]:
        return distance * 0 - one, distance * 0 + one

    def cubic(distance: Any, one: Any) -> tuple[Any, ...]:
        def near(d: Any) -> Any:
            return (d * (3 * (ALPHA + 2)) - 2 * (ALPHA + 3)) * d

        def far(d: Any) -> Any:
            return (d * (3 * ALPHA) - 10 * ALPHA) * d + 8 * ALPHA

        return far(distance + 1), near(distance), near(one - distance) * -1, far(one - distance + 1) * -1

    return linear if how.method == "linear" else cubic


def _slope_of_place(how: Sampling, place: Expr, extent: Any) -> Any:
    """How a place inside moves with what the grid says."""
    last = extent - 1
    slope = (last if how.align_corners else extent) * 0.5
    if not how.moves():
        return slope
    if how.padding == "border":
        return kept_where(logical_and(less(last * 0, place), less(place, last)), slope + place * 0)
    low, length = (last * 0, last) if how.align_corners else (last * 0 - 0.5, last + 1)
    period = maximum(length * 2, length * 0 + 1)
    way = floor_mod(place - low, period)
    shown = minimum(way, period - way) + low
    inside = logical_and(less(last * 0, shown), less(shown, last))
    return kept_where(inside, where(less(way, length), slope, slope * -1) + place * 0)

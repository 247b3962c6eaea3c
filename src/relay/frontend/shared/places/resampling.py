"""Resizing along one axis, to an extent and by a scale that only the run may know.   x[.., e, ..] → [.., count, ..]

Interpolation is separable, so a tensor is resized axis by axis: each element of the result is a sum of a few elements
of the axis, its taps, with weights that depend on its place alone. Where nothing but numbers is known of an axis,
constant folding leaves the taps and weights themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.shared.places.computed_axes import LONG
from relay.ir.expr import Expr, const
from relay.ops.creation.create import arange
from relay.ops.elementwise.comparison import equal, greater, less, less_equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import (
    add,
    divide,
    logical_and,
    logical_or,
    maximum,
    minimum,
    multiply,
    subtract,
)
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import ceil, floor
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.reduction import reduce

DOUBLE = DType.FLOAT64
NEAREST: dict[str, Callable[[Expr], Expr]] = {
    "round_prefer_floor": lambda x: ceil(subtract(x, number(0.5))),
    "round_prefer_ceil": lambda x: floor(add(x, number(0.5))),
    "floor": floor,
    "ceil": ceil,
}
COORDINATES = (
    "half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_crop_and_resize",
)  # fmt: skip


@frozen
class Sampling:
    """`method`: `nearest`, `linear` or `cubic`; `rounding` is a name in `NEAREST`, `coordinates` one of `COORDINATES`.
    `antialias`: when shrinking, all elements count that a pixel of the result covers. `excludes_outside`: what lies
    outside has no weight, rather than that of the edge."""

    method: str
    coordinates: str = "half_pixel"
    rounding: str = "round_prefer_floor"
    cubic_alpha: float = -0.75
    antialias: bool = False
    excludes_outside: bool = False
    extrapolation: float = 0.0


@frozen(eq=False)
class AxisSampling:
    """`count` elements of `extent`, `scale` times as dense. `region`: where in the axis they lie, from 0 to 1. All but
    the count are of float64."""

    extent: Expr
    scale: Expr
    count: int | Expr
    region: tuple[Expr, Expr] | None = None


def number(value: float) -> Expr:
    return const(value, DOUBLE)


def resampled(x: Expr, axis: int, rank: int, dtype: DType, how: Sampling, along: AxisSampling) -> Expr:
    """`x`, of this rank and element type, with `axis` resized."""
    place = _places(how, along)
    last = subtract(along.extent, number(1))
    if how.method == "nearest":
        found = take(x, _clipped(NEAREST[how.rounding](place), last), axis=axis)
    else:
        found = _weighted(x, axis, rank, dtype, how, along, place)
    if how.coordinates != "tf_crop_and_resize":
        return found
    outside = logical_or(less(place, number(0)), greater(place, last))
    return where(_before(outside, 1, rank - 1 - axis), const(how.extrapolation, dtype), found)


def _before(x: Expr, rank: int, behind: int) -> Expr:
    """x, of this rank, with so many axes of extent 1 behind its own."""
    return expand_dims(x, rank, behind) if behind else x


def _clipped(place: Expr, last: Expr) -> Expr:
    return cast(minimum(maximum(place, number(0)), last), LONG)


def steps(count: int | Expr) -> Expr:
    """0, 1, … : float64[count]"""
    stop = count if not isinstance(count, int) else const(count, LONG)
    places = arange(const(0, LONG), stop, const(1, LONG), dtype=LONG)
    return cast(reshape(places, (count,)) if isinstance(count, int) else places, DOUBLE)


def _total(along: AxisSampling) -> Expr:
    """How many elements the whole axis has at the new density, which may be no whole number."""
    return multiply(along.extent, along.scale)


def _places(how: Sampling, along: AxisSampling) -> Expr:
    """Where in the axis each element of the result lies: float64[count]."""
    i, half = steps(along.count), number(0.5)
    last, more = subtract(along.extent, number(1)), subtract(_total(along), number(1))
    centred = subtract(divide(add(i, half), along.scale), half)
    match how.coordinates:
        case "align_corners":
            return where(equal(more, number(0)), number(0), divide(multiply(i, last), more))
        case "asymmetric":
            return divide(i, along.scale)
        case "pytorch_half_pixel":
            return where(equal(more, number(0)), number(-0.5), centred)
        case "half_pixel_symmetric":
            count = cast(along.count, DOUBLE) if not isinstance(along.count, int) else number(along.count)
            share = subtract(number(1), divide(count, _total(along)))
            return add(multiply(multiply(along.extent, half), share), centred)
        case "tf_crop_and_resize":
            assert along.region is not None
            start, end = along.region
            width = multiply(subtract(end, start), last)
            inner = where(equal(more, number(0)), multiply(width, half), divide(multiply(i, width), more))
            return add(inner, multiply(start, last))
        case _:
            return centred


def _weighted(
    x: Expr, axis: int, rank: int, dtype: DType, how: Sampling, along: AxisSampling, place: Expr
) -> Expr:  # fmt: skip
    first = floor(place)
    offsets, density = _offsets(how, along)  # [taps]
    distance = subtract(offsets, expand_dims(subtract(place, first), 1))  # [count, taps]
    weights = kernel(how, magnitude(multiply(distance, density)), DOUBLE)
    taps = add(expand_dims(first, 1), offsets)
    last = subtract(along.extent, number(1))
    if how.excludes_outside:
        weights = where(logical_and(less_equal(number(0), taps), less_equal(taps, last)), weights, number(0))
    if how.excludes_outside or how.antialias:
        weights = divide(weights, reduce.sum(weights, (1,), keepdims=True))
    chosen = take(x, _clipped(taps, last), axis=axis)
    return reduce.sum(multiply(chosen, _before(cast(weights, dtype), 2, rank - 1 - axis)), (axis + 1,))


def _offsets(how: Sampling, along: AxisSampling) -> tuple[Expr, Expr]:
    """Which elements count, from the one in front of a place: float64[taps], and the density of weights."""
    radius = 1 if how.method == "linear" else 2
    if not how.antialias:
        return subtract(steps(2 * radius), number(radius - 1)), number(1)
    density = minimum(along.scale, number(1))
    reach = subtract(ceil(divide(number(radius), density)), number(1))  # as far as weights may not be 0
    count = add(cast(multiply(reach, number(2)), LONG), const(2, LONG))
    return subtract(steps(count), reach), density


def kernel(how: Sampling, distance: Expr, dtype: DType) -> Expr:
    """Weights by distance: a triangle, or the cubic of Keys (1981), eq. 15, with its parameter."""
    zero = const(0, dtype)
    if how.method == "linear":
        return maximum(subtract(const(1, dtype), distance), zero)
    a = how.cubic_alpha

    def polynomial(*coefficients: float) -> Expr:
        value: Expr = const(coefficients[0], dtype)
        for coefficient in coefficients[1:]:
            value = add(multiply(value, distance), const(coefficient, dtype))
        return value

    near, far = polynomial(a + 2, -(a + 3), 0, 1), polynomial(a, -5 * a, 8 * a, -4 * a)
    outer = where(less(distance, const(2, dtype)), far, zero)
    return where(less_equal(distance, const(1, dtype)), near, outer)


def scaled_extent(extent: int, scale: float) -> int:
    """How many whole elements an axis has at another density; a whole number but for rounding is one."""
    exact = extent * scale
    return round(exact) if abs(exact - round(exact)) < 1e-4 else math.floor(exact)

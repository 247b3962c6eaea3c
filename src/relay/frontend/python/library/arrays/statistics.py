"""Functions of NumPy that sum up data: `np.median`, `np.cov`, `np.bincount`, `np.average`, `np.nanmean`; and those that
compute between neighbours: `np.diff`, `np.interp`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay import nn, op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.frontend.python.library.numpy_functions import (
    REDUCTIONS,
    dtype_of_value,
    extent_along,
    flat,
    floating,
    rank_of,
    truth_of,
)
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr

Function = Callable[..., Any]
_ALL = 2**31 - 1


def sliced(x: Expr, begin: int, end: int, axis: int) -> Expr:
    """`x[begin:end]` along an axis."""
    return op.strided_slice(x, begin=(begin,), end=(end,), strides=(1,), axes=(axis % rank_of(x),))


def quantile(scale: float) -> Function:
    """`np.quantile`, whose places are shares of `scale`: between two elements, in proportion. NaN where one is."""

    def quantile(x: Expr, q: Any, axis: Any = None, *, keepdims: bool = False) -> Expr:
        if isinstance(q, list | tuple):
            return op.stack([quantile(x, each, axis, keepdims=keepdims) for each in cast("Sequence[Any]", q)], 0)
        if rank_of(q) or (axis is not None and not isinstance(axis, int)):
            raise refusal(caller_span(), "quantiles so", "give a number or a list of numbers, and one axis")
        x = floating(x)
        ordered, place = (
            op.sort(flat(x) if axis is None else x, -1 if axis is None else axis),
            -1 if axis is None else axis,
        )
        last = combined("subtract", extent_along(ordered, place), 1)
        at = combined("multiply", converted(last, dtype_of_value(x)), combined("divide", q, scale))
        lower = op.floor(at)
        ends = [op.take(ordered, op.cast(end, "int32"), axis=place) for end in (lower, op.ceil(at))]
        share = combined("subtract", at, lower)
        between = op.where(
            equated("equal", share, 0),
            ends[0],
            combined("add", ends[0], combined("multiply", combined("subtract", ends[1], ends[0]), share)),
        )
        nan = converted(math.nan, dtype_of_value(x))
        made = op.where(op.any(op.isnan(ordered), axis=place), nan, between)
        if not keepdims:
            return made
        return op.expand_dims(made, axis % rank_of(x)) if axis is not None else op.reshape(made, (1,) * rank_of(x))

    return quantile


def _median(x: Expr, axis: Any = None, *, keepdims: bool = False) -> Expr:
    return quantile(1.0)(x, 0.5, axis, keepdims=keepdims)


def _average(x: Expr, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Expr:
    if weights is None:
        return REDUCTIONS["mean"](x, axis, keepdims=keepdims)
    if rank_of(weights) == 1 and isinstance(axis, int):  # those of the entries of an axis
        weights = op.reshape(weights, [-1 if each == axis % rank_of(x) else 1 for each in range(rank_of(x))])
        weights = op.broadcast_to_like(converted(weights, common_dtype((weights,))), x)
    elif rank_of(weights) != rank_of(x):
        raise refusal(caller_span(), "weights of another shape than the array", "give an axis, or weights of its shape")
    total = REDUCTIONS["sum"](combined("multiply", floating(x), weights), axis, keepdims=keepdims)
    return combined("divide", total, REDUCTIONS["sum"](floating(weights), axis, keepdims=keepdims))


def _spread(x: Expr, axis: Any = None, *, keepdims: bool = False) -> Expr:
    """The largest less the smallest."""
    return combined("subtract", *(REDUCTIONS[each](x, axis, keepdims=keepdims) for each in ("max", "min")))


def _count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Expr:
    return REDUCTIONS["sum"](truth_of(x), axis, keepdims=keepdims)


def _covariance(x: Expr, y: Any = None, *, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Expr:
    """Of the rows of a matrix, each a variable; of two vectors; or the variance of one."""
    x = floating(x) if y is None else op.stack([floating(x), floating(y)], 0)
    rows = op.expand_dims(x, 0) if rank_of(x) == 1 else x if rowvar else op.transpose(x, (1, 0))
    apart = op.subtract(rows, op.mean(rows, axis=1, keepdims=True))
    less = ddof if ddof is not None else 0 if bias else 1
    count = converted(combined("subtract", extent_along(rows, 1), less), dtype_of_value(x))
    made = op.divide(_by_own_rows(apart), count)
    return op.reshape(made, ()) if rank_of(x) == 1 else made


def _by_own_rows(x: Expr) -> Expr:
    """`x @ x.T`"""
    return op.sum(op.multiply(op.expand_dims(x, 0), op.expand_dims(x, 1)), axis=2)


def _correlation(x: Expr, y: Any = None, *, rowvar: bool = True) -> Expr:
    if rank_of(x) == 1 and y is None:
        raise refusal(caller_span(), "`np.corrcoef` of one vector, which is 1", "give two vectors, or a matrix")
    both = _covariance(x, y, rowvar=rowvar)
    spread = op.sqrt(op.sum(op.where(_is_diagonal(both), both, op.zeros_like(both)), axis=1))
    made = op.divide(op.divide(both, op.expand_dims(spread, 1)), op.expand_dims(spread, 0))
    return op.minimum(op.maximum(made, converted(-1.0, dtype_of_value(made))), converted(1.0, dtype_of_value(made)))


def _is_diagonal(x: Expr) -> Expr:
    count = op.cumsum(op.cast(op.ones_like(op.take(x, converted(0, DType.INT32), axis=1)), "int32"), 0)
    return op.equal(op.expand_dims(count, 0), op.expand_dims(count, 1))


def _bincount(x: Expr, weights: Any = None, minlength: Any = 0) -> Expr:
    """How often each number from 0 to the largest is there, or the sum of the weights that it has."""
    x = converted(x, DType.INT32)
    x = op.checked(x, op.all(equated("greater_equal", x, 0)), "`np.bincount` counts numbers that are not negative")
    first = op.full(converted(-1, DType.INT32), (1,), "int32")  # the largest of none
    count = combined("maximum", combined("add", op.max(op.concatenate([x, first], 0)), 1), minlength)
    each = op.ones_like(x) if weights is None else floating(weights)
    empty = op.full(converted(0, dtype_of_value(each)), op.reshape(count, (1,)), dtype_of_value(each))
    return op.scatter_nd(empty, op.expand_dims(x, 0), each, "add")


def _diff(x: Expr, n: Any = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Expr:
    """What elements are more than those before them, `n` times over; other elements may be put around them first."""
    if not isinstance(n, int) or n < 0:
        raise refusal(caller_span(), "`np.diff` so many times over", "give a number that is known, and not negative")
    if n:
        x = _between(prepend, x, append, axis)
    for _ in range(n):
        ends = sliced(x, 1, _ALL, axis), sliced(x, 0, -1, axis)
        x = equated("not_equal", *ends) if dtype_of_value(x).is_bool else combined("subtract", *ends)
    return x


def _between(before: Any, x: Expr, after: Any, axis: int) -> Expr:
    """An array with others before and behind it along an axis; a number is one element everywhere."""
    given = [each for each in (before, x, after) if each is not None]
    dtype = common_dtype(given)
    x = converted(x, dtype)
    for side, each in enumerate((before, after)):
        if each is not None and rank_of(each) == 0:
            width = [(0, 0)] * rank_of(x)
            width[axis] = (1 - side, side)
            x = nn.pad(x, width, converted(each, dtype))
        elif each is not None:
            pair = [converted(each, dtype), x]
            x = op.concatenate(pair[::-1] if side else pair, axis)
    return x


def _trapezoid(y: Expr, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Expr:
    middle = combined("divide", combined("add", sliced(y, 1, _ALL, axis), sliced(y, 0, -1, axis)), 2.0)
    if x is None:
        return combined("multiply", REDUCTIONS["sum"](middle, axis), dx)
    if rank_of(x) != rank_of(y):
        raise refusal(caller_span(), "`np.trapezoid` by points of another shape", "give as many points as values")
    return REDUCTIONS["sum"](combined("multiply", middle, _diff(x, 1, axis)), axis)


def _interpolated(x: Any, xp: Any, fp: Any) -> Expr:
    """Values between known ones, in proportion; those at the ends outside."""
    points, values = floating(xp), floating(fp)
    x = converted(x, dtype_of_value(points))
    last = combined("subtract", extent_along(points, 0), 1)
    place = op.searchsorted(points, x, True)
    after = combined("minimum", combined("maximum", place, 1), combined("maximum", last, 0))
    before = combined("maximum", combined("subtract", after, 1), 0)
    (x0, x1), (y0, y1) = ([op.take(of, at, axis=0) for at in (before, after)] for of in (points, values))
    width = op.subtract(x1, x0)
    share = op.divide(op.subtract(x, x0), op.where(equated("equal", width, 0), op.ones_like(width), width))
    share = combined("minimum", combined("maximum", share, 0.0), 1.0)
    made = op.where(equated("equal", share, 1), y1, op.add(y0, op.multiply(op.subtract(y1, y0), share)))
    return op.where(op.isnan(x), x, made)


def without_nan(x: Any, value: float = 0.0) -> Expr:
    x = floating(x)
    return op.where(op.isnan(x), converted(value, dtype_of_value(x)), x)


def _of_the_rest(name: str) -> Function:
    """A reduction of what is not NaN."""

    def of_the_rest(x: Expr, axis: Any = None, *, keepdims: bool = False) -> Expr:
        def total(part: Any) -> Expr:
            return REDUCTIONS["sum"](part, axis, keepdims=keepdims)

        if name in ("sum", "prod"):
            return REDUCTIONS[name](without_nan(x, float(name == "prod")), axis, keepdims=keepdims)
        count = total(op.logical_not(op.isnan(floating(x))))
        nan = converted(math.nan, dtype_of_value(floating(x)))
        if name in ("max", "min"):
            least = -math.inf if name == "max" else math.inf
            found = REDUCTIONS[name](without_nan(x, least), axis, keepdims=keepdims)
            return op.where(equated("equal", count, 0), nan, found)
        mean = combined("divide", total(without_nan(x)), count)
        if name == "mean":
            return mean
        middle = combined("divide", REDUCTIONS["sum"](without_nan(x), axis, keepdims=True),
                          REDUCTIONS["sum"](op.logical_not(op.isnan(floating(x))), axis, keepdims=True))  # fmt: skip
        apart = without_nan(combined("subtract", x, middle))
        variance = combined("divide", total(op.multiply(apart, apart)), count)
        return op.sqrt(variance) if name == "std" else variance

    return of_the_rest


_FUNCTIONS: Mapping[str, Function] = {
    "quantile": quantile(1.0), "percentile": quantile(100.0), "median": _median, "average": _average, "ptp": _spread,
    "count_nonzero": _count_nonzero, "cov": _covariance, "corrcoef": _correlation, "bincount": _bincount,
    "diff": _diff, "trapezoid": _trapezoid, "interp": _interpolated,
    **{f"nan{name}": _of_the_rest(name) for name in ("sum", "prod", "max", "min", "mean", "var", "std")},
}  # fmt: skip
STATISTICS_OF_NUMPY: Mapping[Any, Function] = {getattr(np, name): function for name, function in _FUNCTIONS.items()}
"""What a program may call of NumPy that sums data up."""

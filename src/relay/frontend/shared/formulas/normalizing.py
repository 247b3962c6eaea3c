"""Normalising over several axes, and element types changed only where they are others."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr, const
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, divide, multiply, subtract
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.framework.build import known_dtype
from relay.ops.reduction import reduce


def as_dtype(x: Expr, dtype: DType) -> Expr:
    """The same elements in another type, if it is another."""
    return x if known_dtype(x) is dtype else cast(x, dtype)


@frozen
class Moments:
    """The mean and the variance of elements over some axes, which have one entry, and the elements less their mean."""

    mean: Expr
    variance: Expr
    centred: Expr


def moments(x: Expr, axes: Sequence[int], dtype: DType) -> Moments:
    """Those over `axes`, in the type that `dtype` is computed in."""
    data = as_dtype(x, dtype.computation)
    mean = reduce.mean(data, axes, keepdims=True)
    centred = subtract(data, mean)
    return Moments(mean, reduce.mean(multiply(centred, centred), axes, keepdims=True), centred)


def standardized(x: Expr, axes: Sequence[int], epsilon: float, dtype: DType) -> Expr:
    """(x - mean) / √(variance + epsilon) over `axes`, computed in the type that `dtype` is computed in."""
    found = moments(x, axes, dtype)
    return as_dtype(divide(found.centred, sqrt(add(found.variance, const(epsilon, dtype.computation)))), dtype)


def divided_by_root_mean_square(x: Expr, axes: Sequence[int], epsilon: float, dtype: DType) -> Expr:
    """x / √(mean x² + epsilon) over `axes` (Zhang and Sennrich 2019, 1910.07467), computed as `standardized` is."""
    wide = dtype.computation
    data = as_dtype(x, wide)
    power = reduce.mean(multiply(data, data), axes, keepdims=True)
    return as_dtype(divide(data, sqrt(add(power, const(epsilon, wide)))), dtype)

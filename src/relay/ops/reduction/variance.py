"""Variance over axes, and what is made of it: standard deviation, and both with the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.framework.build import Argument, TupleWrapper, as_expr, call
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import extent_value
from relay.ops.framework.layout_rule import AxisAttribute
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, mean_of, to_dtype, wide
from relay.ops.framework.scale_role import NOT_LINEAR
from relay.ops.reduction.reduce import (
    ALONG_REDUCED_AXES,
    Axes,
    axes_argument,
    mean,
    reading_of,
    reduced_axes,
    reduced_shape,
    total_of,
)


@frozen
class VarianceAttributes(Attributes):
    """`unbiased`: divide by one less than the number of elements."""

    axis: tuple[int, ...] | None = None
    keepdims: bool = False
    exclude: bool = False
    unbiased: bool = False


def _variance_rule(run: RelationRun, attributes: VarianceAttributes) -> Type:
    """data[..] × mean[.. with extents of 1] → [..]"""
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    shape = reduced_shape(run, attributes)
    axes = reduced_axes(attributes, len(data.shape))
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(data.shape))
    run.tensor_like(1, kept, data.dtype, "the mean keeps the reduced axes, with an extent of 1")
    return TensorType(shape, data.dtype)


def _variance_meaning(attributes: VarianceAttributes, data: Array, mean: Array) -> Array:
    axes = reduced_axes(attributes, data.ndim)
    count = int(np.prod([data.shape[axis] for axis in axes], dtype=np.int64)) - attributes.unbiased
    with np.errstate(all="ignore"):
        squares = total_of(np.square(wide(data) - wide(mean)), axes, attributes.keepdims)
        return to_dtype(np.asarray(mean_of(squares, np.asarray(count))), element_type(data))


def _variance_compute(attributes: VarianceAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """Stages `variance_squares` and `variance`."""
    data, mean = inputs
    dtype = result.dtype.computation
    reading = reading_of(attributes, data)

    def square(*indices: IntExpr) -> Any:
        at = reading.at(indices, reading.taps)
        place = tuple(0 if axis in reading.axes else index for axis, index in enumerate(at))
        centred = te.cast(data[at], dtype) - te.cast(mean[place], dtype)
        return te.sum(centred * centred, axis=reading.taps) if reading.taps else centred * centred

    squares = te.compute(result.shape, square, name="variance_squares")
    count = product(data.shape[axis] for axis in reading.axes) - int(attributes.unbiased)
    return te.compute(
        result.shape, lambda *i: te.cast(squares[i] / extent_value(count, dtype), result.dtype), name="variance"
    )


VARIANCE = define(
    "variance",
    "The mean square of the distance from a given mean.",
    inputs={"data": "[..]", "mean": "[..], with an extent of 1 for each reduced axis"},
    attributes=VarianceAttributes,
    type_rule=_variance_rule,
    meaning=_variance_meaning,
    compute=_variance_compute,
    fusion=FusionKind.COMM_REDUCE,
    layout=AxisAttribute("axis", inputs=(0, 1), drops_axes=True),
    floating_point=FloatingPointClass.ROUNDING,
    effect=Effect.PURE,
    gradient=gradient_above("reduction", "of_variance"),
    batch=ALONG_REDUCED_AXES,
    scale=NOT_LINEAR,
    support_level=4,
)

VARIANCES: tuple[OperatorRecord, ...] = (VARIANCE,)


def variance(
    data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False,
    with_mean: Expr | None = None,
) -> Call:  # fmt: skip
    """The variance over `axis`, around `with_mean` (with the reduced axes kept) or the mean of the data itself.

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`, `wrong-shape`.
    """
    expr = as_expr(data)
    centre = mean(expr, axis, True, exclude) if with_mean is None else with_mean
    attributes = VarianceAttributes(axes_argument(axis), keepdims, exclude, unbiased)
    return call(VARIANCE, (expr, centre), attributes)


def std(
    data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> Call:
    """The standard deviation over `axis`: the square root of `variance`."""
    return sqrt(variance(data, axis, keepdims, exclude, unbiased))


def mean_variance(
    data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """(mean, variance) over `axis`."""
    expr = as_expr(data)
    shown = mean(expr, axis, keepdims, exclude)
    kept = shown if keepdims else mean(expr, axis, True, exclude)
    return TupleWrapper(as_expr((shown, variance(expr, axis, keepdims, exclude, unbiased, kept))), 2)


def mean_std(
    data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False
) -> TupleWrapper:
    """(mean, standard deviation) over `axis`."""
    average, spread = mean_variance(data, axis, keepdims, exclude, unbiased)
    return TupleWrapper(as_expr((average, sqrt(spread))), 2)

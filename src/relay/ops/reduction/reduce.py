"""Reductions over axes: sum, mean, max, min, prod, all, any, and log Σ exp.

`axis` is one axis, several, or None for all; `exclude` reduces over the others instead; `keepdims` keeps extents of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.elementwise.elementwise_binary import add, subtract
from relay.ops.elementwise.elementwise_unary import exp, log
from relay.ops.framework.batch_rule import AlongAxes
from relay.ops.framework.build import Argument, as_expr, call, item_or_items
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import BOOLS, NUMBERS, Accepts, extent_value
from relay.ops.framework.layout_rule import AxisAttribute
from relay.ops.framework.record import (
    PIECEWISE_CONSTANT,
    FusionKind,
    Gradient,
    OperatorRecord,
    define,
    gradient_above,
    scale_role_of,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, mean_of, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.te.reducers import highest, lowest
from relay.tir.expr import Value

Axes: TypeAlias = int | Sequence[int] | None
Reduction: TypeAlias = tuple[Callable[..., Array], Callable[..., Any]]
"""What a reduction is on arrays, and in tensor expressions."""


@frozen
class ReduceAttributes(Attributes):
    axis: tuple[int, ...] | None = None
    keepdims: bool = False
    exclude: bool = False


def reduced_axes(attributes: Any, rank: int) -> tuple[int, ...]:
    """The axes that a reduction runs over, in order, counted from the front."""
    if attributes.axis is None:
        return () if attributes.exclude else tuple(range(rank))
    named = {axis % rank for axis in attributes.axis}
    return tuple(axis for axis in range(rank) if (axis in named) is not attributes.exclude)


def reduced_shape(run: RelationRun, attributes: Any) -> tuple[Dimension, ...]:
    """The shape of the result of a reduction of input 0."""
    data = run.tensor(0)
    rank = len(data.shape)
    named = [run.axis(axis, rank) for axis in attributes.axis or ()]
    if len(set(named)) != len(named):
        run.conflict("wrong-attribute", "`axis` names an axis twice", "distinct axes", str(attributes.axis))
    axes = reduced_axes(attributes, rank)
    return tuple(
        1 if axis in axes else extent
        for axis, extent in enumerate(data.shape)
        if attributes.keepdims or axis not in axes
    )


def _with_reduced_axes(attributes: Any, axes: tuple[int, ...]) -> Attributes:
    return replace(attributes, axis=axes, exclude=False)


ALONG_REDUCED_AXES = AlongAxes(reduced_axes, _with_reduced_axes)


@frozen
class Reading:
    """How result elements of a reduction read the data: `at(indices, taps)` is a place in it."""

    taps: tuple[te.Axis, ...]
    axes: tuple[int, ...]
    rank: int
    keepdims: bool

    def at(self, indices: Sequence[IntExpr], taps: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
        reduced = dict(zip(self.axes, taps, strict=True))
        kept = iter(indices)
        places: list[IntExpr] = []
        for axis in range(self.rank):
            if axis in reduced:
                places.append(reduced[axis])
                if self.keepdims:
                    next(kept)
            else:
                places.append(next(kept))
        return tuple(places)


def reading_of(attributes: Any, data: te.Tensor) -> Reading:
    axes = reduced_axes(attributes, len(data.shape))
    taps = tuple(te.reduce_axis(data.shape[axis], f"k{axis}") for axis in axes)
    return Reading(taps, axes, len(data.shape), attributes.keepdims)


def reduced_tensor(
    reduce: Callable[..., Any], attributes: Any, data: te.Tensor, shape: Sequence[IntExpr], dtype: DType, name: str,
    element: Callable[[Value], Value] = lambda value: value,
) -> te.Tensor:  # fmt: skip
    """The reduction of `element` of the data, in `dtype`; elementwise when there is no axis to reduce."""
    reading = reading_of(attributes, data)

    def body(*indices: IntExpr) -> Any:
        value = element(te.cast(data[reading.at(indices, reading.taps)], dtype))
        return reduce(value, axis=reading.taps) if reading.taps else value

    return te.compute(shape, body, name=name)


def _reduction(
    name: str, description: str, function: Callable[..., Array], reduce: Callable[..., Any], accepts: Accepts,
    level: int = 4, exact: bool = True, gradient: Gradient = PIECEWISE_CONSTANT, bools: Reduction | None = None,
) -> OperatorRecord:  # fmt: skip
    """`bools`: the function and the reduction of bools, where they are not those of numbers."""

    def rule(run: RelationRun, attributes: ReduceAttributes) -> Type:
        dtype = run.dtype_in(0, *accepts)
        return TensorType(reduced_shape(run, attributes), dtype)

    def meaning(attributes: ReduceAttributes, data: Array) -> Array:
        axes = reduced_axes(attributes, data.ndim)
        reduced = bools[0] if bools is not None and data.dtype == np.bool_ else function
        with np.errstate(all="ignore"):
            return to_dtype(reduced(wide(data), axes, attributes.keepdims), element_type(data))

    def compute(attributes: ReduceAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
        wide_dtype = result.dtype if exact else result.dtype.computation
        reducing = bools[1] if bools is not None and result.dtype.is_bool else reduce
        total = reduced_tensor(reducing, attributes, inputs[0], result.shape, wide_dtype, name)
        if total.dtype is result.dtype:
            return total
        return te.compute(result.shape, lambda *i: te.cast(total[i], result.dtype), name=f"{name}_round")

    return define(
        name,
        description,
        inputs={"data": f"[..], {accepts[1]}"},
        attributes=ReduceAttributes,
        type_rule=rule,
        meaning=meaning,
        compute=compute,
        fusion=FusionKind.COMM_REDUCE,
        layout=AxisAttribute("axis", drops_axes=True),
        floating_point=FloatingPointClass.EXACT if exact else FloatingPointClass.ROUNDING,
        gradient=gradient,
        effect=Effect.PURE,
        batch=ALONG_REDUCED_AXES,
        scale=scale_role_of(gradient) or NO_SCALE_YET,
        support_level=level,
    )


def total_of(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(x.sum(axis=axes, keepdims=keepdims, dtype=x.dtype))


def _product(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(x.prod(axis=axes, keepdims=keepdims, dtype=x.dtype))


def _largest(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(x.max(axis=axes, keepdims=keepdims, initial=lowest(element_type(x))))


def _smallest(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(x.min(axis=axes, keepdims=keepdims, initial=highest(element_type(x))))


def _all(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(x.all(axis=axes, keepdims=keepdims))


def _any(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return np.asarray(x.any(axis=axes, keepdims=keepdims))


def _mean(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    total = total_of(x, axes, keepdims)
    return np.zeros_like(total) if count == 0 and x.dtype.kind != "f" else mean_of(total, count)


def _mean_compute(attributes: ReduceAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """Stages `mean_sum` and `mean`."""
    (data,) = inputs
    dtype = result.dtype.computation
    total = reduced_tensor(te.sum, attributes, data, result.shape, dtype, "mean_sum")
    count = extent_value(product(data.shape[axis] for axis in reduced_axes(attributes, len(data.shape))), dtype)
    return te.compute(result.shape, lambda *i: te.cast(total[i] / count, result.dtype), name="mean")


_EVERYTHING: Accepts = (lambda _: True, "a number type or bool")
_OR, _AND = (_any, te.any), (_all, te.all)
SUM = _reduction(
    "sum", "The sum of all elements; of bools, whether some is True.", total_of, te.sum, _EVERYTHING, exact=False,
    bools=_OR, gradient=gradient_above("reduction", "of_sum"),
)  # fmt: skip
PROD = _reduction(
    "prod", "The product of all elements; of bools, whether all are True.", _product, te.prod, _EVERYTHING,
    exact=False, bools=_AND, gradient=gradient_above("reduction", "of_prod"),
)  # fmt: skip
MAX = _reduction(
    "max",
    "The largest element; NaN wins; of none, the smallest number.",
    _largest,
    te.max,
    _EVERYTHING,
    bools=_OR,
    gradient=gradient_above("reduction", "of_extreme"),
)
MIN = _reduction(
    "min",
    "The smallest element; NaN wins; of none, the largest number.",
    _smallest,
    te.min,
    _EVERYTHING,
    bools=_AND,
    gradient=gradient_above("reduction", "of_extreme"),
)
ALL = _reduction("all", "True where all elements are.", _all, te.all, BOOLS)
ANY = _reduction("any", "True where some element is.", _any, te.any, BOOLS)


def _mean_meaning(attributes: ReduceAttributes, data: Array) -> Array:
    with np.errstate(all="ignore"):
        mean = _mean(wide(data), reduced_axes(attributes, data.ndim), attributes.keepdims)
        return to_dtype(np.asarray(mean), element_type(data))


MEAN = define(
    "mean",
    "The mean of all elements; integers truncate.",
    inputs={"data": "[..], a number type"},
    attributes=ReduceAttributes,
    type_rule=lambda run, attributes: TensorType(reduced_shape(run, attributes), run.dtype_in(0, *NUMBERS)),
    meaning=_mean_meaning,
    compute=_mean_compute,
    fusion=FusionKind.COMM_REDUCE,
    layout=AxisAttribute("axis", drops_axes=True),
    floating_point=FloatingPointClass.ROUNDING,
    effect=Effect.PURE,
    gradient=gradient_above("reduction", "of_mean"),
    batch=ALONG_REDUCED_AXES,
    scale=NO_SCALE_YET,
    support_level=4,
)


REDUCTIONS: tuple[OperatorRecord, ...] = (SUM, PROD, MAX, MIN, ALL, ANY, MEAN)


def axes_argument(axis: Axes) -> tuple[int, ...] | None:
    """An `axis` argument as a tuple; None stays."""
    return item_or_items(axis)


def _reduce(record: OperatorRecord, data: Argument, axis: Axes, keepdims: bool, exclude: bool) -> Call:
    return call(record, (data,), ReduceAttributes(axes_argument(axis), keepdims, exclude))


def sum(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:  # noqa: A001
    """The sum over `axis`. Integers wrap; narrow floats are summed in float32.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> print(sum(var("x", shape=(2, "n", 4)), axis=(0, -1), keepdims=True).checked_type)
    Tensor[(1, n, 1), float32]
    """
    return _reduce(SUM, data, axis, keepdims, exclude)


def prod(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """The product over `axis`.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    return _reduce(PROD, data, axis, keepdims, exclude)


def max(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:  # noqa: A001
    """The largest element over `axis`; NaN wins.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    return _reduce(MAX, data, axis, keepdims, exclude)


def min(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:  # noqa: A001
    """The smallest element over `axis`; NaN wins.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    return _reduce(MIN, data, axis, keepdims, exclude)


def all(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:  # noqa: A001
    """True where all bools over `axis` are.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    return _reduce(ALL, data, axis, keepdims, exclude)


def any(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:  # noqa: A001
    """True where one of the bools over `axis` is.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    return _reduce(ANY, data, axis, keepdims, exclude)


def mean(data: Argument, axis: Axes = None, keepdims: bool = False, exclude: bool = False) -> Call:
    """The mean over `axis`; integers truncate.   data[..] → [..]

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    return _reduce(MEAN, data, axis, keepdims, exclude)


def logsumexp(data: Argument, axis: Axes = None, keepdims: bool = False) -> Call:
    """log Σ e^data over `axis`, without overflow."""
    expr = as_expr(data)
    shifted = subtract(expr, max(expr, axis, True))
    total = log(sum(exp(shifted), axis, keepdims))
    return add(total, max(expr, axis, keepdims))

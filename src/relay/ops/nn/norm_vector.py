"""Normalisation by magnitude: l2_normalize, lrn (local response)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call, item_or_items
from relay.ops.framework.layout_rule import AxisAttribute
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NOT_LINEAR
from relay.ops.nn.norm import statistics_over
from relay.tir.expr import Value


@frozen
class L2NormalizeAttributes(Attributes):
    """`axis`: the axes that a vector's elements lie along. `eps`: the least square of a length."""

    eps: float
    axis: tuple[int, ...] | None = None


@frozen
class LRNAttributes(Attributes):
    """`size`: how many channels (odd) a sum is over; the divisor is `(bias + alpha/size · Σ x²)^beta`."""

    size: int = 5
    axis: int = 1
    bias: float = 2.0
    alpha: float = 1e-4
    beta: float = 0.75


def _axes(attributes: L2NormalizeAttributes, rank: int) -> tuple[int, ...]:
    return tuple(range(rank)) if attributes.axis is None else tuple(axis % rank for axis in attributes.axis)


def _l2_rule(run: RelationRun, attributes: L2NormalizeAttributes) -> Type:
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    for axis in attributes.axis or ():
        run.axis(axis, len(data.shape))
    return data


def _l2_meaning(attributes: L2NormalizeAttributes, data: Array) -> Array:
    x = wide(data)
    with np.errstate(all="ignore"):
        squares = np.square(x).sum(axis=_axes(attributes, x.ndim), keepdims=True)
        return to_dtype(x / np.sqrt(np.maximum(squares, x.dtype.type(attributes.eps))), dtype_of(data.dtype))


def _l2_compute(attributes: L2NormalizeAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """Stages `l2_squares` and `l2_normalize`."""
    (data,) = inputs
    dtype = data.dtype.computation
    statistics = statistics_over(data.shape, _axes(attributes, len(data.shape)))
    taps = [te.reduce_axis(extent, f"k{position}") for position, extent in enumerate(statistics.extents)]

    def square(*point: IntExpr) -> Any:
        x = te.cast(data[statistics.element(point, taps)], dtype)
        return te.sum(x * x, axis=taps) if taps else x * x

    squares = te.compute(statistics.shape, square, name="l2_squares")

    def element(*i: IntExpr) -> Value:
        length = te.sqrt(te.maximum(squares[statistics.point(i)], attributes.eps))
        return te.cast(te.cast(data[i], dtype) / length, data.dtype)

    return te.compute(result.shape, element, name="l2_normalize")


def _lrn_rule(run: RelationRun, attributes: LRNAttributes) -> Type:
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    run.axis(attributes.axis, len(data.shape))
    if attributes.size < 1 or attributes.size % 2 == 0:
        run.conflict("wrong-attribute", "`size` must be odd", "1, 3, 5, …", str(attributes.size))
    return data


def _lrn_meaning(attributes: LRNAttributes, data: Array) -> Array:
    x = wide(data)
    axis, half = attributes.axis % x.ndim, attributes.size // 2
    channels = x.shape[axis]
    with np.errstate(all="ignore"):
        square = np.moveaxis(np.square(x), axis, -1)
        total = np.stack(
            [square[..., max(0, c - half) : c + half + 1].sum(axis=-1) for c in range(channels)], axis=-1
        ) if channels else square  # fmt: skip
        divisor = (
            attributes.bias + attributes.alpha / attributes.size * np.moveaxis(total, -1, axis)
        ) ** attributes.beta
        return to_dtype((x / divisor).astype(x.dtype), dtype_of(data.dtype))


def _lrn_compute(attributes: LRNAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """Stages `lrn_squares` and `lrn`."""
    (data,) = inputs
    dtype = data.dtype.computation
    axis, half = attributes.axis % len(data.shape), attributes.size // 2
    tap = te.reduce_axis(attributes.size, "k")

    def square(*i: IntExpr) -> Any:
        channel = i[axis] + tap - half
        x = te.cast(data[(*i[:axis], channel, *i[axis + 1 :])], dtype)
        inside = te.all_of((te.greater_equal(channel, 0), te.less(channel, data.shape[axis])))
        return te.sum(x * x, axis=tap, where=inside)

    squares = te.compute(data.shape, square, name="lrn_squares")

    def element(*i: IntExpr) -> Value:
        inner = squares[i] * (attributes.alpha / attributes.size) + attributes.bias
        return te.cast(te.cast(data[i], dtype) / te.power(inner, attributes.beta), data.dtype)

    return te.compute(result.shape, element, name="lrn")


L2_NORMALIZE = define(
    "nn.l2_normalize",
    "Vectors divided by their length.",
    inputs={"data": "[..]"},
    attributes=L2NormalizeAttributes,
    type_rule=_l2_rule,
    meaning=_l2_meaning,
    compute=_l2_compute,
    fusion=FusionKind.OPAQUE,
    layout=AxisAttribute("axis"),
    floating_point=FloatingPointClass.ROUNDING,
    effect=Effect.PURE,
    gradient=gradient_above("norms", "of_l2_normalize"),
    batch=NO_BATCH_RULE_YET,
    scale=NOT_LINEAR,
    support_level=2,
)
LRN = define(
    "nn.lrn",
    "Each channel divided by a power of the mean square of its neighbours.",
    inputs={"data": "[N, C, H, W]"},
    attributes=LRNAttributes,
    type_rule=_lrn_rule,
    meaning=_lrn_meaning,
    compute=_lrn_compute,
    fusion=FusionKind.OPAQUE,
    layout=AxisAttribute("axis"),
    floating_point=FloatingPointClass.ROUNDING,
    effect=Effect.PURE,
    gradient=gradient_above("norms", "of_lrn"),
    batch=NO_BATCH_RULE_YET,
    scale=NOT_LINEAR,
    support_level=2,
)

VECTOR_NORMS: tuple[OperatorRecord, ...] = (L2_NORMALIZE, LRN)


def l2_normalize(data: Argument, eps: float, axis: int | Sequence[int] | None = None) -> Call:
    """data[..] / sqrt(max(Σ data², eps)), the sum over `axis` (all axes when None).

    Raises `RelayError`: `axis-out-of-range`, `wrong-dtype`.
    """
    return call(L2_NORMALIZE, (data,), L2NormalizeAttributes(eps, item_or_items(axis)))


def lrn(
    data: Argument, size: int = 5, axis: int = 1, bias: float = 2.0, alpha: float = 1e-5, beta: float = 0.75
) -> Call:
    """data[..] / (bias + alpha/size · Σ data²)^beta, the sum over `size` neighbouring channels along `axis`.

    Raises `RelayError`: `wrong-attribute` (an even size), `axis-out-of-range`, `wrong-dtype`.
    """
    return call(LRN, (data,), LRNAttributes(size, axis, bias, alpha, beta))

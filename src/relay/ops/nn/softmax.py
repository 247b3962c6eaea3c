"""softmax and log_softmax along one axis, without overflow: the largest element is subtracted first."""

from __future__ import annotations

from functools import partial

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.elementwise.elementwise_binary import divide, subtract
from relay.ops.elementwise.elementwise_unary import exp, log
from relay.ops.framework.batch_rule import ALONG_AXIS
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import AxisAttribute
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NOT_LINEAR
from relay.ops.nn.norm import statistics_over
from relay.ops.reduction.reduce import max as largest_over
from relay.ops.reduction.reduce import sum as sum_over
from relay.tir.expr import Value


@frozen
class SoftmaxAttributes(Attributes):
    axis: int = -1


def _rule(run: RelationRun, attributes: SoftmaxAttributes) -> Type:
    data = run.tensor(0)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    run.axis(attributes.axis, len(data.shape))
    return data


def _meaning(logarithm: bool, attributes: SoftmaxAttributes, data: Array) -> Array:
    x = wide(data)
    if x.size == 0:
        return data.copy()
    with np.errstate(all="ignore"):
        shifted = x - x.max(axis=attributes.axis, keepdims=True)
        powers = np.exp(shifted)
        total = powers.sum(axis=attributes.axis, keepdims=True)
        return to_dtype(shifted - np.log(total) if logarithm else powers / total, dtype_of(data.dtype))


def _compute(logarithm: bool, attributes: SoftmaxAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """Stages `softmax_max`, `softmax_exp`, `softmax_sum` and `softmax` or `log_softmax`."""
    (data,) = inputs
    dtype = data.dtype.computation
    axis = attributes.axis % len(data.shape)
    rows = statistics_over(data.shape, (axis,))
    first, second = te.reduce_axis(data.shape[axis], "k"), te.reduce_axis(data.shape[axis], "k")
    largest = te.compute(
        rows.shape,
        lambda *row: te.max(te.cast(data[rows.element(row, (first,))], dtype), axis=first),
        name="softmax_max",
    )
    powers = te.compute(
        data.shape, lambda *i: te.exp(te.cast(data[i], dtype) - largest[rows.point(i)]), name="softmax_exp"
    )
    total = te.compute(
        rows.shape, lambda *row: te.sum(powers[rows.element(row, (second,))], axis=second), name="softmax_sum"
    )

    def element(*i: IntExpr) -> Value:
        row = rows.point(i)
        if logarithm:
            return te.cast(te.cast(data[i], dtype) - largest[row] - te.log(total[row]), data.dtype)
        return te.cast(powers[i] * (te.const(1, dtype) / total[row]), data.dtype)  # one division a row

    return te.compute(result.shape, element, name="log_softmax" if logarithm else "softmax")


def _formula(logarithm: bool, attributes: SoftmaxAttributes, data: Expr) -> Expr:
    shifted = subtract(data, largest_over(data, attributes.axis, keepdims=True))
    powers = exp(shifted)
    total = sum_over(powers, attributes.axis, keepdims=True)
    return subtract(shifted, log(total)) if logarithm else divide(powers, total)


def _record(name: str, description: str, logarithm: bool) -> OperatorRecord:
    return define(
        f"nn.{name}",
        description,
        inputs={"data": "[..]"},
        attributes=SoftmaxAttributes,
        type_rule=_rule,
        meaning=partial(_meaning, logarithm),
        compute=partial(_compute, logarithm),
        fusion=FusionKind.OPAQUE,
        layout=AxisAttribute("axis"),
        floating_point=FloatingPointClass.ROUNDING,
        effect=Effect.PURE,
        gradient=gradient_above("norms", f"of_{name}"),
        batch=ALONG_AXIS,
        scale=NOT_LINEAR,
        support_level=1,
        formula=partial(_formula, logarithm),
    )


SOFTMAX = _record("softmax", "Powers of e, scaled to add up to 1 along an axis.", False)
LOG_SOFTMAX = _record("log_softmax", "The logarithm of softmax.", True)

SOFTMAXES: tuple[OperatorRecord, ...] = (SOFTMAX, LOG_SOFTMAX)


def softmax(data: Argument, axis: int = -1) -> Call:
    """e^data / Σ e^data along `axis`.   data[..] → [..]   Raises `axis-out-of-range`, `wrong-dtype`."""
    return call(SOFTMAX, (data,), SoftmaxAttributes(axis))


def log_softmax(data: Argument, axis: int = -1) -> Call:
    """log(softmax(data)) along `axis`.   data[..] → [..]   Raises `axis-out-of-range`, `wrong-dtype`."""
    return call(LOG_SOFTMAX, (data,), SoftmaxAttributes(axis))

"""What stands between the layers of a network: relu and its kin, clip, bias_add, dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.elementwise.comparison import greater, where
from relay.ops.elementwise.elementwise_binary import add, maximum, multiply
from relay.ops.elementwise.elementwise_unary import erf, sigmoid
from relay.ops.framework.batch_rule import ALONG_AXIS, NO_BATCH_RULE_YET
from relay.ops.framework.build import (
    Argument,
    TupleWrapper,
    as_expr,
    as_float,
    call,
    known_dtype,
    known_rank,
    tuple_call,
)
from relay.ops.framework.elementwise import FLOATS, NUMBERS, unary_rule
from relay.ops.framework.layout_rule import AxisAttribute, Elementwise
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, same_dtype
from relay.ops.framework.scale_role import NO_SCALE_YET, NOT_LINEAR, AddsBias, PassesScale
from relay.ops.manipulation.shape import expand_dims
from relay.tir.expr import Value


@frozen
class LeakyReluAttributes(Attributes):
    alpha: float = 0.25


@frozen
class PReluAttributes(Attributes):
    axis: int = 1


@frozen
class ClipAttributes(Attributes):
    a_min: float
    a_max: float


@frozen
class BiasAddAttributes(Attributes):
    axis: int = 1


@frozen
class DropoutAttributes(Attributes):
    """`rate`: the share of elements that training drops."""

    rate: float = 0.5


def _relu_value(value: Value) -> Value:
    return te.maximum(value, 0)


def _leaky_value(alpha: float, value: Value) -> Value:
    return te.select(te.greater(value, 0), value, value * alpha)


def _clip_bounds(attributes: ClipAttributes, dtype: DType) -> tuple[float, float]:
    """The bounds as numbers of the element type: those of integers are rounded inwards and kept in its range."""
    if dtype.is_float:
        return attributes.a_min, attributes.a_max
    low, high = float(te.lowest(dtype)), float(te.highest(dtype))
    inside = [min(max(bound, low), high) for bound in (attributes.a_min, attributes.a_max)]
    least, most = int(np.ceil(inside[0])), int(np.floor(inside[1]))
    return max(least, int(te.lowest(dtype))), min(most, int(te.highest(dtype)))


def _clip_meaning(attributes: ClipAttributes, data: Array) -> Array:
    low, high = _clip_bounds(attributes, element_type(data))
    return same_dtype(lambda x: np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)), data)


def _clip_compute(attributes: ClipAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    low, high = _clip_bounds(attributes, data.dtype)
    return te.compute(result.shape, lambda *i: te.minimum(te.maximum(data[i], low), high), name="clip")


def _clip_rule(run: RelationRun, attributes: ClipAttributes) -> Type:
    run.dtype_in(0, *NUMBERS)
    if not attributes.a_min <= attributes.a_max:
        run.conflict("wrong-attribute", "`a_min` must not be above `a_max`", f"at most {attributes.a_max}",
                     str(attributes.a_min))  # fmt: skip
    return run.tensor(0)


RELU = define(
    "nn.relu",
    "The larger of each element and 0.",
    inputs={"data": "[..], a number type"},
    type_rule=unary_rule(NUMBERS),
    meaning=lambda _, data: np.maximum(data, data.dtype.type(0)) if data.dtype.kind in "fiu"
    else same_dtype(lambda x: np.maximum(x, x.dtype.type(0)), data),
    compute=lambda _, inputs, result: te.compute(result.shape, lambda *i: _relu_value(inputs[0][i]), name="relu"),
    fusion=FusionKind.ELEMWISE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_relu"),
    scale=PassesScale(only_positive=True),
    support_level=1,
    formula=lambda _, data: maximum(data, 0),
)  # fmt: skip
LEAKY_RELU = define(
    "nn.leaky_relu",
    "Each element above 0, and alpha times it below.",
    inputs={"data": "[..], a floating-point type"},
    attributes=LeakyReluAttributes,
    type_rule=unary_rule(FLOATS),
    meaning=lambda attributes, data: same_dtype(lambda x: np.where(x > 0, x, x * x.dtype.type(attributes.alpha)), data),
    compute=lambda attributes, inputs, result: te.compute(
        result.shape, lambda *i: _leaky_value(attributes.alpha, inputs[0][i]), name="leaky_relu"
    ),
    fusion=FusionKind.ELEMWISE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_leaky_relu"),
    scale=PassesScale(only_positive=True),
    support_level=3,
    formula=lambda attributes, data: where(greater(data, 0), data, multiply(data, attributes.alpha)),
)
CLIP = define(
    "clip",
    "Each element moved between two bounds; NaN stays.",
    inputs={"data": "[..], a number type"},
    attributes=ClipAttributes,
    type_rule=_clip_rule,
    meaning=_clip_meaning,
    compute=_clip_compute,
    fusion=FusionKind.ELEMWISE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_clip"),
    scale=NOT_LINEAR,
    support_level=3,
)


def _channel_rule(run: RelationRun, attributes: Any) -> Type:
    """data[.., C, ..] × vector[C] → [.., C, ..]"""
    data = run.tensor(0)
    run.dtype_in(0, *NUMBERS)
    axis = run.axis(attributes.axis, len(data.shape))
    name = run.names[1]
    run.tensor_like(1, (data.shape[axis],), data.dtype,
                    f"`{name}` has one number for each channel of `data` along axis {axis}")  # fmt: skip
    return data


def _prelu_meaning(attributes: PReluAttributes, data: Array, alpha: Array) -> Array:
    return same_dtype(lambda x, a: np.where(x > 0, x, x * _on_axis(a, attributes.axis, x.ndim)), data, alpha)


def _bias_add_meaning(attributes: BiasAddAttributes, data: Array, bias: Array) -> Array:
    return same_dtype(lambda x, b: x + _on_axis(b, attributes.axis, x.ndim), data, bias)


def _on_axis(vector: Array, axis: int, rank: int) -> Array:
    return vector.reshape([-1 if position == axis % rank else 1 for position in range(rank)])


def _prelu_compute(attributes: PReluAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, alpha = inputs
    axis = attributes.axis % len(result.shape)
    return te.compute(
        result.shape, lambda *i: te.select(te.greater(data[i], 0), data[i], data[i] * alpha[i[axis]]), name="prelu"
    )


def _bias_add_compute(attributes: BiasAddAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, bias = inputs
    axis = attributes.axis % len(result.shape)
    return te.compute(result.shape, lambda *i: data[i] + bias[i[axis]], name="bias_add")


PRELU = define(
    "nn.prelu",
    "Each element above 0, and alpha of its channel times it below.",
    inputs={"data": "[.., C, ..]", "alpha": "[C]"},
    attributes=PReluAttributes,
    type_rule=_channel_rule,
    meaning=_prelu_meaning,
    compute=_prelu_compute,
    fusion=FusionKind.BROADCAST,
    layout=AxisAttribute("axis"),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_prelu"),
    batch=ALONG_AXIS,
    scale=PassesScale(only_positive=True),
    support_level=3,
)


def _bias_add_formula(attributes: BiasAddAttributes, data: Expr, bias: Expr) -> Expr:
    rank = known_rank(data) or 0
    trailing = rank - 1 - attributes.axis % rank
    return add(data, expand_dims(bias, axis=1, num_newaxis=trailing) if trailing else bias)


BIAS_ADD = define(
    "nn.bias_add",
    "A number added to each channel.",
    inputs={"data": "[.., C, ..]", "bias": "[C]"},
    attributes=BiasAddAttributes,
    type_rule=_channel_rule,
    meaning=_bias_add_meaning,
    compute=_bias_add_compute,
    fusion=FusionKind.BROADCAST,
    layout=AxisAttribute("axis"),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_bias_add"),
    batch=ALONG_AXIS,
    scale=AddsBias(),
    support_level=1,
    formula=_bias_add_formula,
)


def _dropout_rule(run: RelationRun, attributes: DropoutAttributes) -> Type:
    """data[..] → (data[..], mask[..])"""
    data = run.tensor(0)
    run.dtype_in(0, *FLOATS)
    if not 0 <= attributes.rate <= 1:
        run.conflict("wrong-attribute", "`rate` is a share", "from 0 to 1", str(attributes.rate))
    return TupleType((data, data))


def _dropout_compute(_: DropoutAttributes, inputs: tuple[te.Tensor], __: TupleType) -> tuple[te.Tensor, ...]:
    (data,) = inputs
    mask = te.compute(data.shape, lambda *_: te.const(1, data.dtype), name="dropout_mask")
    return te.compute(data.shape, lambda *i: data[i], name="dropout"), mask


DROPOUT = define(
    "nn.dropout",
    "Inference: the data as it is, and a mask of ones.",
    inputs={"data": "[..], a floating-point type"},
    attributes=DropoutAttributes,
    type_rule=_dropout_rule,
    meaning=lambda _, data: (data.copy(), np.ones_like(data)),
    compute=_dropout_compute,
    fusion=FusionKind.OPAQUE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_dropout"),
    batch=NO_BATCH_RULE_YET,
    scale=NO_SCALE_YET,
    support_level=1,
)


ACTIVATIONS: tuple[OperatorRecord, ...] = (RELU, LEAKY_RELU, PRELU, CLIP, BIAS_ADD, DROPOUT)


def relu(data: Argument) -> Call:
    """max(data, 0) of each element.   data[..] → [..]"""
    return call(RELU, (data,))


def leaky_relu(data: Argument, alpha: float = 0.01) -> Call:
    """data where it is above 0, alpha · data elsewhere.   data[..] → [..]   Floats."""
    return call(LEAKY_RELU, (data,), LeakyReluAttributes(alpha))


def prelu(data: Argument, alpha: Argument, axis: int = 1) -> Call:
    """data where it is above 0, alpha · data elsewhere.   data[.., C, ..] × alpha[C] → [.., C, ..]

    Raises `RelayError`: `wrong-shape`, `axis-out-of-range`, `dtypes-differ`.
    """
    return call(PRELU, (data, alpha), PReluAttributes(axis))


def clip(data: Argument, a_min: float, a_max: float) -> Call:
    """min(max(data, a_min), a_max) of each element. Raises `wrong-attribute` when a_min is above a_max."""
    return call(CLIP, (data,), ClipAttributes(as_float(a_min), as_float(a_max)))


def bias_add(data: Argument, bias: Argument, axis: int = 1) -> Call:
    """data[.., C, ..] + bias[C] along `axis`.

    Raises `RelayError`: `wrong-shape`, `axis-out-of-range`, `dtypes-differ`.

    >>> from relay.ops.framework.build import var
    >>> print(bias_add(var("x", shape=("n", 16)), var("b", shape=(16,)), axis=-1).checked_type)
    Tensor[(n, 16), float32]
    """
    return call(BIAS_ADD, (data, bias), BiasAddAttributes(axis))


def dropout(data: Argument, rate: float = 0.5) -> Call:
    """Inference: `data` as it is.   data[..] → [..]"""
    return dropout_raw(data, rate)[0]  # pyright: ignore[reportReturnType]


def dropout_raw(data: Argument, rate: float = 0.5) -> TupleWrapper:
    """data[..] → (data[..], mask[..]), the mask of what is kept."""
    return tuple_call(DROPOUT, (data,), DropoutAttributes(rate), 2)


def gelu(data: Argument) -> Call:
    """x · (1 + erf(x / √2)) / 2 of each element: a formula.   data[..] → [..]   Floats; a number is float32."""
    x = as_expr(data)
    half = _number(0.5, known_dtype(x))
    root = _number(0.7071067811865476, known_dtype(x))
    return multiply(multiply(x, half), add(erf(multiply(x, root)), _number(1.0, known_dtype(x))))


def silu(data: Argument) -> Call:
    """x · sigmoid(x) of each element: a formula.   data[..] → [..]   Floats."""
    x = as_expr(data)
    return multiply(x, sigmoid(x))


def hard_sigmoid(data: Argument) -> Call:
    """clip(x / 6 + 1/2, 0, 1) of each element: a formula.   data[..] → [..]   Floats."""
    x = as_expr(data)
    dtype = known_dtype(x)
    return clip(add(multiply(x, _number(1 / 6, dtype)), _number(0.5, dtype)), 0.0, 1.0)


def hard_swish(data: Argument) -> Call:
    """x · hard_sigmoid(x) of each element: a formula.   data[..] → [..]   Floats."""
    x = as_expr(data)
    return multiply(x, hard_sigmoid(x))


def _number(value: float, dtype: DType | None) -> Argument:
    return as_expr(value, dtype)

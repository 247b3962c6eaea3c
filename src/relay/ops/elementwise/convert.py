"""Other element types: cast, cast_like, reinterpret."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import Elementwise
from relay.ops.framework.record import FusionKind, NotDifferentiable, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import element_type, to_dtype
from relay.ops.framework.scale_role import ROUNDS
from relay.tir.expr import Call as Intrinsic
from relay.tir.expr import Value


@frozen
class CastAttributes(Attributes):
    dtype: DType


def _cast_compute(dtype: DType, data: te.Tensor, result: TensorType) -> te.Tensor:
    def element(*i: Any) -> Value:
        value: Value = data[i]
        return (
            te.not_equal(value, te.const(0, data.dtype))
            if dtype.is_bool and not data.dtype.is_bool
            else te.cast(value, dtype)
        )

    return te.compute(result.shape, element, name="cast")


CAST = define(
    "cast",
    "The elements as another type: floats to integers truncate, saturate and take NaN to 0; integers wrap.",
    inputs={"data": "[..]"},
    attributes=CastAttributes,
    type_rule=lambda run, attributes: TensorType(run.tensor(0).shape, attributes.dtype),
    meaning=lambda attributes, data: to_dtype(data, attributes.dtype),
    compute=lambda attributes, inputs, result: _cast_compute(attributes.dtype, inputs[0], result),
    fusion=FusionKind.ELEMWISE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_cast"),
    scale=ROUNDS,
    support_level=3,
)
CAST_LIKE = define(
    "cast_like",
    "The elements as the type of another tensor.",
    inputs={"data": "[..]", "dtype_like": "[..], whose element type is taken"},
    type_rule=lambda run, _: TensorType(run.tensor(0).shape, run.tensor(1).dtype),
    meaning=lambda _, data, like: to_dtype(data, element_type(like)),
    compute=lambda _, inputs, result: _cast_compute(inputs[1].dtype, inputs[0], result),
    fusion=FusionKind.ELEMWISE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_cast"),
    scale=ROUNDS,
    support_level=3,
)


def _reinterpret_rule(run: RelationRun, attributes: CastAttributes) -> Type:
    data = run.tensor(0)
    if DType.BOOL in (data.dtype, attributes.dtype) or data.dtype.bits != attributes.dtype.bits:
        run.conflict("wrong-dtype", "`dtype` must have as many bits as the elements of `data`",
                     f"a number type of {data.dtype.bits} bits, as {data.dtype} is", attributes.dtype, (0,),
                     "cast to a type of that width first")  # fmt: skip
    return TensorType(data.shape, attributes.dtype)


def _reinterpret_compute(attributes: CastAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    def element(*i: Any) -> Value:
        value = inputs[0][i]
        return value if value.dtype is attributes.dtype else Intrinsic("reinterpret", (value,), attributes.dtype)

    return te.compute(result.shape, element, name="reinterpret")


REINTERPRET = define(
    "reinterpret",
    "The bits of the elements as numbers of another type, which is as wide.",
    inputs={"data": "[..], a number type"},
    attributes=CastAttributes,
    type_rule=_reinterpret_rule,
    meaning=lambda attributes, data: np.asarray(data).view(attributes.dtype.numpy),
    compute=_reinterpret_compute,
    fusion=FusionKind.ELEMWISE,
    layout=Elementwise(),
    effect=Effect.PURE,
    gradient=NotDifferentiable("the bits of a number are not a continuous function of it"),
    support_level=3,
)

CONVERSIONS: tuple[OperatorRecord, ...] = (CAST, CAST_LIKE, REINTERPRET)


def cast(data: Argument, dtype: str | DType) -> Call:
    """The elements as `dtype`. Floats to integers truncate, saturate and take NaN to 0; integers wrap.

    data[..] → [..].  Raises `unknown-dtype`.
    """
    return call(CAST, (data,), CastAttributes(dtype_of(dtype)))


def cast_like(data: Argument, dtype_like: Argument) -> Call:
    """The elements of `data` as the type of `dtype_like`.   data[..] → [..]"""
    return call(CAST_LIKE, (data, dtype_like))


def reinterpret(data: Argument, dtype: str | DType) -> Call:
    """The bits of the elements as numbers of `dtype`, which has as many bits.   data[..] → [..].  Raises `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> print(reinterpret(var("x", shape=("n",)), "int32").checked_type)
    Tensor[(n,), int32]
    """
    return call(REINTERPRET, (data,), CastAttributes(dtype_of(dtype)))

"""Comparisons, tests of single elements, and choice by a condition.   lhs[..] × rhs[..] → bool [..]"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relay import te
from relay.base.dtypes import DType
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.elementwise.elementwise_binary import binary_call
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import ANY_DTYPE, broadcast_compute, broadcast_indices, broadcast_rule, unary_rule
from relay.ops.framework.layout_rule import Broadcasting, Elementwise
from relay.ops.framework.record import PIECEWISE_CONSTANT, FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, rounded_once
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.expr import Value


def _comparison(
    name: str, description: str, function: Callable[[Array, Array], Array], value: Callable[[Value, Value], Value]
) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"lhs": "[..]", "rhs": "[..], of the same type, broadcast against lhs"},
        type_rule=broadcast_rule(ANY_DTYPE, DType.BOOL),
        meaning=lambda _, lhs, rhs: rounded_once(function, DType.BOOL, lhs, rhs),
        compute=broadcast_compute(value, name),
        fusion=FusionKind.BROADCAST,
        layout=Broadcasting(),
        gradient=PIECEWISE_CONSTANT,
        effect=Effect.PURE,
        support_level=4,
    )


def _test(
    name: str, description: str, function: Callable[[Array], Array], value: Callable[[Value], Value], of_integers: bool
) -> OperatorRecord:
    def meaning(_: Any, data: Array) -> Array:
        return rounded_once(
            lambda x: function(x) if x.dtype.kind == "f" else np.full(x.shape, of_integers), DType.BOOL, data
        )

    def compute(_: Any, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
        (data,) = inputs
        if not data.dtype.is_float:
            return te.compute(result.shape, lambda *_: te.const(of_integers, DType.BOOL), name=name)
        return te.compute(result.shape, lambda *i: value(data[i]), name=name)

    return define(
        name,
        description,
        inputs={"data": "[..]"},
        type_rule=unary_rule(ANY_DTYPE, DType.BOOL),
        meaning=meaning,
        compute=compute,
        fusion=FusionKind.ELEMWISE,
        layout=Elementwise(),
        gradient=PIECEWISE_CONSTANT,
        effect=Effect.PURE,
        support_level=3,
    )


EQUAL = _comparison("equal", "True where both are the same number.", np.equal, te.equal)
NOT_EQUAL = _comparison("not_equal", "True where they differ.", np.not_equal, te.not_equal)
LESS = _comparison("less", "True where lhs is below rhs.", np.less, te.less)
LESS_EQUAL = _comparison("less_equal", "True where lhs is not above rhs.", np.less_equal, te.less_equal)
GREATER = _comparison("greater", "True where lhs is above rhs.", np.greater, te.greater)
GREATER_EQUAL = _comparison("greater_equal", "True where lhs is not below rhs.", np.greater_equal, te.greater_equal)
ISNAN = _test("isnan", "True where an element is not a number.", np.isnan, te.is_nan, False)
ISINF = _test("isinf", "True where an element is infinite.", np.isinf, te.is_inf, False)
ISFINITE = _test("isfinite", "True where an element is a finite number.", np.isfinite, te.is_finite, True)


def _where_rule(run: RelationRun, _: Any) -> Type:
    """condition[..] × x[..] × y[..] → their common broadcast shape"""
    condition, x, y = run.tensor(0), run.tensor(1), run.tensor(2)
    run.dtype_in(0, lambda dtype: dtype.is_bool or dtype.is_integer, "bool or an integer type")
    if x.dtype is not y.dtype:
        run.conflict(
            "dtypes-differ", "`x` and `y` must have one element type", x.dtype, y.dtype, (1, 2), "cast one of them"
        )
    return TensorType(run.broadcast(condition.shape, run.broadcast(x.shape, y.shape)), x.dtype)


def _where_compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    condition, x, y = inputs

    def element(*i: Any) -> Value:
        chosen, yes, no = (each[broadcast_indices(each, i, result.shape)] for each in (condition, x, y))
        test = chosen if condition.dtype.is_bool else te.not_equal(chosen, te.const(0, condition.dtype))
        return te.select(test, yes, no)

    return te.compute(result.shape, element, name="where")


WHERE = define(
    "where",
    "x where the condition is true (not 0), else y.",
    inputs={"condition": "[..], bool or integer", "x": "[..]", "y": "[..], of the type of x"},
    type_rule=_where_rule,
    meaning=lambda _, condition, x, y: np.where(condition != 0, x, y),
    compute=_where_compute,
    fusion=FusionKind.BROADCAST,
    layout=Broadcasting(),
    effect=Effect.PURE,
    gradient=gradient_above("elementwise", "of_where"),
    scale=NO_SCALE_YET,
    support_level=4,
)

COMPARISONS: tuple[OperatorRecord, ...] = (
    EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ISNAN, ISINF, ISFINITE, WHERE,
)  # fmt: skip


def where(condition: Argument, x: Argument, y: Argument) -> Call:
    """`x` where `condition` is true (integers: not 0), else `y`; all three broadcast.

    condition[..] × x[..] × y[..] → [..].  Raises `RelayError`: `dtypes-differ`, `extents-differ`, `wrong-dtype`.
    """
    return call(WHERE, (condition, x, y))


def equal(lhs: Argument, rhs: Argument) -> Call:
    """lhs == rhs of each pair.   lhs[..] × rhs[..] → bool [..]"""
    return binary_call(EQUAL, lhs, rhs)


def not_equal(lhs: Argument, rhs: Argument) -> Call:
    """lhs != rhs of each pair.   lhs[..] × rhs[..] → bool [..]"""
    return binary_call(NOT_EQUAL, lhs, rhs)


def less(lhs: Argument, rhs: Argument) -> Call:
    """lhs < rhs of each pair.   lhs[..] × rhs[..] → bool [..]"""
    return binary_call(LESS, lhs, rhs)


def less_equal(lhs: Argument, rhs: Argument) -> Call:
    """lhs <= rhs of each pair.   lhs[..] × rhs[..] → bool [..]"""
    return binary_call(LESS_EQUAL, lhs, rhs)


def greater(lhs: Argument, rhs: Argument) -> Call:
    """lhs > rhs of each pair.   lhs[..] × rhs[..] → bool [..]"""
    return binary_call(GREATER, lhs, rhs)


def greater_equal(lhs: Argument, rhs: Argument) -> Call:
    """lhs >= rhs of each pair.   lhs[..] × rhs[..] → bool [..]"""
    return binary_call(GREATER_EQUAL, lhs, rhs)


def isnan(data: Argument) -> Call:
    """True where an element is NaN.   data[..] → bool [..]"""
    return call(ISNAN, (data,))


def isinf(data: Argument) -> Call:
    """True where an element is infinite.   data[..] → bool [..]"""
    return call(ISINF, (data,))


def isfinite(data: Argument) -> Call:
    """True where an element is a finite number.   data[..] → bool [..]"""
    return call(ISFINITE, (data,))

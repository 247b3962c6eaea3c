"""Functions of two elements, with broadcasting: add, power, left_shift, ….   lhs[..] × rhs[..] → [..]"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relay import te
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ops.framework.build import Argument, as_expr, call, known_dtype
from relay.ops.framework.elementwise import (
    BOOLS,
    INTEGERS,
    INTEGERS_OR_BOOLS,
    NUMBERS,
    Accepts,
    broadcast_compute,
    broadcast_rule,
)  # fmt: skip
from relay.ops.framework.layout_rule import Broadcasting
from relay.ops.framework.record import (  # fmt: skip
    NO_GRADIENT_YET,
    PIECEWISE_CONSTANT,
    FusionKind,
    Gradient,
    GradientRule,
    OperatorRecord,
    define,
    gradient_above,
    scale_role_of,
)
from relay.ops.framework.rounding import Array, same_dtype
from relay.ops.framework.scale_role import NO_SCALE_YET, Adds, ScaleRole, Scales
from relay.ops.framework.symbolic_integer import larger, smaller
from relay.tir.expr import BinaryOp, Value, binary


def _record(
    name: str, description: str, function: Callable[[Array, Array], Array], op: BinaryOp,
    accepts: Accepts = NUMBERS, level: int = 1, gradient: Gradient = NO_GRADIENT_YET,
    value: Callable[[Value, Value], Value] | None = None, scale: ScaleRole | None = None,
) -> OperatorRecord:  # fmt: skip
    return define(
        name,
        description,
        inputs={"lhs": f"[..], {accepts[1]}", "rhs": "[..], of the same type, broadcast against lhs"},
        type_rule=broadcast_rule(accepts),
        meaning=lambda _, lhs, rhs: same_dtype(function, lhs, rhs),
        compute=broadcast_compute(value or (lambda lhs, rhs: binary(op, lhs, rhs)), name),
        fusion=FusionKind.BROADCAST,
        layout=Broadcasting(),
        floating_point=FloatingPointClass.ROUNDING if op is BinaryOp.POWER else FloatingPointClass.EXACT,
        gradient=gradient,
        effect=Effect.PURE,
        scale=scale or scale_role_of(gradient) or NO_SCALE_YET,
        support_level=level,
    )


def by_slopes(*slopes: Callable[..., Argument]) -> GradientRule:
    """The gradient of a function of elements: the output gradient times the derivative by each input, which
    `slope(*inputs, result)` gives."""
    return lambda call, given: tuple(multiply(given, slope(*call.args, call)) for slope in slopes)


def is_float(x: Array) -> bool:
    return x.dtype.kind == "f"


def guarded(
    function: Callable[[Array, Array], Array], over_minus_one: Callable[[Array], Array]
) -> Callable[[Array, Array], Array]:
    """Integer division made total: by zero it gives 0, and the most negative number over -1 wraps."""

    def total(lhs: Array, rhs: Array) -> Array:
        if is_float(lhs):
            return function(lhs, rhs)
        lhs, rhs = np.broadcast_arrays(lhs, rhs)
        wraps = (rhs == -1) if lhs.dtype.kind == "i" else np.zeros(rhs.shape, bool)
        safe = np.where((rhs == 0) | wraps, np.ones_like(rhs), rhs)
        return np.where(rhs == 0, np.zeros_like(lhs), np.where(wraps, over_minus_one(lhs), function(lhs, safe)))

    return total


def _divide(lhs: Array, rhs: Array) -> Array:
    if is_float(lhs):
        return np.divide(lhs, rhs)
    quotient = np.asarray(np.floor_divide(lhs, rhs))
    inexact = np.not_equal(quotient * rhs, lhs, where=quotient < 0, out=np.zeros(quotient.shape, bool))
    return quotient + inexact.astype(lhs.dtype)


def _trunc_divide(lhs: Array, rhs: Array) -> Array:
    return np.trunc(np.divide(lhs, rhs)) if is_float(lhs) else _divide(lhs, rhs)


def _floor_divide(lhs: Array, rhs: Array) -> Array:
    return np.floor(np.divide(lhs, rhs)) if is_float(lhs) else np.floor_divide(lhs, rhs)


def _power(lhs: Array, rhs: Array) -> Array:
    """Integers by repeated squaring with wrapping; a negative exponent truncates 1 / lhs^-rhs, and 0 gives 0."""
    if is_float(lhs):
        return np.power(lhs, rhs)
    lhs, rhs = np.broadcast_arrays(lhs, rhs)
    positive = np.power(lhs, np.maximum(rhs, np.zeros_like(rhs)))
    odd = (rhs % 2 != 0).astype(lhs.dtype)
    unit = (
        np.where(lhs == 1, 1, np.where(lhs == -1, 1 - 2 * odd, 0)).astype(lhs.dtype) if lhs.dtype.kind == "i" else lhs
    )
    return np.where(rhs < 0, unit, positive) if lhs.dtype.kind == "i" else positive


def _divide_gradient(of_numerator: Call, call: Call) -> tuple[Expr, Expr]:
    """By the numerator `given / rhs`, by the denominator `-given / rhs * result`."""
    return of_numerator, multiply(multiply(of_numerator, call), -1.0)


def _shift(function: Callable[[Array, Array], Array], fills_with_sign: bool) -> Callable[[Array, Array], Array]:
    """Shifts made total: by the width or more (or by less than 0) every bit leaves."""

    def total(lhs: Array, rhs: Array) -> Array:
        lhs, rhs = np.broadcast_arrays(lhs, rhs)
        bits = lhs.dtype.itemsize * 8
        wide = (rhs < 0) | (rhs >= bits)
        empty = np.where(lhs < 0, -1, 0).astype(lhs.dtype) if fills_with_sign else np.zeros_like(lhs)
        return np.where(wide, empty, function(lhs, np.where(wide, np.zeros_like(rhs), rhs)))

    return total


def _trunc_divide_value(lhs: Value, rhs: Value) -> Value:
    quotient = binary(BinaryOp.DIVIDE, lhs, rhs)
    return te.trunc(quotient) if lhs.dtype.is_float else quotient


ADD = _record("add", "Sum.", np.add, BinaryOp.ADD, scale=Adds(), gradient=lambda _, given: (given, given))
SUBTRACT = _record("subtract", "Difference.", np.subtract, BinaryOp.SUBTRACT, scale=Adds(),
                   gradient=lambda _, given: (given, multiply(given, -1.0)))  # fmt: skip
MULTIPLY = _record("multiply", "Product.", np.multiply, BinaryOp.MULTIPLY, scale=Scales(),
                   gradient=by_slopes(lambda _, rhs, __: rhs, lambda lhs, _, __: lhs))  # fmt: skip
DIVIDE = _record("divide", "Quotient; integers truncate.", guarded(_divide, np.negative), BinaryOp.DIVIDE,
                 gradient=lambda call, given: _divide_gradient(divide(given, call.args[1]), call))  # fmt: skip
MOD = _record(
    "mod",
    "Remainder with the sign of lhs.",
    guarded(np.fmod, np.zeros_like),
    BinaryOp.MOD,
    gradient=gradient_above("elementwise", "of_trunc_mod"),
)
FLOOR_DIVIDE = _record("floor_divide", "Quotient rounded down.", guarded(_floor_divide, np.negative),
                       BinaryOp.FLOOR_DIVIDE, gradient=PIECEWISE_CONSTANT)  # fmt: skip
FLOOR_MOD = _record(
    "floor_mod",
    "Remainder with the sign of rhs.",
    guarded(np.mod, np.zeros_like),
    BinaryOp.FLOOR_MOD,
    gradient=gradient_above("elementwise", "of_floor_mod"),
)
TRUNC_DIVIDE = _record("trunc_divide", "Quotient rounded towards zero.", guarded(_trunc_divide, np.negative),
                       BinaryOp.DIVIDE, gradient=PIECEWISE_CONSTANT, value=_trunc_divide_value)  # fmt: skip
TRUNC_MOD = _record(
    "trunc_mod",
    "Remainder with the sign of lhs.",
    guarded(np.fmod, np.zeros_like),
    BinaryOp.MOD,
    gradient=gradient_above("elementwise", "of_trunc_mod"),
)
POWER = _record(
    "power",
    "lhs to the power of rhs.",
    _power,
    BinaryOp.POWER,
    level=4,
    gradient=gradient_above("elementwise", "of_power"),
)
MINIMUM = _record(
    "minimum",
    "The smaller; NaN wins.",
    smaller,
    BinaryOp.MINIMUM,
    level=4,
    gradient=gradient_above("elementwise", "of_extreme"),
)
MAXIMUM = _record(
    "maximum",
    "The larger; NaN wins.",
    larger,
    BinaryOp.MAXIMUM,
    level=4,
    gradient=gradient_above("elementwise", "of_extreme"),
)
LEFT_SHIFT = _record("left_shift", "Bits moved up; over-wide shifts give 0.", _shift(np.left_shift, False),
                     BinaryOp.LEFT_SHIFT, INTEGERS, 4, PIECEWISE_CONSTANT)  # fmt: skip
RIGHT_SHIFT = _record("right_shift", "Bits moved down, the sign kept; over-wide shifts give 0 or -1.",
                      _shift(np.right_shift, True), BinaryOp.RIGHT_SHIFT, INTEGERS, 4, PIECEWISE_CONSTANT)  # fmt: skip
BITWISE_AND = _record("bitwise_and", "Bits set in both.", np.bitwise_and, BinaryOp.AND, INTEGERS_OR_BOOLS, 4,
                      PIECEWISE_CONSTANT)  # fmt: skip
BITWISE_OR = _record("bitwise_or", "Bits set in one or both.", np.bitwise_or, BinaryOp.OR, INTEGERS_OR_BOOLS, 4,
                     PIECEWISE_CONSTANT)  # fmt: skip
BITWISE_XOR = _record("bitwise_xor", "Bits set in one.", np.bitwise_xor, BinaryOp.XOR, INTEGERS_OR_BOOLS, 4,
                      PIECEWISE_CONSTANT)  # fmt: skip
LOGICAL_AND = _record("logical_and", "True where both are.", np.logical_and, BinaryOp.AND, BOOLS, 4,
                      PIECEWISE_CONSTANT)  # fmt: skip
LOGICAL_OR = _record("logical_or", "True where one or both are.", np.logical_or, BinaryOp.OR, BOOLS, 4,
                     PIECEWISE_CONSTANT)  # fmt: skip
LOGICAL_XOR = _record("logical_xor", "True where one is.", np.logical_xor, BinaryOp.XOR, BOOLS, 4,
                      PIECEWISE_CONSTANT)  # fmt: skip

BINARY: tuple[OperatorRecord, ...] = (
    ADD, SUBTRACT, MULTIPLY, DIVIDE, MOD, FLOOR_DIVIDE, FLOOR_MOD, TRUNC_DIVIDE, TRUNC_MOD, POWER, MINIMUM, MAXIMUM,
    LEFT_SHIFT, RIGHT_SHIFT, BITWISE_AND, BITWISE_OR, BITWISE_XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR,
)  # fmt: skip


def binary_call(record: OperatorRecord, lhs: Argument, rhs: Argument) -> Call:
    """The call of a two-sided operator. A Python number takes the element type of the other side, if it can hold it.

    Raises `RelayError`: `dtypes-differ`, `extents-differ`, `wrong-dtype`.
    """
    return call(record, (as_expr(lhs, _number_dtype(lhs, rhs)), as_expr(rhs, _number_dtype(rhs, lhs))))


def _number_dtype(number: Argument, other: Argument) -> DType | None:
    """The element type of the other side, if a Python number is one of its values."""
    dtype = known_dtype(other)
    if dtype is None:
        return None
    match number:
        case bool():
            return dtype if dtype.is_bool else None
        case int():
            return dtype if dtype.is_float or (dtype.is_integer and _holds(dtype, number)) else None
        case float():
            return dtype if dtype.is_float else None
        case _:
            return None


def _holds(dtype: DType, number: int) -> bool:
    return te.lowest(dtype) <= number <= te.highest(dtype)


def add(lhs: Argument, rhs: Argument) -> Call:
    """lhs + rhs. Integers wrap.   lhs[..] × rhs[..] → [..]"""
    return binary_call(ADD, lhs, rhs)


def subtract(lhs: Argument, rhs: Argument) -> Call:
    """lhs - rhs. Integers wrap.   lhs[..] × rhs[..] → [..]"""
    return binary_call(SUBTRACT, lhs, rhs)


def multiply(lhs: Argument, rhs: Argument) -> Call:
    """lhs * rhs. Integers wrap.   lhs[..] × rhs[..] → [..]"""
    return binary_call(MULTIPLY, lhs, rhs)


def divide(lhs: Argument, rhs: Argument) -> Call:
    """lhs / rhs. Integers truncate towards zero; by zero they give 0.   lhs[..] × rhs[..] → [..]"""
    return binary_call(DIVIDE, lhs, rhs)


def mod(lhs: Argument, rhs: Argument) -> Call:
    """The remainder with the sign of lhs; of integers by zero, 0.   lhs[..] × rhs[..] → [..]"""
    return binary_call(MOD, lhs, rhs)


def floor_divide(lhs: Argument, rhs: Argument) -> Call:
    """lhs / rhs rounded down; of integers by zero, 0.   lhs[..] × rhs[..] → [..]"""
    return binary_call(FLOOR_DIVIDE, lhs, rhs)


def floor_mod(lhs: Argument, rhs: Argument) -> Call:
    """The remainder with the sign of rhs; of integers by zero, 0.   lhs[..] × rhs[..] → [..]"""
    return binary_call(FLOOR_MOD, lhs, rhs)


def trunc_divide(lhs: Argument, rhs: Argument) -> Call:
    """lhs / rhs rounded towards zero; of integers by zero, 0.   lhs[..] × rhs[..] → [..]"""
    return binary_call(TRUNC_DIVIDE, lhs, rhs)


def trunc_mod(lhs: Argument, rhs: Argument) -> Call:
    """The remainder with the sign of lhs; of integers by zero, 0.   lhs[..] × rhs[..] → [..]"""
    return binary_call(TRUNC_MOD, lhs, rhs)


def power(lhs: Argument, rhs: Argument) -> Call:
    """lhs to the power of rhs.   lhs[..] × rhs[..] → [..]"""
    return binary_call(POWER, lhs, rhs)


def minimum(lhs: Argument, rhs: Argument) -> Call:
    """The smaller of both; NaN wins.   lhs[..] × rhs[..] → [..]"""
    return binary_call(MINIMUM, lhs, rhs)


def maximum(lhs: Argument, rhs: Argument) -> Call:
    """The larger of both; NaN wins.   lhs[..] × rhs[..] → [..]"""
    return binary_call(MAXIMUM, lhs, rhs)


def left_shift(lhs: Argument, rhs: Argument) -> Call:
    """lhs * 2^rhs, of integers, by bits; 0 when rhs is the width or more.   lhs[..] × rhs[..] → [..]"""
    return binary_call(LEFT_SHIFT, lhs, rhs)


def right_shift(lhs: Argument, rhs: Argument) -> Call:
    """lhs / 2^rhs rounded down, of integers; 0 or -1 when rhs is the width or more.   lhs[..] × rhs[..] → [..]"""
    return binary_call(RIGHT_SHIFT, lhs, rhs)


def bitwise_and(lhs: Argument, rhs: Argument) -> Call:
    """The bits set in both, of integers or bools.   lhs[..] × rhs[..] → [..]"""
    return binary_call(BITWISE_AND, lhs, rhs)


def bitwise_or(lhs: Argument, rhs: Argument) -> Call:
    """The bits set in one or both, of integers or bools.   lhs[..] × rhs[..] → [..]"""
    return binary_call(BITWISE_OR, lhs, rhs)


def bitwise_xor(lhs: Argument, rhs: Argument) -> Call:
    """The bits set in one of them, of integers or bools.   lhs[..] × rhs[..] → [..]"""
    return binary_call(BITWISE_XOR, lhs, rhs)


def logical_and(lhs: Argument, rhs: Argument) -> Call:
    """True where both are, of bools.   lhs[..] × rhs[..] → [..]"""
    return binary_call(LOGICAL_AND, lhs, rhs)


def logical_or(lhs: Argument, rhs: Argument) -> Call:
    """True where one or both are, of bools.   lhs[..] × rhs[..] → [..]"""
    return binary_call(LOGICAL_OR, lhs, rhs)


def logical_xor(lhs: Argument, rhs: Argument) -> Call:
    """True where one is, of bools.   lhs[..] × rhs[..] → [..]"""
    return binary_call(LOGICAL_XOR, lhs, rhs)

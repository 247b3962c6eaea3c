"""Functions of each element: exp, sqrt, floor, ….   data[..] → [..]"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relay import te
from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ops.elementwise.elementwise_binary import add, by_slopes, divide, multiply, subtract
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import (
    BOOLS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Accepts,
    unary_compute,
    unary_meaning,
    unary_rule,
)  # fmt: skip
from relay.ops.framework.layout_rule import Elementwise
from relay.ops.framework.record import (
    NO_GRADIENT_YET,
    PIECEWISE_CONSTANT,
    PRIMITIVE,
    Formula,
    FusionKind,
    Gradient,
    NoFormula,
    NotDifferentiable,
    OperatorRecord,
    PrecisionRule,
    define,
    scale_role_of,
)  # fmt: skip
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import NOT_LINEAR, PassesScale, ScaleRole
from relay.tir.expr import Value


def _record(
    name: str, description: str, function: Callable[[Array], Array], value: Callable[[Value], Value],
    accepts: Accepts = FLOATS, level: int = 1, gradient: Gradient = NO_GRADIENT_YET,
    precision: PrecisionRule | None = None, formula: Formula | NoFormula = PRIMITIVE,
    scale: ScaleRole | None = None,
) -> OperatorRecord:  # fmt: skip
    return define(
        name,
        description,
        inputs={"data": f"[..], {accepts[1]}"},
        type_rule=unary_rule(accepts),
        meaning=unary_meaning(function),
        compute=unary_compute(value, name.replace(".", "_")),
        fusion=FusionKind.ELEMWISE,
        layout=Elementwise(),
        floating_point=FloatingPointClass.ROUNDING if accepts is FLOATS else FloatingPointClass.EXACT,
        gradient=gradient,
        effect=Effect.PURE,
        scale=scale or scale_role_of(gradient) or NOT_LINEAR,
        support_level=level,
        precision=precision,
        formula=formula,
    )


def _rounding(name: str, description: str, function: Callable[[Array], Array],
              value: Callable[[Value], Value]) -> OperatorRecord:  # fmt: skip
    """A function that gives whole numbers: integers are themselves."""
    return _record(
        name, description,
        lambda x: function(x) if x.dtype.kind == "f" else x,
        lambda v: value(v) if v.dtype.is_float else v,
        NUMBERS, level=3, gradient=PIECEWISE_CONSTANT,
    )  # fmt: skip


def round_half_away(x: Array) -> Array:
    """Nearest whole number, halves away from zero.

    >>> round_half_away(np.array([0.5, -2.5, 0.49999999999999994]))
    array([ 1., -3.,  0.])
    """
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1.0, x), 0.0).astype(x.dtype)


def sigmoid_of(x: Array) -> Array:
    """1 / (1 + e^-x), without overflow on either side."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)


def erf_of(x: Array) -> Array:
    """The error function."""
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=x.dtype)


def _negative(x: Array) -> Array:
    return np.negative(x) if x.dtype.kind != "u" else (0 - x).astype(x.dtype)


ABS = _record("abs", "Magnitude. The most negative integer stays as it is.", np.abs, te.abs, NUMBERS, 3,
              scale=PassesScale(only_positive=True),
    gradient=by_slopes(lambda x, _: sign(x)))  # fmt: skip
NEGATIVE = _record("negative", "Minus each element; integers wrap.", _negative, te.negative, NUMBERS, 3,
                   scale=PassesScale(only_positive=False),
    gradient=by_slopes(lambda _, __: -1.0))  # fmt: skip
SIGN = _record("sign", "-1, 0 or 1; NaN of NaN.", np.sign, te.sign, NUMBERS, 3, PIECEWISE_CONSTANT)
EXP = _record("exp", "e to the power of each element.", np.exp, te.exp,
    gradient=by_slopes(lambda _, y: y))  # fmt: skip
LOG = _record("log", "Natural logarithm.", np.log, te.log,
    gradient=by_slopes(lambda x, _: divide(1.0, x)))  # fmt: skip
LOG2 = _record("log2", "Logarithm to base 2.", np.log2, te.log2,
    gradient=by_slopes(lambda x, _: divide(1 / math.log(2), x)))  # fmt: skip
LOG10 = _record("log10", "Logarithm to base 10.", np.log10, te.log10,
    gradient=by_slopes(lambda x, _: divide(1 / math.log(10), x)))  # fmt: skip
SQRT = _record("sqrt", "Square root.", np.sqrt, te.sqrt, precision=PrecisionRule.FOLLOW,
    gradient=by_slopes(lambda _, y: divide(0.5, y)))  # fmt: skip
RSQRT = _record("rsqrt", "1 / square root.", lambda x: 1 / np.sqrt(x), te.rsqrt,
                precision=PrecisionRule.FOLLOW, formula=lambda _, x: divide(1.0, sqrt(x)),
    gradient=by_slopes(lambda x, y: multiply(divide(y, x), -0.5)))  # fmt: skip
TANH = _record("tanh", "Hyperbolic tangent.", np.tanh, te.tanh, precision=PrecisionRule.FOLLOW,
    gradient=by_slopes(lambda _, y: subtract(1.0, multiply(y, y))))  # fmt: skip
SIGMOID = _record("sigmoid", "1 / (1 + e^-x).", sigmoid_of, te.sigmoid, precision=PrecisionRule.FOLLOW,
                  formula=lambda _, x: divide(1.0, add(exp(negative(x)), 1.0)),
    gradient=by_slopes(lambda _, y: multiply(y, subtract(1.0, y))))  # fmt: skip
ERF = _record("erf", "The error function.", erf_of, te.erf, precision=PrecisionRule.FOLLOW,
    gradient=by_slopes(lambda x, _: multiply(exp(negative(multiply(x, x))), 2 / math.sqrt(math.pi))))  # fmt: skip
SIN = _record("sin", "Sine, of radians.", np.sin, te.sin,
    gradient=by_slopes(lambda x, _: cos(x)))  # fmt: skip
COS = _record("cos", "Cosine, of radians.", np.cos, te.cos,
    gradient=by_slopes(lambda x, _: negative(sin(x))))  # fmt: skip
TAN = _record("tan", "Tangent, of radians.", np.tan, te.tan,
    gradient=by_slopes(lambda _, y: add(multiply(y, y), 1.0)))  # fmt: skip
ASIN = _record("asin", "Inverse sine, in radians.", np.arcsin, te.asin,
    gradient=by_slopes(lambda x, _: rsqrt(subtract(1.0, multiply(x, x)))))  # fmt: skip
ACOS = _record("acos", "Inverse cosine, in radians.", np.arccos, te.acos,
    gradient=by_slopes(lambda x, _: negative(rsqrt(subtract(1.0, multiply(x, x))))))  # fmt: skip
ATAN = _record("atan", "Inverse tangent, in radians.", np.arctan, te.atan,
    gradient=by_slopes(lambda x, _: divide(1.0, add(multiply(x, x), 1.0))))  # fmt: skip
SINH = _record("sinh", "Hyperbolic sine.", np.sinh, te.sinh,
    gradient=by_slopes(lambda x, _: cosh(x)))  # fmt: skip
COSH = _record("cosh", "Hyperbolic cosine.", np.cosh, te.cosh,
    gradient=by_slopes(lambda x, _: sinh(x)))  # fmt: skip
ASINH = _record("asinh", "Inverse hyperbolic sine.", np.arcsinh, te.asinh,
    gradient=by_slopes(lambda x, _: rsqrt(add(multiply(x, x), 1.0))))  # fmt: skip
ACOSH = _record("acosh", "Inverse hyperbolic cosine.", np.arccosh, te.acosh,
    gradient=by_slopes(lambda x, _: multiply(rsqrt(subtract(x, 1.0)), rsqrt(add(x, 1.0)))))  # fmt: skip
ATANH = _record("atanh", "Inverse hyperbolic tangent.", np.arctanh, te.atanh,
    gradient=by_slopes(lambda x, _: divide(1.0, subtract(1.0, multiply(x, x)))))  # fmt: skip
FLOOR = _rounding("floor", "The largest whole number not above.", np.floor, te.floor)
CEIL = _rounding("ceil", "The smallest whole number not below.", np.ceil, te.ceil)
TRUNC = _rounding("trunc", "The whole part, towards zero.", np.trunc, te.trunc)
ROUND = _rounding("round", "The nearest whole number, halves away from zero.", round_half_away, te.round)
LOGICAL_NOT = _record("logical_not", "True where false.", np.logical_not, te.logical_not, BOOLS, 4, PIECEWISE_CONSTANT)
BITWISE_NOT = _record("bitwise_not", "Each bit flipped.", np.invert, te.logical_not, INTEGERS, 4, PIECEWISE_CONSTANT)


def _same(name: str, description: str, gradient: Gradient) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"data": "[..]"},
        type_rule=lambda run, _: run.tensor(0),
        meaning=lambda _, data: data.copy(),
        compute=unary_compute(lambda v: v, name),
        fusion=FusionKind.ELEMWISE,
        layout=Elementwise(),
        effect=Effect.PURE,
        gradient=gradient,
        scale=PassesScale(only_positive=False),
        support_level=3,
    )


COPY = _same("copy", "The same elements.", lambda _, given: (given,))
STOP_GRADIENT = _same(
    "stop_gradient", "The same elements, which count as constants when a program is differentiated.",
    NotDifferentiable("programs say so by it"),
)  # fmt: skip

UNARY: tuple[OperatorRecord, ...] = (
    ABS, NEGATIVE, SIGN, EXP, LOG, LOG2, LOG10, SQRT, RSQRT, TANH, SIGMOID, ERF, SIN, COS, TAN, ASIN, ACOS, ATAN, SINH,
    COSH, ASINH, ACOSH, ATANH, FLOOR, CEIL, TRUNC, ROUND, LOGICAL_NOT, BITWISE_NOT, COPY,
    STOP_GRADIENT,
)  # fmt: skip


def abs(data: Argument) -> Call:  # noqa: A001
    """|data| of each element. Numbers of any type; the most negative integer stays as it is.   data[..] → [..]"""
    return call(ABS, (data,))


def negative(data: Argument) -> Call:
    """Minus each element. Integers wrap.   data[..] → [..]"""
    return call(NEGATIVE, (data,))


def sign(data: Argument) -> Call:
    """-1, 0 or 1 by the sign of each element; NaN of NaN.   data[..] → [..]"""
    return call(SIGN, (data,))


def exp(data: Argument) -> Call:
    """e to the power of each element. Floats.   data[..] → [..]"""
    return call(EXP, (data,))


def log(data: Argument) -> Call:
    """Natural logarithm of each element. Floats; NaN below 0, -inf at 0.   data[..] → [..]"""
    return call(LOG, (data,))


def log2(data: Argument) -> Call:
    """Logarithm to base 2 of each element. Floats.   data[..] → [..]"""
    return call(LOG2, (data,))


def log10(data: Argument) -> Call:
    """Logarithm to base 10 of each element. Floats.   data[..] → [..]"""
    return call(LOG10, (data,))


def sqrt(data: Argument) -> Call:
    """Square root of each element. Floats; NaN below 0.   data[..] → [..]"""
    return call(SQRT, (data,))


def rsqrt(data: Argument) -> Call:
    """1 / sqrt of each element. Floats.   data[..] → [..]"""
    return call(RSQRT, (data,))


def tanh(data: Argument) -> Call:
    """Hyperbolic tangent of each element. Floats.   data[..] → [..]"""
    return call(TANH, (data,))


def sigmoid(data: Argument) -> Call:
    """1 / (1 + e^-x) of each element. Floats.   data[..] → [..]"""
    return call(SIGMOID, (data,))


def erf(data: Argument) -> Call:
    """Error function of each element. Floats.   data[..] → [..]"""
    return call(ERF, (data,))


def sin(data: Argument) -> Call:
    """Sine of each element, in radians. Floats.   data[..] → [..]"""
    return call(SIN, (data,))


def cos(data: Argument) -> Call:
    """Cosine of each element, in radians. Floats.   data[..] → [..]"""
    return call(COS, (data,))


def tan(data: Argument) -> Call:
    """Tangent of each element, in radians. Floats.   data[..] → [..]"""
    return call(TAN, (data,))


def asin(data: Argument) -> Call:
    """Inverse sine of each element, in radians. Floats.   data[..] → [..]"""
    return call(ASIN, (data,))


def acos(data: Argument) -> Call:
    """Inverse cosine of each element, in radians. Floats.   data[..] → [..]"""
    return call(ACOS, (data,))


def atan(data: Argument) -> Call:
    """Inverse tangent of each element, in radians. Floats.   data[..] → [..]"""
    return call(ATAN, (data,))


def sinh(data: Argument) -> Call:
    """Hyperbolic sine of each element. Floats.   data[..] → [..]"""
    return call(SINH, (data,))


def cosh(data: Argument) -> Call:
    """Hyperbolic cosine of each element. Floats.   data[..] → [..]"""
    return call(COSH, (data,))


def asinh(data: Argument) -> Call:
    """Inverse hyperbolic sine of each element. Floats.   data[..] → [..]"""
    return call(ASINH, (data,))


def acosh(data: Argument) -> Call:
    """Inverse hyperbolic cosine of each element. Floats.   data[..] → [..]"""
    return call(ACOSH, (data,))


def atanh(data: Argument) -> Call:
    """Inverse hyperbolic tangent of each element. Floats.   data[..] → [..]"""
    return call(ATANH, (data,))


def floor(data: Argument) -> Call:
    """The largest whole number not above each element. Integers are themselves.   data[..] → [..]"""
    return call(FLOOR, (data,))


def ceil(data: Argument) -> Call:
    """The smallest whole number not below each element. Integers are themselves.   data[..] → [..]"""
    return call(CEIL, (data,))


def trunc(data: Argument) -> Call:
    """The whole part of each element, towards zero. Integers are themselves.   data[..] → [..]"""
    return call(TRUNC, (data,))


def round(data: Argument) -> Call:  # noqa: A001
    """The nearest whole number, halves away from zero (not to even, as NumPy has it).   data[..] → [..]"""
    return call(ROUND, (data,))


def logical_not(data: Argument) -> Call:
    """True where `data` is false. Bools.   data[..] → [..]"""
    return call(LOGICAL_NOT, (data,))


def bitwise_not(data: Argument) -> Call:
    """Every bit of each element flipped. Integers.   data[..] → [..]"""
    return call(BITWISE_NOT, (data,))


def copy(data: Argument) -> Call:
    """The same elements in memory of their own.   data[..] → [..]"""
    return call(COPY, (data,))


def stop_gradient(data: Argument) -> Call:
    """The same elements, which count as constants when a program is differentiated.   data[..] → [..]

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> float(relay.build(relay.grad(relay.Function([x], x * relay.stop_gradient(x)), wrt=0))(3.0))
    3.0
    """
    return call(STOP_GRADIENT, (data,))

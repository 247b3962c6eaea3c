"""Functions of elements that Relay has no operator for, in terms of those that it has."""

from __future__ import annotations

import math
from typing import Any

from relay import op
from relay.frontend.python.library.arithmetic import combined, common_dtype, converted, equated
from relay.ir.expr import Expr


def hypotenuse(x: Expr, y: Expr) -> Expr:
    """sqrt(x² + y²), of the ratio to the larger: squares do not overflow."""
    larger, smaller = op.maximum(op.abs(x), op.abs(y)), op.minimum(op.abs(x), op.abs(y))
    none = equated("equal", larger, 0)
    ratio = combined("divide", smaller, op.where(none, op.ones_like(larger), larger))
    return op.multiply(larger, op.sqrt(combined("add", op.multiply(ratio, ratio), 1.0)))


def angle(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y), from -pi to pi."""
    flat = equated("equal", x, 0)
    slope = op.atan(op.divide(y, op.where(flat, op.ones_like(x), x)))
    half = op.where(equated("less", y, 0), _like(slope, -math.pi), _like(slope, math.pi))
    behind = op.where(equated("less", x, 0), op.add(slope, half), slope)
    up = combined("multiply", op.sign(y), math.pi / 2)
    return op.where(flat, up, behind)


def _like(x: Expr, value: float) -> Expr:
    return op.full_like(x, converted(value, common_dtype((x,))))


def log1p(x: Expr) -> Expr:
    """log(1 + x), near 0 too: the rounding of 1 + x is divided out (Kahan)."""
    near = combined("add", x, 1.0)
    apart = combined("subtract", near, 1.0)
    exact = equated("equal", apart, 0)
    ratio = op.divide(x, op.where(exact, op.ones_like(apart), apart))
    return op.where(exact, x, op.multiply(op.log(near), ratio))


def expm1(x: Expr) -> Expr:
    """exp(x) - 1, near 0 too, in the same way."""
    power = op.exp(x)
    less = combined("subtract", power, 1.0)
    is_near = op.less(op.abs(x), _like(x, 0.5))
    exact = equated("equal", less, 0)
    safe = op.where(op.logical_and(is_near, op.logical_not(exact)), op.log(power), op.ones_like(x))
    return op.where(exact, x, op.where(is_near, op.divide(op.multiply(less, x), safe), less))


def cube_root(x: Expr) -> Expr:
    return op.multiply(op.sign(x), op.power(op.abs(x), _like(x, 1 / 3)))


def exp2(x: Expr) -> Expr:
    return op.power(_like(x, 2.0), x)


def log_sum(x: Expr, y: Expr) -> Expr:
    """log(exp(x) + exp(y))."""
    apart = op.negative(op.abs(op.subtract(x, y)))
    return op.add(op.maximum(x, y), log1p(op.exp(apart)))


def signed_as(x: Expr, y: Expr) -> Expr:
    """|x| with the sign of y, which zeros have too: one over it is infinite."""
    is_negative = op.logical_or(equated("less", y, 0), equated("less", combined("divide", 1, y), 0))
    return op.where(is_negative, op.negative(op.abs(x)), op.abs(x))


def but_nan(name: str) -> Any:
    """`maximum` or `minimum` that leaves NaN out."""

    def extreme(x: Expr, y: Expr) -> Expr:
        chosen = getattr(op, name)(x, y)
        return op.where(op.isnan(x), op.add(y, op.zeros_like(chosen)), op.where(op.isnan(y), x, chosen))

    return extreme

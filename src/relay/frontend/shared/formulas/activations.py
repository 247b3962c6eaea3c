"""Formulas of activation functions that are no operators of Relay.   x[..] → [..]"""

from __future__ import annotations

import math

from relay.base.dtypes import DType
from relay.ir.expr import Expr, const
from relay.ops.elementwise.activation import clip
from relay.ops.elementwise.comparison import greater, less, where
from relay.ops.elementwise.elementwise_binary import add, divide, maximum, minimum, multiply, subtract
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import exp, log, negative, tanh


def scaled(x: Expr, factor: float, dtype: DType) -> Expr:
    """factor · x"""
    return x if factor == 1.0 else multiply(x, const(factor, dtype))


def exponential_unit(x: Expr, alpha: float, inner: float, gamma: float, dtype: DType) -> Expr:
    """gamma · (max(0, x) + alpha · (e^(min(0, x) / inner) - 1)): ELU, SELU and CELU."""
    zero = const(0, dtype)
    below = subtract(exp(scaled(minimum(x, zero), 1 / inner, dtype)), const(1, dtype))
    return scaled(add(maximum(x, zero), scaled(below, alpha, dtype)), gamma, dtype)


def softplus(x: Expr, dtype: DType) -> Expr:
    """log(1 + e^x), as max(x, 0) + log(1 + e^-|x|), which does not overflow."""
    tail = log(add(const(1, dtype), exp(negative(magnitude(x)))))
    return add(maximum(x, const(0, dtype)), tail)


def softsign(x: Expr, dtype: DType) -> Expr:
    """x / (1 + |x|)"""
    return divide(x, add(const(1, dtype), magnitude(x)))


def hard_sigmoid(x: Expr, alpha: float, beta: float, dtype: DType) -> Expr:
    """alpha · x + beta, between 0 and 1."""
    return clip(add(scaled(x, alpha, dtype), const(beta, dtype)), 0.0, 1.0)


def mish(x: Expr, dtype: DType) -> Expr:
    """x · tanh(softplus(x))"""
    return multiply(x, tanh(softplus(x, dtype)))


def gelu_by_tanh(x: Expr, dtype: DType) -> Expr:
    """x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) (Hendrycks and Gimpel 2016, 1606.08415, section 2)."""
    cube = multiply(multiply(x, x), x)
    inner = tanh(multiply(add(x, multiply(cube, const(0.044715, dtype))), const(math.sqrt(2 / math.pi), dtype)))
    return multiply(multiply(x, const(0.5, dtype)), add(inner, const(1, dtype)))


def shrink(x: Expr, limit: float, bias: float, dtype: DType) -> Expr:
    """x - bias above `limit`, x + bias below -limit, 0 between."""
    shift = const(bias, dtype)
    below = where(less(x, const(-limit, dtype)), add(x, shift), const(0, dtype))
    return where(greater(x, const(limit, dtype)), subtract(x, shift), below)


def rectified(x: Expr, slope: Expr, dtype: DType) -> Expr:
    """x, times `slope`, which broadcasts against it, where it is negative."""
    return where(less(x, const(0, dtype)), multiply(x, slope), x)


def above(x: Expr, limit: float, otherwise: float, dtype: DType) -> Expr:
    """x above `limit`, else a number."""
    return where(greater(x, const(limit, dtype)), x, const(otherwise, dtype))

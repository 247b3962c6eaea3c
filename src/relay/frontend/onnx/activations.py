"""Activation functions: operators of Relay where it has them, else their formulas.   x[..] → [..]"""

from __future__ import annotations

import math

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr, const
from relay.ops import activation, comparison, softmax
from relay.ops.elementwise_binary import add, divide, maximum, minimum, multiply, subtract
from relay.ops.elementwise_unary import abs as magnitude
from relay.ops.elementwise_unary import erf, exp, log, negative, sigmoid, tanh
from relay.ops.index import one_hot
from relay.ops.reduce_index import argmax


def _scaled(x: Expr, factor: float, dtype: DType) -> Expr:
    return x if factor == 1.0 else multiply(x, const(factor, dtype))


def _relu(node: OnnxNode) -> Result:
    return activation.relu(node.expr())


def _leaky_relu(node: OnnxNode) -> Result:
    return activation.leaky_relu(node.expr(), node.float("alpha"))


def _prelu(node: OnnxNode) -> Result:
    """x, times the slope where it is negative; the slope broadcasts against x."""
    x = node.expr()
    return comparison.where(comparison.less(x, const(0, node.value(0).dtype)), multiply(x, node.expr(1)), x)


def _thresholded_relu(node: OnnxNode) -> Result:
    x, dtype = node.expr(), node.value(0).dtype
    return comparison.where(comparison.greater(x, const(node.float("alpha"), dtype)), x, const(0, dtype))


def _exponential(node: OnnxNode, alpha: float, inner: float, gamma: float) -> Result:
    """gamma · (max(0, x) + alpha · (e^(min(0, x) / inner) - 1))"""
    x, dtype = node.expr(), node.value(0).dtype
    zero = const(0, dtype)
    below = subtract(exp(_scaled(minimum(x, zero), 1 / inner, dtype)), const(1, dtype))
    return _scaled(add(maximum(x, zero), _scaled(below, alpha, dtype)), gamma, dtype)


def _elu(node: OnnxNode) -> Result:
    return _exponential(node, node.float("alpha"), 1.0, 1.0)


def _selu(node: OnnxNode) -> Result:
    return _exponential(node, node.float("alpha"), 1.0, node.float("gamma"))


def _celu(node: OnnxNode) -> Result:
    alpha = node.float("alpha")
    if alpha == 0:
        node.unsupported("with alpha 0")
    return _exponential(node, alpha, alpha, 1.0)


def _softplus(x: Expr, dtype: DType) -> Expr:
    """log(1 + e^x), as max(x, 0) + log(1 + e^-|x|), which does not overflow."""
    tail = log(add(const(1, dtype), exp(negative(magnitude(x)))))
    return add(maximum(x, const(0, dtype)), tail)


def _softsign(node: OnnxNode) -> Result:
    return divide(node.expr(), add(const(1, node.value(0).dtype), magnitude(node.expr())))


def _mish(node: OnnxNode) -> Result:
    return multiply(node.expr(), tanh(_softplus(node.expr(), node.value(0).dtype)))


def _hard_sigmoid_of(x: Expr, alpha: float, beta: float, dtype: DType) -> Expr:
    return activation.clip(add(_scaled(x, alpha, dtype), const(beta, dtype)), 0.0, 1.0)


def _hard_sigmoid(node: OnnxNode) -> Result:
    return _hard_sigmoid_of(node.expr(), node.float("alpha"), node.float("beta"), node.value(0).dtype)


def _hard_swish(node: OnnxNode) -> Result:
    return multiply(node.expr(), _hard_sigmoid_of(node.expr(), 1 / 6, 0.5, node.value(0).dtype))


def _swish(node: OnnxNode) -> Result:
    return multiply(node.expr(), sigmoid(_scaled(node.expr(), node.float("alpha"), node.value(0).dtype)))


def _gelu(node: OnnxNode) -> Result:
    """x / 2 · (1 + erf(x / √2)), or with tanh (Hendrycks and Gimpel 2016, 1606.08415, section 2)."""
    x, dtype = node.expr(), node.value(0).dtype
    match node.text("approximate"):
        case "none":
            inner: Expr = erf(multiply(x, const(math.sqrt(0.5), dtype)))
        case "tanh":
            cube = multiply(multiply(x, x), x)
            inner = tanh(multiply(add(x, multiply(cube, const(0.044715, dtype))), const(math.sqrt(2 / math.pi), dtype)))
        case other:
            node.unsupported(f"with approximate {other!r}")
    return multiply(multiply(x, const(0.5, dtype)), add(inner, const(1, dtype)))


def _shrink(node: OnnxNode) -> Result:
    """x - bias above lambda, x + bias below -lambda, 0 between."""
    x, dtype = node.expr(), node.value(0).dtype
    bias, limit = const(node.float("bias"), dtype), node.float("lambd")
    below = comparison.where(comparison.less(x, const(-limit, dtype)), add(x, bias), const(0, dtype))
    return comparison.where(comparison.greater(x, const(limit, dtype)), subtract(x, bias), below)


def _hardmax(node: OnnxNode) -> Result:
    """1 at the first largest element along the axis, 0 elsewhere."""
    axis, value = node.axis(), node.value(0)
    depth = value.shape[axis]
    if not isinstance(depth, int):
        node.unsupported("along a symbolic axis")
    first = argmax(value.expr, axis)
    return one_hot(first, const(1, value.dtype), const(0, value.dtype), depth, axis, value.dtype)


ACTIVATIONS: tuple[Converter, ...] = (
    converter("Relu", _relu),
    converter("LeakyRelu", _leaky_relu, "alpha"),
    converter("PRelu", _prelu),
    converter("ThresholdedRelu", _thresholded_relu, "alpha"),
    converter("Elu", _elu, "alpha"),
    converter("Selu", _selu, "alpha", "gamma"),
    converter("Celu", _celu, "alpha"),
    converter("Softplus", lambda node: _softplus(node.expr(), node.value(0).dtype)),
    converter("Softsign", _softsign),
    converter("Mish", _mish),
    converter("HardSigmoid", _hard_sigmoid, "alpha", "beta"),
    converter("HardSwish", _hard_swish),
    converter("Swish", _swish, "alpha"),
    converter("Gelu", _gelu, "approximate"),
    converter("Shrink", _shrink, "bias", "lambd"),
    converter("Softmax", lambda node: softmax.softmax(node.expr(), node.axis()), "axis"),
    converter("LogSoftmax", lambda node: softmax.log_softmax(node.expr(), node.axis()), "axis"),
    converter("Hardmax", _hardmax, "axis"),
)

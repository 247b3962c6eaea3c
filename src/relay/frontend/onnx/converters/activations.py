"""Activation functions: operators of Relay where it has them, else their formulas.   x[..] → [..]"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.activations import (
    above,
    exponential_unit,
    gelu_by_tanh,
    mish,
    rectified,
    scaled,
    shrink,
    softplus,
)
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr, const
from relay.ops.elementwise import activation
from relay.ops.elementwise.elementwise_binary import add, divide, multiply
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import sigmoid
from relay.ops.indexing.index import one_hot
from relay.ops.nn import softmax
from relay.ops.reduction.reduce_index import argmax


def _relu(node: OnnxNode) -> Result:
    return activation.relu(node.expr())


def _leaky_relu(node: OnnxNode) -> Result:
    return activation.leaky_relu(node.expr(), node.float("alpha"))


def _prelu(node: OnnxNode) -> Result:
    return rectified(node.expr(), node.expr(1), node.value(0).dtype)


def _thresholded_relu(node: OnnxNode) -> Result:
    return above(node.expr(), node.float("alpha"), 0, node.value(0).dtype)


def _elu(node: OnnxNode) -> Result:
    return exponential_unit(node.expr(), node.float("alpha"), 1.0, 1.0, node.value(0).dtype)


def _selu(node: OnnxNode) -> Result:
    return exponential_unit(node.expr(), node.float("alpha"), 1.0, node.float("gamma"), node.value(0).dtype)


def _celu(node: OnnxNode) -> Result:
    alpha = node.float("alpha")
    if alpha == 0:
        node.unsupported("with alpha 0")
    return exponential_unit(node.expr(), alpha, alpha, 1.0, node.value(0).dtype)


def _softsign(node: OnnxNode) -> Result:
    return divide(node.expr(), add(const(1, node.value(0).dtype), magnitude(node.expr())))


def _hard_sigmoid_of(x: Expr, alpha: float, beta: float, dtype: DType) -> Expr:
    return activation.clip(add(scaled(x, alpha, dtype), const(beta, dtype)), 0.0, 1.0)


def _hard_sigmoid(node: OnnxNode) -> Result:
    return _hard_sigmoid_of(node.expr(), node.float("alpha"), node.float("beta"), node.value(0).dtype)


def _hard_swish(node: OnnxNode) -> Result:
    return multiply(node.expr(), _hard_sigmoid_of(node.expr(), 1 / 6, 0.5, node.value(0).dtype))


def _swish(node: OnnxNode) -> Result:
    return multiply(node.expr(), sigmoid(scaled(node.expr(), node.float("alpha"), node.value(0).dtype)))


def _gelu(node: OnnxNode) -> Result:
    approximate = node.text("approximate")
    if approximate not in ("none", "tanh"):
        node.unsupported(f"with approximate {approximate!r}")
    return activation.gelu(node.expr()) if approximate == "none" else gelu_by_tanh(node.expr(), node.value(0).dtype)


def _shrink(node: OnnxNode) -> Result:
    return shrink(node.expr(), node.float("lambd"), node.float("bias"), node.value(0).dtype)


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
    converter("Softplus", lambda node: softplus(node.expr(), node.value(0).dtype)),
    converter("Softsign", _softsign),
    converter("Mish", lambda node: mish(node.expr(), node.value(0).dtype)),
    converter("HardSigmoid", _hard_sigmoid, "alpha", "beta"),
    converter("HardSwish", _hard_swish),
    converter("Swish", _swish, "alpha"),
    converter("Gelu", _gelu, "approximate"),
    converter("Shrink", _shrink, "bias", "lambd"),
    converter("Softmax", lambda node: softmax.softmax(node.expr(), node.axis()), "axis"),
    converter("LogSoftmax", lambda node: softmax.log_softmax(node.expr(), node.axis()), "axis"),
    converter("Hardmax", _hardmax, "axis"),
)

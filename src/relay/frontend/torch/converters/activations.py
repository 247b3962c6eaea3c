"""Activation functions: operators of Relay where it has them, else their formulas.   x[..] → [..]"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relay.frontend.shared.formulas.activations import (
    above,
    exponential_unit,
    gelu_by_tanh,
    mish,
    rectified,
    scaled,
    shrink,
    softplus,
)
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr
from relay.ops.elementwise import activation
from relay.ops.elementwise.comparison import greater, where
from relay.ops.elementwise.elementwise_binary import multiply
from relay.ops.elementwise.elementwise_unary import negative, sigmoid
from relay.ops.manipulation.combine import split
from relay.ops.manipulation.shape import reshape
from relay.ops.nn import softmax


def _plain(function: Callable[[Any], Expr]) -> Callable[[TorchNode], Result]:
    return lambda node: function(node.operand())


def _elu(node: TorchNode) -> Result:
    alpha, scale, input_scale = (node.number(index, 1) for index in (1, 2, 3))
    return exponential_unit(node.operand(), alpha, 1 / input_scale, scale, node.dtype)


def _celu(node: TorchNode) -> Result:
    alpha = node.number(1, 1)
    return exponential_unit(node.operand(), alpha, alpha, 1.0, node.dtype)


def _selu(node: TorchNode) -> Result:
    return exponential_unit(node.operand(), 1.6732632423543772, 1.0, 1.0507009873554805, node.dtype)


def _gelu(node: TorchNode) -> Result:
    x = node.operand()
    return gelu_by_tanh(x, node.dtype) if node.text("approximate") == "tanh" else activation.gelu(x)


def _softplus(node: TorchNode) -> Result:
    """log(1 + e^(beta · x)) / beta, and x itself where beta · x is above the threshold."""
    x, beta, threshold = node.operand(), node.number(1, 1), node.number(2, 20)
    large = scaled(x, beta, node.dtype)
    return where(greater(large, threshold), x, scaled(softplus(large, node.dtype), 1 / beta, node.dtype))


def _prelu(node: TorchNode) -> Result:
    """A slope for each channel, axis 1, or one for all."""
    x, slope = node.value(0), node.value(1)
    shape = tuple(slope.shape[0] if axis == 1 and slope.rank == 1 else 1 for axis in range(x.rank))
    return rectified(x.expr, reshape(slope.expr, shape) if slope.rank == 1 else slope.expr, node.dtype)


def _softmax(function: Callable[..., Expr]) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        if node.value(0).rank:
            return function(node.operand(), node.axis("dim"))
        return reshape(function(reshape(node.operand(), (1,)), 0), ())

    return convert


def _glu(node: TorchNode) -> Result:
    """The first half along an axis times the sigmoid of the second."""
    first, second = split(node.operand(), 2, node.axis("dim", default=-1))
    return multiply(first, sigmoid(second))


def _log_sigmoid(node: TorchNode) -> Result:
    return negative(softplus(negative(node.operand()), node.dtype))


_PLAIN: Mapping[str, Callable[[Any], Expr]] = {
    "relu": activation.relu, "silu": activation.silu, "hardswish": activation.hard_swish,
    "hardsigmoid": activation.hard_sigmoid,
}  # fmt: skip

ACTIVATIONS: tuple[Converter, ...] = (
    *(record for name, function in _PLAIN.items() for record in converters(name, _plain(function))),
    *converters("leaky_relu", lambda node: activation.leaky_relu(node.operand(), node.number(1, 0.01))),
    *converters("hardtanh", lambda node: activation.clip(node.operand(), node.number(1, -1), node.number(2, 1))),
    *converters("relu6", lambda node: activation.clip(node.operand(), 0, 6)),
    *converters("elu", _elu),
    *converters("celu", _celu),
    *converters("selu", _selu),
    *converters("gelu", _gelu, "approximate"),
    *converters("mish", lambda node: mish(node.operand(), node.dtype)),
    *converters("softplus", _softplus),
    *converters("log_sigmoid", _log_sigmoid),
    *converters("prelu", _prelu),
    *converters("threshold", lambda node: above(node.operand(), node.number(1, 0), node.number(2, 0), node.dtype)),
    *converters("hardshrink", lambda node: shrink(node.operand(), node.number(1, 0.5), 0, node.dtype)),
    *converters(
        "softshrink", lambda node: shrink(node.operand(), node.number(1, 0.5), node.number(1, 0.5), node.dtype)
    ),
    *converters("glu", _glu, "dim"),
    *converters("softmax", _softmax(softmax.softmax), "dim", "dtype", overloads=("int",)),
    *converters("_softmax", _softmax(softmax.softmax), "dim", "half_to_float"),
    *converters("log_softmax", _softmax(softmax.log_softmax), "dim", "dtype", overloads=("int",)),
    *converters("_log_softmax", _softmax(softmax.log_softmax), "dim", "half_to_float"),
)

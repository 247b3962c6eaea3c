"""Activation functions: operators of Relay where it has them, else their formulas.   x[..] → [..]"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.activations import (
    above,
    exponential_unit,
    gelu_by_tanh,
    hard_sigmoid,
    mish,
    rectified,
    scaled,
    shrink,
    softplus,
    softsign,
)
from relay.frontend.shared.formulas.triangles import positions
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.elementwise import activation
from relay.ops.elementwise.comparison import equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import multiply
from relay.ops.elementwise.elementwise_unary import sigmoid
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import one_hot
from relay.ops.manipulation.shape import expand_dims, reshape
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


def _hard_sigmoid(node: OnnxNode) -> Result:
    return hard_sigmoid(node.expr(), node.float("alpha"), node.float("beta"), node.value(0).dtype)


def _hard_swish(node: OnnxNode) -> Result:
    return multiply(node.expr(), hard_sigmoid(node.expr(), 1 / 6, 0.5, node.value(0).dtype))


def _swish(node: OnnxNode) -> Result:
    return multiply(node.expr(), sigmoid(scaled(node.expr(), node.float("alpha"), node.value(0).dtype)))


def _gelu(node: OnnxNode) -> Result:
    approximate = node.text("approximate")
    if approximate not in ("none", "tanh"):
        node.unsupported(f"with approximate {approximate!r}")
    return activation.gelu(node.expr()) if approximate == "none" else gelu_by_tanh(node.expr(), node.value(0).dtype)


def _shrink(node: OnnxNode) -> Result:
    return shrink(node.expr(), node.float("lambd"), node.float("bias"), node.value(0).dtype)


def _hardmax(_: OnnxNode, value: Value, axis: int) -> Expr:
    """1 at the first largest element along the axis, 0 elsewhere."""
    depth, first = value.shape[axis], argmax(value.expr, axis)
    if not isinstance(depth, int):
        places = reshape(positions((value, axis)), (depth, *(1 for _ in range(axis + 1, value.rank))))
        return cast(equal(expand_dims(cast(first, DType.INT64), axis), places), value.dtype)
    return one_hot(first, const(1, value.dtype), const(0, value.dtype), depth, axis, value.dtype)


def _along_axis(function: Callable[[OnnxNode, Value, int], Expr]) -> Callable[[OnnxNode], Result]:
    """Along one axis; before opset 13 over all axes from that one on, taken together."""

    def convert(node: OnnxNode) -> Result:
        value = node.value(0)
        if node.opset >= 13 or value.rank == 0:
            return function(node, value, node.axis())
        axis = node.axis(rank=value.rank + 1) if node.int("axis") >= 0 else node.axis()
        if axis == value.rank - 1:
            return function(node, value, axis)
        sides = product(value.shape[:axis]), product(value.shape[axis:])
        rows = Value(value.name, reshape(value.expr, sides), TensorType(sides, value.dtype))
        return reshape(function(node, rows, 1), value.shape)

    return convert


_ALONG_AXIS: Mapping[str, Callable[[OnnxNode, Value, int], Expr]] = {
    "Softmax": lambda _, value, axis: softmax.softmax(value.expr, axis),
    "LogSoftmax": lambda _, value, axis: softmax.log_softmax(value.expr, axis),
    "Hardmax": _hardmax,
}

ACTIVATIONS: tuple[Converter, ...] = (
    converter("Relu", _relu),
    converter("LeakyRelu", _leaky_relu, "alpha"),
    converter("PRelu", _prelu),
    converter("ThresholdedRelu", _thresholded_relu, "alpha"),
    converter("Elu", _elu, "alpha"),
    converter("Selu", _selu, "alpha", "gamma"),
    converter("Celu", _celu, "alpha"),
    converter("Softplus", lambda node: softplus(node.expr(), node.value(0).dtype)),
    converter("Softsign", lambda node: softsign(node.expr(), node.value(0).dtype)),
    converter("Mish", lambda node: mish(node.expr(), node.value(0).dtype)),
    converter("HardSigmoid", _hard_sigmoid, "alpha", "beta"),
    converter("HardSwish", _hard_swish),
    converter("Swish", _swish, "alpha"),
    converter("Gelu", _gelu, "approximate"),
    converter("Shrink", _shrink, "bias", "lambd"),
    *(converter(name, _along_axis(each), "axis", changes=(13,)) for name, each in _ALONG_AXIS.items()),
)

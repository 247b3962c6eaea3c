"""Operators that work element by element: arithmetic, comparison, logic, bits.   x[..] (× y[..]) → [..]"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.rounding import round_to_even
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value, is_symbolic
from relay.ir.expr import Call, const
from relay.ops.elementwise import activation, comparison, convert
from relay.ops.elementwise import elementwise_binary as binary
from relay.ops.elementwise import elementwise_unary as unary

Binary = Callable[[Any, Any], Call]


def _unary(function: Callable[[Any], Call]) -> Callable[[OnnxNode], Result]:
    return lambda node: function(node.expr())


def _binary(function: Binary) -> Callable[[OnnxNode], Result]:
    return lambda node: function(node.expr(0), node.expr(1))


def _variadic(function: Binary) -> Callable[[OnnxNode], Result]:
    return lambda node: reduce(function, (value.expr for value in node.values()))


def _mean(node: OnnxNode) -> Result:
    total = reduce(binary.add, (value.expr for value in node.values()))
    return binary.multiply(total, const(1 / len(node.inputs), node.value(0).dtype))


def _mod(node: OnnxNode) -> Result:
    """With fmod the sign of the dividend, else that of the divisor."""
    return (binary.mod if node.int("fmod") else binary.floor_mod)(node.expr(0), node.expr(1))


def _pow(node: OnnxNode) -> Result:
    """x ** y in the type of x; small constant exponents need no logarithm."""
    x, dtype = node.expr(), node.value(0).dtype
    exponent = node.known_scalar(1)
    if exponent == 2 and node.value(1).rank <= node.value(0).rank:
        return binary.multiply(x, x)
    if exponent == 0.5 and dtype.is_float and node.value(1).rank <= node.value(0).rank:
        return unary.sqrt(x)
    y, other = node.expr(1), node.value(1).dtype
    if dtype == other:
        return binary.power(x, y)
    if dtype.is_float or not other.is_float:
        return binary.power(x, convert.cast(y, dtype))
    return convert.cast(binary.power(convert.cast(x, other), y), dtype)


def _bit_shift(node: OnnxNode) -> Result:
    function = {"LEFT": binary.left_shift, "RIGHT": binary.right_shift}.get(node.text("direction"))
    if function is None:
        node.unsupported(f"with direction {node.text('direction')!r}")
    return function(node.expr(0), node.expr(1))


def _clip(node: OnnxNode) -> Result:
    """Between two scalars; a bound that is left out is none. Where they cross, the upper one is the result."""
    value, low, high = node.value(0), node.optional_value(1), node.optional_value(2)
    least = -np.inf if low is None else node.known_scalar(1)
    most = np.inf if high is None else node.known_scalar(2)
    if least is not None and most is not None and least <= most and value.dtype.is_float:
        return activation.clip(value.expr, least, most)
    result = value.expr
    if low is not None:
        result = binary.maximum(result, low.expr)
    return result if high is None else binary.minimum(result, high.expr)


def _is_inf(node: OnnxNode) -> Result:
    x, dtype = node.expr(), node.value(0).dtype
    positive, negative = node.int("detect_positive"), node.int("detect_negative")
    if positive and negative:
        return comparison.isinf(x)
    if positive or negative:
        return comparison.equal(x, const(np.inf if positive else -np.inf, dtype))
    return comparison.not_equal(x, x) if not dtype.is_float else binary.logical_and(
        comparison.isinf(x), comparison.isfinite(x)
    )  # fmt: skip


def _reciprocal(node: OnnxNode) -> Result:
    return binary.divide(const(1.0, node.value(0).dtype), node.expr())


def _one_truth(value: Value) -> bool | None:
    """What all elements of a tensor of bools are, where that follows from shapes."""
    known = value.known
    if known is None or not value.from_shapes or is_symbolic(known) or (known.any() and not known.all()):
        return None
    return bool(known.all())


def _logical(function: Binary, deciding: bool) -> Callable[[OnnxNode], Result]:
    """`deciding` on one side is the result, whatever the other side is."""

    def convert(node: OnnxNode) -> Result:
        left, right = node.value(0), node.value(1)
        for value in (left, right):
            if _one_truth(value) is deciding and left.shape == right.shape:
                return value
        return function(left.expr, right.expr)

    return convert


def _where(node: OnnxNode) -> Result:
    """A condition that is known takes its side now, and with it what is known of that side."""
    condition, then, otherwise = node.values()
    truth = _one_truth(condition)
    if truth is not None:
        chosen = then if truth else otherwise
        if all(chosen.shape == each.shape or each.rank == 0 for each in (condition, then, otherwise)):
            return chosen
    return comparison.where(node.expr(0), node.expr(1), node.expr(2))


_UNARY = {
    "Abs": unary.abs, "Neg": unary.negative, "Sign": unary.sign, "Exp": unary.exp, "Log": unary.log,
    "Sqrt": unary.sqrt, "Tanh": unary.tanh, "Sigmoid": unary.sigmoid, "Erf": unary.erf, "Sin": unary.sin,
    "Cos": unary.cos, "Tan": unary.tan, "Asin": unary.asin, "Acos": unary.acos, "Atan": unary.atan,
    "Sinh": unary.sinh, "Cosh": unary.cosh, "Asinh": unary.asinh, "Acosh": unary.acosh, "Atanh": unary.atanh,
    "Floor": unary.floor, "Ceil": unary.ceil, "Not": unary.logical_not, "BitwiseNot": unary.bitwise_not,
    "IsNaN": comparison.isnan,
}  # fmt: skip
_BINARY = {
    "Add": binary.add, "Sub": binary.subtract, "Mul": binary.multiply, "Div": binary.divide,
    "Xor": binary.logical_xor, "BitwiseAnd": binary.bitwise_and,
    "BitwiseOr": binary.bitwise_or, "BitwiseXor": binary.bitwise_xor, "Equal": comparison.equal,
    "Less": comparison.less, "LessOrEqual": comparison.less_equal, "Greater": comparison.greater,
    "GreaterOrEqual": comparison.greater_equal,
}  # fmt: skip
_VARIADIC = {"Sum": binary.add, "Max": binary.maximum, "Min": binary.minimum}

ELEMENTWISE: tuple[Converter, ...] = (
    *(converter(name, _unary(function)) for name, function in _UNARY.items()),
    *(converter(name, _binary(function)) for name, function in _BINARY.items()),
    *(converter(name, _variadic(function)) for name, function in _VARIADIC.items()),
    converter("And", _logical(binary.logical_and, False)),
    converter("Or", _logical(binary.logical_or, True)),
    converter("Mean", _mean),
    converter("Round", lambda node: round_to_even(node.expr(), node.value(0).dtype)),
    converter("Mod", _mod, "fmod"),
    converter("Pow", _pow),
    converter("BitShift", _bit_shift, "direction"),
    converter("Clip", _clip),
    converter("IsInf", _is_inf, "detect_positive", "detect_negative"),
    converter("Reciprocal", _reciprocal),
    converter("Where", _where),
)

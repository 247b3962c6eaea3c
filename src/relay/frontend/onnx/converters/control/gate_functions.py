"""Activation functions of recurrent layers, which nodes name, with their alpha and beta.   x[..] → [..]"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from relay.frontend.onnx.node import OnnxNode
from relay.frontend.shared.formulas.activations import above, exponential_unit, hard_sigmoid, scaled, softplus, softsign
from relay.ir.expr import Expr, const
from relay.ops.elementwise.activation import clip, leaky_relu, relu
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.elementwise.elementwise_unary import sigmoid, tanh

GateFunction: TypeAlias = Callable[[Expr], Expr]

_FORMULAS: Mapping[str, tuple[Callable[..., Expr], tuple[float, ...]]] = {
    "sigmoid": (lambda x, _: sigmoid(x), ()),
    "tanh": (lambda x, _: tanh(x), ()),
    "relu": (lambda x, _: relu(x), ()),
    "softsign": (softsign, ()),
    "softplus": (softplus, ()),
    "leakyrelu": (lambda x, _, alpha: leaky_relu(x, alpha), (0.01,)),
    "thresholdedrelu": (lambda x, dtype, alpha: above(x, alpha, 0, dtype), (1.0,)),
    "elu": (lambda x, dtype, alpha: exponential_unit(x, alpha, 1.0, 1.0, dtype), (1.0,)),
    "affine": (lambda x, dtype, alpha, beta: add(scaled(x, alpha, dtype), const(beta, dtype)), (1.0, 0.0)),
    "scaledtanh": (lambda x, dtype, alpha, beta: scaled(tanh(scaled(x, beta, dtype)), alpha, dtype), (1.0, 1.0)),
    "hardsigmoid": (lambda x, dtype, alpha, beta: hard_sigmoid(x, alpha, beta, dtype), (0.2, 0.5)),
}
"""By name in small letters: the formula of x, its element type, alpha and beta, and what those that it has are worth
where a node says nothing."""

_CLIPPED = 2


def gate_functions(node: OnnxNode, usual: Sequence[str], ways: int) -> list[tuple[GateFunction, ...]]:
    """The functions of each direction. `clip` bounds what the first two, which make gates and candidates, are given;
    the third, an LSTM's function of its memory, takes that as it is, as onnxruntime has it."""
    names: Any = node.attributes.get("activations", tuple(usual) * ways)
    alphas, betas = (iter(_numbers(node, f"activation_{name}")) for name in ("alpha", "beta"))
    if len(names) < len(usual) * ways:
        node.unsupported(f"with {len(names)} activations")
    limit = node.float("clip") if node.has("clip") else None
    functions = [
        _function(node, str(name), alphas, betas, limit if position % len(usual) < _CLIPPED else None)
        for position, name in enumerate(names[: len(usual) * ways])
    ]
    return [tuple(functions[way * len(usual) : (way + 1) * len(usual)]) for way in range(ways)]


def _numbers(node: OnnxNode, name: str) -> tuple[float, ...]:
    return tuple(float(each) for each in node.ints(name, ()))


def _function(
    node: OnnxNode, name: str, alphas: Iterator[float], betas: Iterator[float], limit: float | None
) -> GateFunction:
    """Numbers belong to the functions that have them, in their order."""
    if name.lower() not in _FORMULAS:
        node.unsupported(f"with the activation {name}")
    formula, usual = _FORMULAS[name.lower()]
    numbers = [next(given, default) for given, default in zip((alphas, betas), usual, strict=False)]
    dtype = node.value(0).dtype

    def apply(x: Expr) -> Expr:
        return formula(x if limit is None else clip(x, -limit, limit), dtype, *numbers)

    return apply

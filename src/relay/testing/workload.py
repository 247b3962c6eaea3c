"""From a network to a module and seeded parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.ir.expr import Call, Expr, Function, Op, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.traversal import children, post_order
from relay.ir.types import TensorType
from relay.ir.variables import free_vars

Parameters = dict[str, NDArray[Any]]

_RELU_GAIN = 2.0
_RESIDUAL_GAIN = 0.25
_PASSING = ("nn.batch_norm", "nn.bias_add")


def network(body: Expr) -> Function:
    """The function of a body over its free variables, in the order they are met: the data first, then the weights."""
    return Function(free_vars(body), body)


def create_workload(net: Function, seed: int = 0, inputs: int = 1) -> tuple[IRModule, Parameters]:
    """`(module whose @main is net, a value for each parameter but the first)`, or but the first `inputs`.

    Weights are normal with variance 2 / fan-in (He et al. 2015, 1502.01852, section 2.2), an eighth of that where a
    residual sum follows, so that activations stay near 1 through the depth; gamma and variance are near 1, the other
    vectors near 0. Drawn in the order of the parameters from `seed`.
    """
    random = np.random.default_rng(seed)
    spreads = _weight_deviations(net)
    return IRModule.from_expr(net), {var.name_hint: _value(var, spreads, random) for var in net.params[inputs:]}


def _value(var: Var, spreads: dict[str, float], random: np.random.Generator) -> NDArray[Any]:
    type_ = var.type_annotation
    if not isinstance(type_, TensorType):
        raise TypeError(f"the parameter {var.name_hint} has no tensor type")
    shape = tuple(extent for extent in type_.shape if isinstance(extent, int))
    noise = random.standard_normal(shape, dtype=np.float32)
    if var.name_hint in spreads:
        value = noise * np.float32(spreads[var.name_hint])
    elif var.name_hint.endswith("_var"):
        value = np.abs(1 + noise * np.float32(0.1))
    elif var.name_hint.endswith("_gamma"):
        value = 1 + noise * np.float32(0.1)
    else:
        value = noise * np.float32(0.05)
    return value.astype(type_.dtype.numpy)


def _weight_deviations(net: Function) -> dict[str, float]:
    """The standard deviation of each weight, from the call that uses it."""
    users = _users(net.body)
    deviations: dict[str, float] = {}
    for node in post_order(net.body):
        if isinstance(node, Call) and _operator(node) in _FAN_IN_AXES and isinstance(weight := node.args[1], Var):
            gain = _RESIDUAL_GAIN if _joins_a_sum(node, users) else _RELU_GAIN
            deviations[weight.name_hint] = math.sqrt(gain / _fan_in(node, weight))
    return deviations


_FAN_IN_AXES = {"nn.conv2d": "IHW", "nn.conv2d_transpose": "I", "nn.dense": "I"}
"""The letters of the kernel's layout over which one output element sums. The taps of a transposed convolution are
spread over as many elements as its strides say, so they hardly count."""


def _fan_in(node: Call, weight: Var) -> int:
    layout = getattr(node.attrs, "kernel_layout", "OI")
    shape = weight.type_annotation.shape if isinstance(weight.type_annotation, TensorType) else ()
    extents = [extent for letter, extent in zip(layout, shape, strict=True) if letter in _FAN_IN_AXES[_operator(node)]]
    return math.prod(extent for extent in extents if isinstance(extent, int))


def _joins_a_sum(node: Expr, users: dict[Expr, list[Expr]]) -> bool:
    """Whether, but for a normalisation or bias, an `add` is the one use of this node."""
    while True:
        using = users.get(node, [])
        if len(using) != 1:
            return False
        node = using[0]
        if isinstance(node, TupleGetItem) or _operator(node) in _PASSING:
            continue
        return _operator(node) == "add"


def _users(body: Expr) -> dict[Expr, list[Expr]]:
    users: dict[Expr, list[Expr]] = {}
    for node in post_order(body):
        for child in children(node):
            users.setdefault(child, []).append(node)
    return users


def _operator(node: Expr) -> str:
    return node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else ""

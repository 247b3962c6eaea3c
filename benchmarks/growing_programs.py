"""Programs of any number of operators, for what compilation costs for each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import relay
from relay import nn
from relay.ir.expr import Expr, Function


def chain(operators: int) -> Function:
    """Each operator reads the one before."""
    x = value = relay.var("x", shape=(64,))
    for number in range(operators):
        value = relay.tanh(value) if number % 2 else nn.relu(value)
    return Function([x], value)


def sharing_chain(operators: int) -> Function:
    """Every second value is read twice: written out, the last has 2^(operators / 2) leaves."""
    x = value = relay.var("x", shape=(64,))
    for _ in range(operators // 2):
        value = value * relay.sigmoid(value)
    return Function([x], value)


def rows(operators: int) -> Function:
    """Each row less its mean, again and again."""
    x = value = relay.var("x", shape=(32, 64))
    for _ in range(operators // 2):
        value = value - relay.mean(value, axis=-1, keepdims=True)
    return Function([x], value)


def wide(operators: int) -> Function:
    """One value that all others read, and a tree that adds them up."""
    x = relay.var("x", shape=(64,))
    shared = relay.tanh(x)
    values: list[Expr] = [nn.relu(shared + relay.const(float(number))) for number in range(operators // 3)]
    while len(values) > 1:
        pairs = [relay.add(left, right) for left, right in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return Function([x], values[0])


def deep(operators: int) -> Function:
    """A network of residual layers, each with weights of its own."""
    x = value = relay.var("x", shape=(8, 32))
    random = np.random.default_rng(0)
    for _ in range(operators // 3):
        weights = relay.const((random.standard_normal((32, 32)) / 8).astype(np.float32))
        value = value + nn.relu(nn.dense(value, weights))
    return Function([x], value)


def unknown_extents(operators: int) -> Function:
    """A sharing chain with changes of shape, of a matrix both of whose extents only the run knows."""
    x = value = relay.var("x", shape=("n", "m"))
    for number in range(operators // 2):
        value = value * relay.sigmoid(value) if number % 4 else relay.transpose(nn.relu(value), axes=[1, 0])
    return Function([x], value)


PROGRAMS: dict[str, Callable[[int], Function]] = {
    "chain": chain, "sharing chain": sharing_chain, "rows": rows, "wide": wide, "deep": deep,
    "unknown extents": unknown_extents,
}  # fmt: skip

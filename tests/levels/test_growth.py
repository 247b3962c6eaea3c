"""Compilation is linear in the program, at every level, however often values are used: in calls, not in seconds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import relay
from relay import nn
from relay.ir.expr import Expr, Function
from relay.tir.stmt import PrimFunc
from relay.tir.traversal import statement_values, walk_statement, walk_value
from tests.growth import calls


def rolled(x: Expr) -> Expr:
    parts = (relay.strided_slice(x, begin=[1], end=[64]), relay.strided_slice(x, begin=[0], end=[1]))
    return relay.concatenate(parts, axis=0)


def widened(x: Expr) -> Expr:
    padded = nn.pad(relay.strided_slice(x, begin=[0], end=[63]), ((1, 0),))
    return relay.multiply(x, padded)


STEPS: dict[str, tuple[tuple[int | str, ...], str, Callable[[Expr], Expr]]] = {
    "sum with itself": ((64,), "float32", lambda x: x + x),
    "integers with themselves": ((64,), "int32", lambda x: x + x),
    "product with its sigmoid": ((64,), "float32", lambda x: x * relay.sigmoid(x)),
    "sum with its relu": ((64,), "float32", lambda x: x + nn.relu(x)),
    "less its mean": ((64,), "float32", lambda x: x - relay.mean(x)),
    "rows less their mean": ((8, 64), "float32", lambda x: x - relay.mean(x, axis=-1, keepdims=True)),
    "chosen by itself": ((64,), "float32", lambda x: relay.where(relay.less(x, relay.const(0.0)), relay.exp(x), x)),
    "its reverse": ((64,), "float32", lambda x: relay.tanh(x) + relay.reverse(x, axis=0)),
    "its neighbours": ((64,), "float32", lambda x: x + rolled(x)),
    "padded": ((64,), "float32", widened),
    "transposed": ((16, 16), "float32", lambda x: relay.tanh(x) * relay.transpose(x)),
    "reshaped": ((16, 16), "float32", lambda x: x + relay.reshape(relay.transpose(x), (16, 16))),
    "a row for all rows": ((16, 16), "float32", lambda x: x + relay.exp(relay.sum(x, axis=0, keepdims=True))),
    "taken at places it gives": (
        (64,),
        "int32",
        lambda x: x + relay.take(x, relay.bitwise_and(x, relay.const(63)), axis=0),
    ),
    "unknown extents": (("n", "m"), "float32", lambda x: x * relay.sigmoid(x)),
    "unknown extents, turned": (("n", "n"), "float32", lambda x: x + relay.transpose(nn.relu(x))),
}


def chain(kind: str, depth: int) -> Function:
    shape, dtype, step = STEPS[kind]
    value: Expr = relay.var("x", shape=shape, dtype=dtype)
    parameters = [value]
    for _ in range(depth):
        value = step(value)
    return Function(parameters, value)


def wide(_kind: str, readers: int) -> Function:
    """One value read by many, and a tree that adds these up."""
    x = relay.var("x", shape=(64,))
    shared = relay.tanh(x)
    values = [nn.relu(shared * relay.const(float(number))) for number in range(readers)]
    while len(values) > 1:
        pairs = [relay.add(left, right) for left, right in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return Function([x], values[0])


def compiled(function: Function, opt_level: int) -> list[PrimFunc]:
    """All that is done in Python for a program: its kernels, down to LLVM's language."""
    stages = relay.driver.compile_stages(function, opt_level=opt_level)
    for kernel in stages.called_kernels:
        kernel.source()
    return [kernel.loops() for kernel in stages.called_kernels]


def size(functions: list[PrimFunc]) -> int:
    """Values and statements of kernels."""
    parts = [part for function in functions for part in walk_statement(function.body)]
    return len(parts) + sum(len(list(walk_value(value))) for part in parts for value in statement_values(part))


@pytest.mark.parametrize("opt_level", [1, 3])
@pytest.mark.parametrize("kind", STEPS)
def test_a_chain_costs_as_much_again_for_each_link(kind, opt_level):
    """Groups are full behind some 30 links: from there on each group costs what the one before did."""
    functions = {depth: chain(kind, depth) for depth in (2, 32, 64)}
    compiled(functions[2], opt_level)  # what is made once is made
    costs = [calls(lambda depth=depth: compiled(functions[depth], opt_level)) for depth in (32, 64)]
    assert costs[1] < 3 * costs[0]


@pytest.mark.parametrize("kind", STEPS)
def test_loops_are_no_larger_than_the_program(kind):
    functions = compiled(chain(kind, 60), 3)
    assert size(functions) < 60 * 200


def test_one_value_read_by_many():
    costs = [calls(lambda readers=readers: compiled(wide("", readers), 3)) for readers in (40, 80)]
    assert costs[1] < 3 * costs[0]
    assert size(compiled(wide("", 50), 3)) < 50 * 100

"""The whole of -O3 costs time linear in the program, whatever its shape; and types are found for what is new only."""

from __future__ import annotations

import pytest

import relay
from relay.ir.expr import Expr, Function
from relay.ir.module import IRModule
from relay.transform import Instrument, PassContext, PassInfo, infer_type, level
from tests.growth import calls, is_linear


def chain(length: int, x: Expr) -> Expr:
    value = x
    for _ in range(length):
        value = relay.add(relay.tanh(value), x)
    return value


def skips(length: int, x: Expr) -> Expr:
    """Every value is used again far behind, those made first last."""
    value, kept = x, [x]
    for _ in range(length):
        value = relay.tanh(value)
        kept.append(value)
    for _ in range(length):
        value = relay.add(relay.exp(value), kept.pop())
    return value


def branches(length: int, x: Expr) -> Expr:
    return relay.Tuple([relay.nn.relu(relay.multiply(x, relay.const(float(i)))) for i in range(length)])


def layers(length: int, x: Expr) -> Expr:
    value = x
    for _ in range(length):
        value = relay.nn.relu(relay.nn.dense(value, x))
    return value


def shapes(length: int, x: Expr) -> Expr:
    value = x
    for position in range(length):
        value = relay.transpose(relay.reshape(value, (2, 8) if position % 2 else (8, 2)))
    return value


def sums(length: int, x: Expr) -> Expr:
    """A long sum, some terms of which are products."""
    value = relay.nn.matmul(x, x, transpose_a=True)
    for position in range(length):
        term = relay.nn.relu(relay.add(x, relay.const(float(position))))
        value = relay.add(value, term if position % 8 else relay.nn.matmul(term, x, transpose_a=True))
    return value


def slices(length: int, x: Expr) -> Expr:
    """A long sum of slices with zeros around: some lie beside each other, others overlap."""
    value: Expr = relay.zeros((4, length + 4), "float32")
    for at in range(length):
        value = relay.add(value, relay.nn.pad(relay.exp(x), ((0, 0), (at, length - at))))
    return value


@pytest.mark.parametrize("build", [chain, skips, branches, layers, shapes, sums, slices])
def test_o3_is_linear(build) -> None:
    def optimize(length: int) -> IRModule:
        x = relay.var("x", shape=(4, 4))
        return level(3)(IRModule.from_expr(Function((x,), build(length, x))))

    assert is_linear(optimize, 100)


def test_inference_looks_at_what_is_new_only() -> None:
    x = relay.var("x", shape=(4,))
    module = infer_type(IRModule.from_expr(Function((x,), chain(500, x))))
    assert calls(lambda: infer_type(module)) < 100
    again: list[int] = []

    class Counting(Instrument):
        def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
            again.append(calls(lambda: infer_type(module)))

    with PassContext(opt_level=3, instruments=[Counting()]):
        level(3)(module)
    assert max(again) < 100

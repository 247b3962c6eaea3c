"""Fusion of whole networks, its bounds, and groups of several outputs on programs drawn at random.

The kernels of a network are a golden file: `UPDATE_GOLDEN=1` writes it anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay
from relay import nn, op
from relay.driver.build import compile_stages
from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ops.framework.record import FusionKind, OperatorRecord
from relay.testing import mobilenet, resnet, transformer
from relay.testing.programs.recurrent_cells import lstm
from relay.transform import FuseOps, FusionLimits, PassContext, Validation

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "fusion"


def _encoder() -> tuple[IRModule, dict[str, Any]]:
    return transformer.get_workload(1, num_layers=2, width=64, num_heads=4, feedforward=128, sequence=16)


def _lstm() -> tuple[IRModule, dict[str, Any]]:
    return lstm(16, 16).to_relay(), {}


NETWORKS: dict[str, Callable[[], tuple[IRModule, Any]]] = {
    "resnet50": lambda: resnet.get_workload(num_layers=50),
    "mobilenet_v2": lambda: mobilenet.get_workload(version=2),
    "encoder": _encoder,
    "lstm": _lstm,
}


def groups_of(module: IRModule) -> list[tuple[Function, Call]]:
    """The primitive functions that are called, with their calls."""
    return [
        (node.op, node)
        for function in module.functions.values()
        for node in post_order(function.body)
        if isinstance(node, Call) and isinstance(node.op, Function) and node.op.attrs.get("Primitive")
    ]


def operators(group: Function) -> list[OperatorRecord]:
    calls = (node for node in post_order(group.body) if isinstance(node, Call) and isinstance(node.op, Op))
    return [call.op.operator for call in calls if isinstance(call.op.operator, OperatorRecord)]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", NETWORKS)
def test_kernels_of_a_network(name: str) -> None:
    module, params = NETWORKS[name]()
    found = groups_of(compile_stages(module, params=params, opt_level=3).optimized)
    lines = [f"{len(found)} groups", *(" ".join(record.name for record in operators(group)) for group, _ in found)]
    path = GOLDEN / f"{name}.txt"
    text = "\n".join(lines) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("name", ["resnet50", "encoder"])
def test_no_elementwise_operator_is_left_alone(name: str) -> None:
    module, params = NETWORKS[name]()
    for group, _ in groups_of(compile_stages(module, params=params, opt_level=3).optimized):
        assert any(record.fusion > FusionKind.INJECTIVE or record.is_view for record in operators(group)), group


def _drawn(random: np.random.Generator, length: int) -> Function:
    """A function of elementwise operators, reductions, products and reshapes, several of whose values are results."""
    x, y = relay.var("x", shape=(8, 8)), relay.var("y", shape=(8, 8))
    values: list[Expr] = [x, y]

    def some() -> Expr:
        return values[int(random.integers(max(0, len(values) - 5), len(values)))]

    makers: list[Callable[[], Expr]] = [
        lambda: op.tanh(some()), lambda: nn.relu(some()), lambda: op.add(some(), some()),
        lambda: op.multiply(some(), op.sigmoid(some())), lambda: op.transpose(some()),
        lambda: nn.softmax(some()), lambda: nn.dense(some(), some()), lambda: op.reshape(some(), (8, 8)),
        lambda: op.subtract(some(), op.mean(some(), axis=1, keepdims=True)),
        lambda: op.divide(some(), op.add(op.sum(op.abs(some()), axis=1, keepdims=True), relay.const(1.0))),
        lambda: op.add(some(), op.max(some(), axis=0)),
        lambda: relay.If(op.less(op.take(op.reshape(some(), (64,)), relay.const(0)), relay.const(0.0)),
                         op.tanh(some()), op.negative(some())),
    ]  # fmt: skip
    for _ in range(length):
        values.append(makers[int(random.integers(len(makers)))]())
    kept = [values[int(at)] for at in random.integers(2, len(values), 4)]
    return Function([x, y], relay.Tuple([*kept, values[-1]]))


@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs_mean_the_same(seed: int) -> None:
    random = np.random.default_rng(seed)
    module = IRModule.from_expr(_drawn(random, int(random.integers(4, 24))))
    arguments = [random.standard_normal((8, 8)).astype(np.float32) for _ in range(2)]
    expected = relay.create_executor("interpreter", module).evaluate()(*arguments)
    with PassContext(opt_level=3, instruments=[Validation()]):
        fused = FuseOps(module)
        assert relay.astext(FuseOps(fused)) == relay.astext(fused)
    again = relay.create_executor("interpreter", fused).evaluate()(*arguments)
    native = relay.build(module, opt_level=3)(*arguments) if seed % 6 == 0 else again
    for one, other, third in zip(expected, again, native, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, third, rtol=1e-4, atol=1e-5)


def test_groups_are_bounded() -> None:
    x = relay.var("x", shape=(4,))
    chain: Expr = x
    for _ in range(40):
        chain = op.tanh(chain)
    many = relay.Tuple([op.multiply(x, relay.const(float(number))) for number in range(20)])
    for body, limits in ((chain, FusionLimits(max_operators=8)), (many, FusionLimits(max_outputs=3))):
        with PassContext(opt_level=3, fusion=limits):
            found = groups_of(FuseOps(IRModule.from_expr(Function([x], body))))
        assert max(len(operators(group)) for group, _ in found) <= limits.max_operators
        assert all(len(getattr(call.checked_type, "fields", (0,))) <= limits.max_outputs for _, call in found)
        assert len(found) in (5, 7)


def test_below_level_1_every_operator_is_alone() -> None:
    x = relay.var("x", shape=(4,))
    with PassContext(opt_level=0):
        found = groups_of(FuseOps(IRModule.from_expr(Function([x], relay.Tuple([op.exp(x), op.tanh(op.exp(x))])))))
    assert [len(operators(group)) for group, _ in found] == [1, 1, 1]


def test_values_inside_branches_stay_there() -> None:
    x, c = relay.var("x", shape=(4,)), relay.var("c", shape=(), dtype="bool")
    shared = op.exp(x)
    body = relay.Tuple([relay.If(c, op.tanh(shared), nn.relu(shared)), op.negative(shared)])
    module = IRModule.from_expr(Function([x, c], body))
    value = np.linspace(-1, 1, 4, dtype=np.float32)
    first, second = relay.build(module, opt_level=3)(value, np.bool_(True))
    np.testing.assert_allclose(first, np.tanh(np.exp(value)), rtol=1e-5)
    np.testing.assert_allclose(second, -np.exp(value), rtol=1e-5)


def test_one_number_is_made_of_whole_tensors() -> None:
    x, y = relay.var("x", shape=(7, 33)), relay.var("y", shape=(5,))
    left, right = np.random.default_rng(0).standard_normal((7, 33)), np.linspace(-1, 2, 5)
    arrays = left.astype(np.float32), right.astype(np.float32)
    for body, expected in (
        (op.sum(x) * op.sum(y), left.sum() * right.sum()),
        (op.sum(op.tanh(x)) * 0.5, np.tanh(left).sum() * 0.5),
        (op.max(x) - op.min(x), left.max() - left.min()),
    ):
        executable = relay.build(Function([x, y], body), opt_level=3)
        np.testing.assert_allclose(executable(*arrays), expected, rtol=1e-4)


def test_what_reads_one_value_across_in_two_orders_stays_apart() -> None:
    """A kernel of one result turns squares in registers; one of both would gather each element."""
    x = relay.var("x", shape=(16, 32, 16))
    turned = [op.transpose(each, (2, 1, 0)) for each in (op.negative(x), op.exp(x))]
    with PassContext(opt_level=3):
        assert len(groups_of(FuseOps(IRModule.from_expr(Function([x], relay.Tuple(turned)))))) == 2
        along = relay.Tuple([op.negative(x), op.exp(x)])
        assert len(groups_of(FuseOps(IRModule.from_expr(Function([x], along))))) == 1

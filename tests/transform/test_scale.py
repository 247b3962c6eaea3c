"""Programs as deep as unrolled networks: every pass goes through them, without recursion and in linear time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import relay
from relay.ir.expr import Call, Function, Let, Op, Var
from relay.ir.module import IRModule
from relay.ops.table import OPERATORS
from tests.transform.test_golden_passes import CONTEXT, PASSES

DEPTH = 20_000


def chain() -> IRModule:
    x = relay.var("x", shape=(4,))
    value = x
    for _ in range(DEPTH // 2):
        value = relay.add(relay.tanh(value), x)
    return relay.IRModule.from_expr(Function((x,), value))


def lets() -> IRModule:
    x = relay.var("x", shape=(4,))
    names = [x, *(Var(f"v{i}") for i in range(DEPTH))]
    body = names[-1]
    for before, after in reversed(list(pairwise(names))):
        body = Let(after, Call(Op(OPERATORS["tanh"]), (before,)), body)
    return relay.IRModule.from_expr(Function((x,), body))


@pytest.fixture(scope="module", params=[chain, lets])
def module(request: pytest.FixtureRequest) -> IRModule:
    return relay.transform.infer_type(request.param())


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_goes_through(module: IRModule, name: str) -> None:
    with CONTEXT:
        assert PASSES[name](module)["main"].checked_type == module["main"].checked_type


def test_it_compiles_and_runs(module: IRModule) -> None:
    x = np.linspace(-1, 1, 4).astype(np.float32)
    expected = relay.create_executor("interpreter", module).evaluate()(x)
    np.testing.assert_allclose(relay.build(module)(x), expected, rtol=1e-4, atol=1e-6)

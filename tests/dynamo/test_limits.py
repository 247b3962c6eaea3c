"""A model of `torch.compile` inside a call of a program: the limits of that hold, and leave the model as it was."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import relay
from relay.base.diagnostics import RelayError
from tests.dynamo.running import Network, compiled
from tests.native.running import module

CALLING = """
def @main(%f: fn(Tensor[(3, 6), float32]) -> Tensor[(3, 6), float32], %x: Tensor[(3, 6), float32], %n: int64)
    -> Tensor[(3, 6), float32] {
  if (less(%n, 1i64)) { %x } else { @main(%f, add(%x, %f(%x)), subtract(%n, 1i64)) }
}"""
FOR_EVER = 10**15


@pytest.mark.parametrize(("limit", "rule"), [({"timeout": 0.5}, "timed-out"), ({"step_limit": 200}, "step-limit")])
def test_a_program_that_calls_a_compiled_model(limit: dict[str, float], rule: str) -> None:
    network, program = Network().eval(), relay.build(module(CALLING))
    run, x = compiled(network), np.random.default_rng(0).standard_normal((3, 6), np.float32)

    def called(values: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return np.broadcast_to(run(torch.tensor(values)).numpy().mean(), (3, 6)).copy()

    expected = x
    for _ in range(2):
        with torch.no_grad():
            expected = expected + network(torch.tensor(expected)).numpy().mean()
    np.testing.assert_allclose(program(called, x, 2), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(RelayError) as caught:
        program(called, x, FOR_EVER, **limit)
    assert caught.value.rule == rule
    np.testing.assert_allclose(program(called, x, 2), expected, rtol=1e-4, atol=1e-5)

"""Every operator of the table, as a kernel: what it computes is its meaning."""

from __future__ import annotations

import os

import numpy as np
import pytest

import relay
from relay.driver.compiled_operators import CompiledOperators
from relay.ops.table import OPERATORS
from tests.messages import check_message
from tests.ops.test_operators import CASES, flat

COUNTING = """
#[version = "0.0.5"]
def @down(%n: int32) -> int32 { if (%n < 1) { 0 } else { @down(%n - 1) } }
def @main(%n: int32) { @down(%n) }
"""


FIRST = {case.operator: case for case in reversed(CASES)}
SOME = CASES if os.environ.get("RELAY_FUZZ") else list(FIRST.values())
"""The first of each operator: `tests/targets/cpu/test_operator_table.py` runs all natively. `make fuzz` takes all."""


@pytest.fixture(scope="module")
def compiled() -> CompiledOperators:
    return CompiledOperators("llvm")


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_kernels_compute_what_operators_mean(case, compiled):
    operator = OPERATORS[case.operator]
    expected = flat(operator.meaning(case.attributes, *case.inputs))
    found = flat(compiled(operator, case.attributes, case.inputs))
    for one, other in zip(found, map(np.asarray, expected), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if other.dtype.kind in "biu":
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one.astype(np.float64), other.astype(np.float64), rtol=2e-3, atol=2e-4)


def test_the_interpreter_runs_operators_as_kernels_on_request():
    module, params = relay.testing.mlp.get_workload()
    x = np.random.default_rng(0).standard_normal((1, 1, 28, 28), dtype=np.float32)
    by_meaning = relay.create_executor("interpreter", module, params=params).evaluate()
    by_kernels = relay.create_executor("interpreter", module, params=params, compiled_operators=True).evaluate()
    np.testing.assert_allclose(by_kernels(x), by_meaning(x), rtol=1e-4, atol=1e-6)


def test_the_interpreter_stops_after_a_number_of_steps():
    run = relay.create_executor("interpreter", relay.parse(COUNTING, "down.relay"), step_limit=50).evaluate()
    assert run(np.int32(3)) == 0
    with pytest.raises(relay.RelayError) as caught:
        run(np.int32(100))
    check_message("driver", "step-limit", caught.value)


def test_the_interpreter_tells_what_it_does(capsys):
    run = relay.create_executor("interpreter", relay.parse(COUNTING, "down.relay"), trace=print).evaluate()
    run(np.int32(1))
    assert capsys.readouterr().out.splitlines() == [
        "less, line 3 is False", "subtract, line 3 is 0", "less, line 3 is True"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["aot", "vm", "graph"])
def test_only_the_interpreter_can_do_that(kind):
    with pytest.raises(relay.RelayError) as caught:
        relay.create_executor(kind, relay.parse(COUNTING), step_limit=50)
    check_message("driver", f"executor-option-{kind}", caught.value)

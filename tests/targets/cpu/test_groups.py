"""Whatever fusion puts together is scheduled, and computes what the reference interpreter does, at every level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

import relay
from tests.targets.cpu.groups import KINDS, inputs_of, programs


def check(function: relay.Function, levels: tuple[int, ...]) -> None:
    note(relay.IRModule.from_expr(function).astext())
    arrays = inputs_of(function)
    expected = relay.create_executor("interpreter", mod=function).evaluate()(*arrays)
    largest = max(1.0, float(np.abs(expected).max(initial=0)))
    for level in levels:
        found = relay.build(function, "llvm -num-threads=2", opt_level=level)(*arrays)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-5 * largest, err_msg=f"-O{level}")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_groups(kind: str) -> None:
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate,),
    )  # fmt: skip
    @given(function=programs(kind), level=st.sampled_from((0, 1, 2, 3)))
    def each(function: relay.Function, level: int) -> None:
        check(function, (level,))

    each()


EXAMPLES = 12

"""Whatever fusion puts together is scheduled, and computes what the reference interpreter does, at every level."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.targets.cpu.campaign import Example, check, examples
from tests.targets.cpu.groups import KINDS

EXAMPLES = 12  # of each kind: a slice of the campaign


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_groups(kind: str) -> None:
    @settings(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate,),
    )  # fmt: skip
    @given(example=examples(kind))
    def each(example: Example) -> None:
        check(example)

    each()

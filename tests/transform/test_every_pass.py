"""A slice of the campaign that holds every pass against generated programs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.programs.generate import Program, programs
from tests.programs.networks import networks
from tests.transform import every_pass
from tests.transform.every_pass import Example, examples
from tests.transform.passes import PASSES

REPRO = Path(".repro")


@pytest.mark.parametrize("of", [programs(), networks()], ids=["programs", "networks"])
def test_passes_keep_meanings(of: st.SearchStrategy[Program]) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(examples(of))
    def holds(example: Example) -> None:
        every_pass.check(example, REPRO)

    holds()


def test_every_pass_is_met() -> None:
    """A pass that never had anything to do, or refused everything, would have been proven nothing of."""
    did: Counter[str] = Counter()

    @settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(programs(), networks()))
    def holds(program: Program) -> None:
        did.update(every_pass.compare(Example(program, ())))

    holds()
    assert sorted(name for name in PASSES if not did[name]) == []

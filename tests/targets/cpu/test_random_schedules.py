"""No schedule that is let through ends the process that compiles it: a slice of the campaign."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings

from tests.targets.cpu.schedule_campaign import Example, check, examples

EXAMPLES = 60


@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=(Phase.generate,),
)  # fmt: skip
@given(example=examples())
def test_llvm_survives_random_schedules(example: Example) -> None:
    check(example)

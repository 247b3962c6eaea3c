"""A slice of the campaign: derivatives of generated programs, in both modes, natively and interpreted."""

from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.autodiff.campaign import Checker
from tests.autodiff.generated import differentiable_programs


@seed(0)
@settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(differentiable_programs(), st.booleans())
def test_derivatives_agree(program, twice):
    Checker()((program, twice), Path(".repro"))

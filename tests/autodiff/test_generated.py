"""A slice of the campaign: derivatives of generated programs, in both modes, natively and interpreted."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.autodiff.campaign import Checker
from tests.autodiff.generated import differentiable_programs


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(differentiable_programs(), st.booleans())
def test_derivatives_agree(program, twice):
    Checker()((program, twice), Path(".repro"))

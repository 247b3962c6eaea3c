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
OFTEN = {
    "alter_op_layout", "canonicalize_ops", "dead_code_elimination", "eliminate_common_subexpr", "fold_constant",
    "fuse_ops", "lambda_lift", "legalize", "partial_evaluate", "remove_unused_functions", "simplify_expr",
    "to_a_normal_form", "to_basic_block_normal_form", "to_cps", "to_graph_normal_form", "to_mixed_precision",
}  # fmt: skip
"""What every hundred programs meet. The campaign meets all but AutoBatch, which needs calls over a tree or a list."""


@pytest.mark.parametrize("of", [programs(), networks()], ids=["programs", "networks"])
def test_passes_keep_meanings(of: st.SearchStrategy[Program]) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(examples(of))
    def holds(example: Example) -> None:
        every_pass.check(example, REPRO)

    holds()


def test_passes_have_something_to_do() -> None:
    """A pass that never has anything to do here is proven nothing of."""
    did: Counter[str] = Counter()

    @settings(max_examples=80, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(programs(), networks()))
    def holds(program: Program) -> None:
        did.update(every_pass.compare(Example(program, ())))

    holds()
    assert {name for name in OFTEN if not did[name]} == set()
    assert all(did[f"refused {name}"] <= did[name] for name in PASSES)

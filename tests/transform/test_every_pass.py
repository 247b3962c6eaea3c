"""A slice of the campaign that holds every pass against generated programs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import relay
from relay.ir.expr import Call, GlobalVar
from relay.ir.traversal import post_order
from relay.transform import RemoveUnusedFunctions
from tests.programs.generate import Program
from tests.transform import every_pass
from tests.transform.every_pass import CHECKED, KINDS, Example, examples
from tests.transform.passes import CONTEXT, PASSES

REPRO = Path(".repro")
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)  # minutes, which the campaign takes
OFTEN = {
    "AlterOpLayout", "AutoBatch", "CaseOfKnownConstructor", "DeadCodeElimination", "DefuseOps",
    "EliminateCommonSubexpr", "FoldConstant", "FuseOps", "InlineSmallFunctions",
    "LambdaLift", "LiftCalledFunctions", "PartialEvaluate", "RemoveUnusedFunctions",
    "SimplifyExpr", "ToANormalForm", "ToBasicBlockNormalForm", "ToCPS",
    "ToGraphNormalForm", "ToMixedPrecision",
}  # fmt: skip
"""What every hundred programs meet. The campaign fails when it does not meet all."""


@pytest.mark.parametrize("kind", KINDS)
def test_passes_keep_meanings(kind: str) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), phases=WITHOUT_SHRINKING)
    @given(examples(KINDS[kind]))
    def holds(example: Example) -> None:
        every_pass.check(example, REPRO)

    holds()


def test_passes_have_something_to_do() -> None:
    """A pass that never has anything to do here is proven nothing of."""
    did: Counter[str] = Counter()

    @settings(
        max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck),
        phases=WITHOUT_SHRINKING,
    )  # fmt: skip
    @given(st.tuples(*KINDS.values()))
    def holds(drawn: tuple[Program, ...]) -> None:
        for program in drawn:
            did.update(every_pass.compare(Example(program, ())))

    holds()
    assert {name for name in OFTEN if not did[name]} == set()
    assert all(did[f"refused {name}"] <= did[name] for name in PASSES)


GENERIC = """#[version = "0.0.5"]
def @main(%x: float32, %xs: List[float32]) {
  let %y = add(%x, multiply(sqrt(%x), 1f));
  let %z = tanh(2f);
  @map(fn (%a: float32) { add(%a, %y) }, Cons(%y, Cons(%z, %xs)))
}"""


@pytest.mark.parametrize("name", CHECKED)
def test_calls_of_generic_functions_keep_their_type_arguments(name: str) -> None:
    before = RemoveUnusedFunctions(relay.parse(GENERIC))
    with CONTEXT:
        after = CHECKED[name](before)
    for function in after.functions.values():
        for call in post_order(function.body):
            if isinstance(call, Call) and isinstance(call.op, GlobalVar) and call.op in after:
                assert len(call.type_args) == len(after[call.op].type_params)

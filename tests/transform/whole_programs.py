"""Generated programs before and after the passes that change how a whole program works: both mean the same.

The suite runs a slice; `python -m tests.transform.whole_programs [count]` is the campaign.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.ir.module import IRModule
from relay.ir.well_formed import well_formed
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.transform.framework.passes import Pass, Sequential
from relay.transform.functions.inline_small_functions import InlineSmallFunctions
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from relay.transform.functions.specialize_functions import SpecializeFunctions
from relay.transform.loops.introduce_accumulators import IntroduceAccumulators
from relay.transform.loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from tests.programs import campaign
from tests.programs.differential import STEP_LIMIT, assert_same, write_repro
from tests.programs.generate import Program, programs
from tests.transform.recursions import recursions

PASSES: Mapping[str, Pass | Sequential] = {
    "IntroduceAccumulators": IntroduceAccumulators,
    "LoopInvariantCodeMotion": LoopInvariantCodeMotion,
    "SpecializeFunctions": Sequential((SpecializeFunctions, InlineSmallFunctions, SpecializeFunctions)),
}


def compare(program: Program, name: str) -> tuple[IRModule, IRModule]:
    """The program before and after the pass; raises when it means something else afterwards, or is ill-formed."""
    before = RemoveUnusedFunctions(infer_type(program.module))
    meant = evaluate(before, program.arguments, step_limit=STEP_LIMIT)
    after = PASSES[name](before)
    assert well_formed(after) == ()
    assert_same(evaluate(after, program.arguments, step_limit=4 * STEP_LIMIT), meant, "after the pass", "the program")
    if after is not before:
        again = infer_type(parse(after.astext(), OPERATORS))
        found = evaluate(again, program.arguments, step_limit=4 * STEP_LIMIT)
        assert_same(found, meant, "its text", "the program")
    return before, after


def check(program: Program, name: str, folder: Path) -> tuple[IRModule, IRModule]:
    """`compare`; a failure leaves a folder with the program."""
    try:
        return compare(program, name)
    except Exception as error:
        place = write_repro(program, 0, folder, error)
        raise AssertionError(f"{type(error).__name__}: {error}\n{name}; kept in {place}") from error


def _check(program: Program, repro: Path) -> None:
    for name in PASSES:
        check(program, name, repro)


if __name__ == "__main__":
    campaign.run("tests.transform.whole_programs", __doc__, programs() | recursions(), _check, 5_000)

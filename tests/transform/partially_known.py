"""Generated programs with some arguments bound as constants, before and after partial evaluation: both mean the same.

The suite runs a slice; `python -m tests.transform.partially_known [count]` is the campaign.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.ir.expr import Function, const
from relay.ir.module import IRModule
from relay.ir.variables import substitute
from relay.ir.well_formed import well_formed
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.transform.functions.budgets import PartialEvaluationLimits, operations_of
from relay.transform.functions.partial_evaluate import PartialEvaluate
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from relay.transform.simplify.dead_code_elimination import DeadCodeElimination
from tests.programs import campaign
from tests.programs.differential import STEP_LIMIT, assert_same, write_repro
from tests.programs.generate import Program, programs
from tests.programs.universe import OPEN_VECTOR


@dataclass(frozen=True)
class Outcome:
    """What partial evaluation did to one program, for tests that ask whether it did anything."""

    before: IRModule
    after: IRModule
    cleaned: IRModule


def with_constants(program: Program, chosen: int) -> Program:
    """The program with the arguments whose bit is set in `chosen` put in as constants."""
    main = program.module["main"]
    known = {
        param: const(argument)
        for position, (param, argument) in enumerate(zip(main.params, program.arguments, strict=True))
        if chosen >> position & 1 and param.type_annotation != OPEN_VECTOR
    }
    params = tuple(param for param in main.params if param not in known)
    arguments = tuple(
        argument for param, argument in zip(main.params, program.arguments, strict=True) if param not in known
    )
    function = Function(params, substitute(main.body, known), main.ret_type)
    return Program(program.module.with_function("main", function), arguments)


def compare(program: Program, chosen: int) -> Outcome:
    """Raises when the program means something else after the pass, is ill-formed, or has grown too much."""
    known = with_constants(program, chosen)
    before = RemoveUnusedFunctions(infer_type(known.module))
    meant = evaluate(before, known.arguments, step_limit=STEP_LIMIT)
    after = PartialEvaluate(before)
    assert well_formed(after) == ()
    assert operations_of(after) <= PartialEvaluationLimits().max_growth * operations_of(before)
    assert_same(evaluate(after, known.arguments, step_limit=STEP_LIMIT), meant, "the evaluated program", "the program")
    cleaned = DeadCodeElimination(after)
    assert well_formed(cleaned) == ()
    assert DeadCodeElimination(cleaned) is cleaned
    assert_same(evaluate(cleaned, known.arguments, step_limit=STEP_LIMIT), meant, "the cleaned program", "the program")
    again = infer_type(parse(cleaned.astext(), OPERATORS))
    assert_same(evaluate(again, known.arguments, step_limit=STEP_LIMIT), meant, "its text", "the program")
    return Outcome(before, after, cleaned)


def check(program: Program, chosen: int, folder: Path) -> Outcome:
    """`compare`; a failure leaves a folder with the program."""
    try:
        return compare(program, chosen)
    except Exception as error:
        place = write_repro(with_constants(program, chosen), 0, folder, error)
        raise AssertionError(f"{type(error).__name__}: {error}\nconstants {chosen:b}; kept in {place}") from error


def _check(example: tuple[Program, int], repro: Path) -> None:
    program, chosen = example
    check(program, chosen, repro)


if __name__ == "__main__":
    examples = st.tuples(programs(), st.integers(0, 7))
    campaign.run("tests.transform.partially_known", __doc__, examples, _check, 5_000)

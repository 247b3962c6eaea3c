"""Generated Python functions of the documented subset: what is read of them gives what CPython and NumPy give.

The suite runs a slice of the campaign; `python -m tests.frontend.python.campaign` holds 5,000 functions.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.frontend.python.generated import differential, reference
from tests.frontend.python.generated.functions import HEADER, PythonProgram, python_programs
from tests.frontend.python.generated.shrink import shrunk

REPRO = Path(".repro")


def slice_of(count: int):
    return settings(
        max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
        phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip


def test_the_interpreter_agrees_with_python():
    tally = differential.Tally()

    @slice_of(60)
    @given(python_programs())
    def holds(program: PythonProgram) -> None:
        differential.check(program, REPRO, tally, native=False)

    holds()
    assert tally.agreed > 0.75 * tally.judged, str(tally)


@slice_of(5)
@given(python_programs())
def test_native_code_agrees_with_python(program: PythonProgram):
    differential.check(program, REPRO, differential.Tally(), native=True)


def test_functions_reach_every_form():
    """A generator that stopped drawing some form would prove nothing of it."""
    met: set[str] = set()

    @settings(max_examples=150, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(python_programs())
    def collect(program: PythonProgram) -> None:
        met.update(type(node).__name__ for node in ast.walk(ast.parse(program.text)))

    collect()
    wanted = {
        "If", "For", "While", "Match", "Break", "Continue", "Return", "AugAssign", "FunctionDef", "Lambda", "ListComp",
        "IfExp", "BoolOp", "Compare", "Subscript", "Slice", "keyword", "FloorDiv", "Mod", "Pow", "LShift", "RShift",
        "Invert", "MatMult", "BitXor", "MatchStar", "MatchClass", "List", "Tuple",
    }  # fmt: skip
    assert wanted <= met, wanted - met


def program(body: str, *arguments: object) -> PythonProgram:
    return PythonProgram(f"{HEADER}def f(x: int):\n    {body}\n", arguments)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [("return x", 4), ("return x", 3.0), ("return [x]", [3, 3]), ("return x + 0.5", reference.Raised(ValueError()))],
)
def test_a_difference_is_told(body, wanted, monkeypatch, tmp_path):
    monkeypatch.setattr(differential, "expected", lambda *_: wanted)
    with pytest.raises(differential.Difference, match="Python"):
        differential.check(program(body, 3), tmp_path, differential.Tally(), native=True)
    (kept,) = tmp_path.iterdir()
    assert "def f(x: int)" in kept.read_text()


def test_a_program_that_differs_is_made_small():
    text = "y = x + 1\n    for i in range(3):\n        if i > 1:\n            y = (x + 2) // (i + 1)\n    return y"
    small = shrunk(program(text, 3), lambda each: "//" in each.text)
    assert small.text == f"{HEADER}def f(x: int):\n    y = x // i\n    return y\n"


def test_what_is_not_judged():
    for body in ("return x * 2**30", "return 0.1 + x < 3.1", "return np.floor(x / 7)"):
        with pytest.raises(reference.NotJudged):
            reference.expected(program(body).text, (3,))
    assert reference.expected(program("return np.ones(3)[0] // x").text, (0,)).error.__class__ is ZeroDivisionError
    assert isinstance(reference.expected(program("return np.ones(3).sum()").text, (0,)), float)
    np.testing.assert_array_equal(reference.expected(program("return np.ones(3) / x").text, (0,)), np.inf)

"""Generated programs of the whole language: interpreter, native code and plain Python agree.

The suite runs a slice of the campaign; `make fuzz` draws new programs, and `python -m tests.programs 20000` many.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relay
from relay.ir.expr import Expr
from relay.ir.traversal import post_order
from tests.programs import differential
from tests.programs.generate import LIBRARY, Program, programs
from tests.programs.to_python import as_python

REPRO = Path(".repro")


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(functions_cross=True), st.integers(0, 3))
def test_three_ways_agree(program: Program, opt_level: int):
    differential.check(program, opt_level, REPRO)


def test_programs_reach_every_form():
    """A generator that stopped drawing some form would prove nothing of it."""
    met: set[str] = set()

    @settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(programs())
    def collect(program: Program) -> None:
        for name, function in program.module.functions.items():
            if name not in LIBRARY.functions:
                met.update(type(node).__name__ for node in post_order(function))

    collect()
    assert met == {form.__name__ for form in get_args(Expr)}


def test_a_disagreement_leaves_a_folder(tmp_path: Path):
    x = relay.var("x", shape=(), dtype="int32")
    module = relay.IRModule.from_expr(relay.Function([x], relay.add(x, relay.const(1))))
    place = differential.write_repro(Program(module, (np.array(2, np.int32),)), 0, tmp_path, ValueError("wrong"))
    assert sorted(path.name for path in place.iterdir()) == [
        "arguments.npz", "error.txt", "program.py", "program.relay", "run.py",
    ]  # fmt: skip
    assert (place / "program.py").read_text() == as_python(module)


def test_a_difference_is_told_with_its_place():
    with pytest.raises(differential.Disagreement, match=r"result\.1: native code gives"):
        differential.assert_same((1, 2), (1, 3), "native code", "the interpreter")

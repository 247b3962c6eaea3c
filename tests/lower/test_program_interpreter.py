"""The interpreter of programs agrees with the meaning of the language, and finds what is done wrong with objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relay
from relay.base.diagnostics import CompilerBug, RelayError
from relay.interpret.evaluate import evaluate
from relay.lower.program.interpretation.interpreted import interpreted
from relay.lower.program.parser import parse_program
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from tests.lower.interpreting import run_as_text
from tests.lower.test_program_verifier import SOURCE
from tests.lower.test_regions import CELL
from tests.native.running import LIST, assert_same, leaves, module
from tests.native.test_recursion import LOOP
from tests.programs import differential
from tests.programs.generate import Program, programs

X = np.linspace(-1, 1, 64, dtype=np.float32).reshape(4, 16)
MAP = """
def @map[A, B](%f: fn(A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) { Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil }
}
def @main(%x: Tensor[(4, 16), float32], %n: int32) {
  let %count = ref(%n);
  let %mapped = @map(fn (%y: Tensor[(4, 16), float32]) -> Tensor[(4, 16), float32] {
    %count := add(%count^, 1);
    multiply(%y, %x)
  }, Cons(%x, Cons(tanh(%x), Nil)));
  (%mapped, %count^)
}"""
PARTS = "def @main(%x: Tensor[(4, 16), float32]) { concatenate((tanh(%x), exp(%x)), axis=1) }"
PROGRAMS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a straight line": ("def @main(%x: Tensor[(n, 16), float32]) { (nn.softmax(tanh(%x)), %x, 2f) }", (X,)),
    "a loop over scalars": (LOOP, (np.int32(5),)),
    "a loop over tensors": (SOURCE, (X, np.int32(2))),
    "parts of a concatenation": (PARTS, (X,)),
    "extents that values tell": ("def @main(%x: Tensor[(n, 16), float32]) { argwhere(greater(%x, 0f)) }", (X,)),
    "data, a closure and a ref": (LIST + MAP, (X, np.int32(3))),
}


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(("source", "arguments"), PROGRAMS.values(), ids=PROGRAMS)
def test_it_agrees_with_the_meaning(source: str, arguments: tuple[Any, ...], level: int):
    program = module(source)
    expected = relay.create_executor("interpreter", mod=program).evaluate()(*arguments)
    assert_same(run_as_text(program, level)(*leaves(arguments)), expected)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 3))
def test_generated_programs(program: Program, opt_level: int):
    meant = evaluate(program.module, program.arguments, step_limit=differential.STEP_LIMIT)
    found = run_as_text(RemoveUnusedFunctions(program.module), opt_level)(*program.arguments)
    differential.assert_same(found, meant, "the program", "the interpreter")


def test_lists_are_taken_and_given():
    program = module(LIST + CELL)
    values = relay.create_executor("interpreter", mod=module(LIST + "def @main(%x: Tensor[(1, 8), float32]) {"
                                   "Cons(%x, Cons(tanh(%x), Nil)) }")).evaluate()(X[:1, :8])  # fmt: skip
    w = np.resize(X, (32, 16)).astype(np.float32)
    expected = relay.create_executor("interpreter", mod=program).evaluate()(values, w, np.int32(3))
    assert_same(run_as_text(program)(values, w, np.int32(3)), expected)


def test_failures_are_told():
    with pytest.raises(RelayError, match=r"check-failed.*needs"):
        run_as_text(module("def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) { add(%x, %y) }"))(
            np.ones(2, np.float32), np.ones(3, np.float32)
        )


BODY = """\
entry main(x: Tensor[(2,), float32]) takes (0) -> (output: Tensor[(2,), float32]) as 0 runs @main

procedure @main(%0)
  block0():
{body}

label0: tuple
label1: tensor float32, 1 axes

constants 0 bytes
"""


@pytest.mark.parametrize(("body", "message"), [
    ("release %0 return %0", "an object of label1 is used after it was freed"),
    ("retain %0 return %0", "when @main has ended, these are left: tensor of float32, 1 axes"),
    ("release %0 release %0 return %0", "an object of label1 is used after it was freed"),
    ("%1 = cell label0 (%0) %2 = %1.0 release %1 return %2", "an object of label1 is used after it was freed"),
    ("%1 = label0 %2 = %1.0 return %0", "label0 is used as an object with fields"),
])  # fmt: skip
def test_what_is_done_wrong_with_objects_is_found(body: str, message: str):
    run = interpreted(parse_program(BODY.format(body=body)), {})
    with pytest.raises(CompilerBug, match=message):
        run(np.ones(2, np.float32))


def test_what_nobody_wrote_is_told_by_a_pattern():
    body = "%1 = tensor label1 [2] 8 bytes release %0 return %1"
    found = interpreted(parse_program(BODY.format(body=body)), {})(np.ones(2, np.float32))
    assert found.tobytes() == bytes([0xA5] * 8)

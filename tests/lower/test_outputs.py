"""Tensors that become results are made where callers have room for those."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import relay
from relay.base.diagnostics import CompilerBug
from relay.driver.build import compile_stages
from relay.lower.program.device import Device
from relay.lower.program.procedure import NewTensor, Procedure
from relay.lower.program.program import Program
from relay.lower.program.verification.program_verifier import verify_program
from tests.native.running import assert_same, check, module

X = np.arange(8, dtype="float32")
CHOICE = """
def @main(%x: Tensor[(8,), float32], %f: bool) -> Tensor[(8,), float32] {
  if (%f) { tanh(%x) } else { add(cumsum(%x, axis=0), %x) }
}
"""
CROSSED = """
def @main(%x: Tensor[(8,), float32], %f: bool) -> (Tensor[(8,), float32], Tensor[(8,), float32]) {
  let %a = cumsum(%x, axis=0);
  let %b = cumsum(%a, axis=0);
  if (%f) { (%a, %b) } else { (%b, %a) }
}
"""
SHARED = """
def @main(%x: Tensor[(8,), float32], %f: bool) -> (Tensor[(8,), float32], Tensor[(8,), float32]) {
  let %a = cumsum(%x, axis=0);
  if (%f) { (%a, %a) } else { (%a, tanh(%x)) }
}
"""
OVER = """
def @main(%x: Tensor[(8,), float32], %f: bool) -> Tensor[(2, 4), float32] {
  let %a = cumsum(%x, axis=0);
  let %b = if (%f) { tanh(%a) } else { negative(%a) };
  reshape(%b, newshape=[2, 4])
}
"""
TWICE = """
def @step(%x: Tensor[(8,), float32], %n: int32) -> Tensor[(8,), float32] {
  if (equal(%n, 0)) { cumsum(%x, axis=0) } else { add(@step(cumsum(%x, axis=0), subtract(%n, 1)), %x) }
}
def @main(%x: Tensor[(8,), float32], %n: int32) -> (Tensor[(8,), float32], Tensor[(8,), float32]) {
  let %a = @step(%x, %n);
  (%a, @step(%a, subtract(%n, 1)))
}
"""


def program(source: str) -> Program:
    return compile_stages(module(source), opt_level=2).program


def tensors(procedure: Procedure) -> list[NewTensor]:
    return [each for each in procedure.instructions() if isinstance(each, NewTensor)]


def test_a_result_of_each_branch_is_made_in_the_output():
    assert [each.output for each in tensors(program(CHOICE).procedure("main"))] == [0, 0]


def test_what_is_written_over_is_made_in_the_output():
    first, *others = tensors(program(OVER).procedure("main"))
    assert first.output == 0
    assert [each.over for each in others] == [first.result, first.result]


def test_what_may_be_either_result_is_made_in_neither():
    assert [each.output for each in tensors(program(CROSSED).procedure("main"))] == [None, None]


@pytest.mark.parametrize("source", [CHOICE, CROSSED, SHARED, OVER])
@pytest.mark.parametrize("flag", [False, True])
def test_results_are_right(source: str, flag: bool):
    check(source, X, np.array(flag), opt_level=2)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_procedure_that_runs_several_times_fills_the_output_once(count: int):
    check(TWICE, X / 8, np.array(count, "int32"), opt_level=2)


def test_results_of_earlier_calls_stay():
    run = relay.build(module(CHOICE), opt_level=2)
    first = run(X, np.array(True))
    second = run(2 * X, np.array(True))
    assert_same(first, np.tanh(X))
    assert_same(second, np.tanh(2 * X))


def test_a_result_whose_extent_the_inputs_tell():
    check(CHOICE.replace("(8,)", "(n,)"), X[:5], np.array(False), opt_level=2)


def broken(change: dict[str, object]) -> Program:
    """The first tensor of @main changed."""
    made = program(OVER)
    main = made.procedure("main")
    blocks = list(main.blocks)
    first = tensors(main)[0]
    for number, block in enumerate(blocks):
        new = tuple(replace(each, **change) if each is first else each for each in block.instructions)
        blocks[number] = replace(block, instructions=new)
    changed = replace(main, blocks=tuple(blocks))
    return replace(made, procedures=tuple(changed if each is main else each for each in made.procedures))


@pytest.mark.parametrize(("change", "message"), [
    ({"output": 3}, "for output 3`: no caller has an output 3"),
    ({"device": Device("toy_gpu", 0)}, "callers have outputs on the host only"),
])  # fmt: skip
def test_a_fault_is_named(change: dict[str, object], message: str):
    with pytest.raises(CompilerBug, match=message):
        verify_program(broken(change), {})

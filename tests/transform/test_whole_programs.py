"""Passes over whole programs: a slice of the campaign, limits, cost, and what native code makes of the result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import relay
from relay.ir.expr import Expr, Function
from relay.ir.traversal import post_order
from relay.transform import (
    IntroduceAccumulators,
    LoopInvariantCodeMotion,
    PassContext,
    RemoveUnusedFunctions,
    SpecializeFunctions,
    level,
)
from tests.growth import is_linear
from tests.programs import differential
from tests.programs.generate import Program, programs
from tests.transform.recursions import recursions
from tests.transform.whole_programs import PASSES, check

REPRO = Path(".repro")
HEADER = '#[version = "0.0.5"]\n'
SLICE = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", PASSES)
def test_programs_mean_the_same(name: str) -> None:
    @SLICE
    @given(programs() | recursions())
    def agree(program: Program) -> None:
        check(program, name, REPRO)

    agree()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(recursions())
def test_recursions_mean_the_same_natively(program: Program) -> None:
    differential.check(program, 3, REPRO)


DEEP = """
def @deep[a](%n: int32, %f: fn (a) -> float32, %x: a) -> float32 {
  if (%n <= 0) { %f(%x) } else { @deep(%n - 1, fn (%p: (a, a)) -> float32 { 1f }, (%x, %x)) }
}
def @main(%n: int32, %x: float32) { @deep(%n, exp, %x) }
"""


def test_a_recursion_that_hands_itself_another_function_at_each_turn_is_not_copied() -> None:
    module = SpecializeFunctions(relay.parse(HEADER + DEEP))
    assert [name.name_hint for name in module if "deep" in name.name_hint] == ["deep"]
    run = relay.create_executor("interpreter", module).evaluate()
    assert float(run(np.int32(5), np.float32(2))) == 1


def test_a_budget_of_nothing_copies_nothing() -> None:
    module = relay.parse(HEADER + DEEP)
    with PassContext(config={"relay.SpecializeFunctions.max_nodes": 0}):
        assert SpecializeFunctions(module) is relay.transform.infer_type(module)


def test_after_o3_the_map_of_a_lambda_makes_no_closure() -> None:
    source = "def @main(%xs: List[float32], %k: float32) { @map(fn (%x: float32) { multiply(%x, %k) }, %xs) }"
    module = RemoveUnusedFunctions(level(3)(relay.parse(HEADER + source)))
    for function in module.functions.values():
        nodes = post_order(function.body)
        assert all(node.attrs.get("Primitive") for node in nodes if isinstance(node, Function))


def maps(length: int) -> Expr:
    x = relay.var("x", shape=())
    value = relay.Tuple([x])
    prelude = relay.prelude.Prelude()
    items = prelude.cons(x, prelude.nil())
    for number in range(length):
        element = relay.var(f"e{number}", shape=())
        items = prelude.map(Function((element,), relay.add(element, relay.const(float(number)))), items)
    return Function((x,), relay.Tuple([value, items]))


@pytest.mark.parametrize("each", [SpecializeFunctions, IntroduceAccumulators, LoopInvariantCodeMotion])
def test_cost_is_linear(each) -> None:
    def run(length: int) -> object:
        prelude = relay.prelude.Prelude()
        with PassContext(config={"relay.SpecializeFunctions.max_nodes": 1_000_000}):
            return each(prelude.mod.with_function("main", maps(length)))

    assert is_linear(run, 60)


LISTS = """
def @main(%n: int32, %k: float32) {
  let %xs = @tabulate(fn (%i: int32) { cast(%i, dtype="float32") }, %n);
  let %ys = @filter(fn (%y: float32) { %y > 2f }, @map(fn (%x: float32) { multiply(%x, %k) }, %xs));
  @foldl(fn (%a: float32, %b: float32) { maximum(%a, %b) }, 0f, %ys)
}
"""


@pytest.mark.parametrize("opt_level", [0, 3])
def test_lists_of_a_million_are_built_in_constant_stack(opt_level: int) -> None:
    executable = relay.build(relay.parse(HEADER + LISTS), opt_level=opt_level)
    assert float(executable(np.int32(1_000_000), np.float32(2))) == 1_999_998

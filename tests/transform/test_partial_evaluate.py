"""Partial evaluation: it ends, it keeps what fails and its own limits, and generated programs mean what they meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import relay
from relay.base.diagnostics import RelayError
from relay.interpret.evaluate import evaluate
from relay.ir.expr import GlobalVar, const
from relay.ir.module import IRModule
from relay.transform.functions.budgets import PartialEvaluationLimits, operations_of
from relay.transform.functions.partial_evaluate import PartialEvaluate, partially_evaluated
from tests.programs.generate import Program, programs
from tests.transform.partially_known import check

REPRO = Path(".repro")
HEADER = '#[version = "0.0.5"]\n'


def parsed(source: str) -> IRModule:
    return relay.parse(HEADER + source)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs(), st.integers(0, 7))
def test_generated_programs_mean_the_same(program: Program, chosen: int):
    check(program, chosen, REPRO)


def test_generated_programs_are_reduced():
    """A pass that left everything alone would keep every meaning."""
    reduced: list[bool] = []

    @settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(programs(), st.just(7))
    def collect(program: Program, chosen: int) -> None:
        outcome = check(program, chosen, REPRO)
        reduced.append(operations_of(outcome.cleaned) < operations_of(outcome.before))

    collect()
    assert sum(reduced) > len(reduced) // 3


@pytest.mark.parametrize(
    "source",
    [
        "def @main(%x: float32) { exp(%x) }",
        "def @main(%n: int32) { if (%n <= 0) { %n } else { @main(%n - 1) } }",
        "def @main(%x: float32) { let %r = ref(%x); let %f = fn () { %r^ }; let %p = (%f, %x); %p }",
    ],
)
def test_what_is_unknown_is_the_same_object(source: str):
    module = parsed(source)
    assert PartialEvaluate(module) is module


@pytest.mark.parametrize(
    "source",
    [
        "def @f(%n: int32) -> int32 { @f(%n + 1) } def @main() { @f(0) }",
        "def @f(%n: int32) -> int32 { @g(%n + 1) } def @g(%n: int32) -> int32 { @f(%n) } def @main() { @f(0) }",
        "def @f(%xs: List[int32]) -> int32 { @f(Cons(1, %xs)) } def @main() { @f(Nil) }",
        "def @f(%xs: List[int32], %c: bool) -> int32 { if (%c) { 0 } else { @f(Cons(1, %xs), %c) } }"
        " def @main(%c: bool) { @f(Nil, %c) }",
        "def @f(%g: fn (int32) -> int32, %n: int32) -> int32 { if (%n <= 0) { %g(0) }"
        " else { @f(fn (%i: int32) -> int32 { %g(%i) + 1 }, %n - 1) } }"
        " def @main(%n: int32) { @f(fn (%i: int32) -> int32 { %i }, %n) }",
        # recursion through a ref: the function in it calls what is in it
        "def @main() { let %r = ref(fn () -> int32 { 0 }); %r := fn () -> int32 { let %f = %r^; %f() };"
        " let %g = %r^; %g() }",
        # each call makes two: 2^30 in all
        "def @f(%n: int32, %x: float32) -> float32 { if (%n == 0) { exp(%x) } else"
        " { add(@f(%n - 1, %x), @f(%n - 1, %x)) } } def @main(%x: float32) { @f(30, %x) }",
    ],
)
def test_it_ends_within_its_limit(source: str):
    module = parsed(source)
    after = PartialEvaluate(module)
    assert operations_of(after) <= 3 * operations_of(module)


def test_a_match_that_fails_still_does():
    module = parsed("def @main(%x: float32) { let %none: List[float32] = Nil; add(exp(%x), @hd(%none)) }")
    after = PartialEvaluate(module)
    for each in (module, after):
        with pytest.raises(RelayError, match="no clause of a match fits Nil"):
            evaluate(each, [np.float32(1)])


def test_more_may_be_asked_for():
    source = "def @power(%n: int32, %x: float32) -> float32 {"
    source += (
        " if (%n == 0) { 1f } else { multiply(%x, @power(%n - 1, %x)) } } def @main(%x: float32) { @power(500, %x) }"
    )
    module = parsed(source)
    assert PartialEvaluate(module) is module
    after = relay.transform.infer_type(partially_evaluated(module, PartialEvaluationLimits(max_growth=100)))
    assert "power" not in after.with_functions({GlobalVar("main"): after["main"]}).astext()
    assert evaluate(after, [np.float32(1)]) == evaluate(module, [np.float32(1)])


def test_data_as_long_as_networks():
    """Neither what is known nor the recursion over it is limited by Python's stack."""
    length = 3_000
    items = relay.prelude.Prelude()
    numbers = items.nil()
    for number in range(length):
        numbers = items.cons(const(number), numbers)
    x = relay.var("x", shape=(), dtype="int32")
    body = items.foldl(relay.Function([x, y := relay.var("y", "int32")], relay.add(x, y)), x, numbers)
    z = relay.var("z", shape=(), dtype="int32")
    main = relay.Function([z], relay.ir.variables.substitute(body, {x: z}))
    module = relay.transform.infer_type(items.mod.with_function("main", main))
    after = relay.transform.infer_type(partially_evaluated(module, PartialEvaluationLimits(max_growth=10)))
    assert "foldl" not in after.with_functions({GlobalVar("main"): after["main"]}).astext()
    assert evaluate(after, [np.int32(5)]) == evaluate(module, [np.int32(5)])


def test_the_same_bytes_every_time():
    source = "def @f(%n: int32, %k: float32) -> float32 { if (%n <= 0) { %k } else { @f(%n - 1, %k) } }"
    source += " def @main(%n: int32) { (@f(%n, 2f), @f(%n, 3f)) }"
    assert PartialEvaluate(parsed(source)).astext() == PartialEvaluate(parsed(source)).astext()

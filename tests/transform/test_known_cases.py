"""CaseOfKnownConstructor and LiftCalledFunctions: code does not grow, and the cost is linear in the program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings

import relay
from relay.infer.infer_type import infer_type
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    If,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, scalar_type
from relay.transform import (
    CaseOfKnownConstructor,
    LambdaLift,
    LiftCalledFunctions,
    PartialEvaluate,
    RemoveUnusedFunctions,
    Validation,
)
from relay.transform.functions.budgets import operations_of
from tests.growth import is_linear
from tests.programs.generate import Program, programs
from tests.transform.recursions import recursions

FLOAT = scalar_type("float32")
PRELUDE = relay.prelude.Prelude()
SOME, NONE = (each for each in PRELUDE.mod.constructors() if each.belong_to.name == "Option")


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs() | recursions())
def test_code_does_not_grow(program: Program) -> None:
    before = RemoveUnusedFunctions(infer_type(program.module))
    assert operations_of(CaseOfKnownConstructor(before)) <= operations_of(before)


def choices(length: int, x: Var, c: Var) -> Expr:
    """Matches on what the matches before them make."""
    value: Expr = If(c, Call(SOME, (x,)), Call(NONE, ()))
    for __ in range(length):
        inner = Var("v")
        taken = Clause(PatternConstructor(SOME, (PatternVar(inner),)), Call(SOME, (relay.exp(relay.tanh(inner)),)))
        value = Match(value, (taken, Clause(PatternConstructor(NONE), Call(NONE, ()))))
    last = Var("v")
    return Match(
        value, (Clause(PatternConstructor(SOME, (PatternVar(last),)), last), Clause(PatternConstructor(NONE), x))
    )


def nested_functions(length: int, x: Var, _: Var) -> Expr:
    """Functions that are called once, each in the one behind it."""
    body: Expr = relay.exp(x)
    for __ in range(length):
        function, parameter = Var("f"), Var("p", FLOAT)
        body = Let(function, Function((parameter,), relay.tanh(parameter)), Call(function, (body,)))
    return body


def refs(length: int, x: Var, _: Var) -> Expr:
    """A ref that is written again and again."""
    ref = Var("r")
    body: Expr = RefRead(ref)
    for __ in range(length):
        body = Let(Var("u"), RefWrite(ref, relay.exp(RefRead(ref))), body)
    return Let(ref, RefCreate(x), body)


def tuples(length: int, x: Var, _: Var) -> Expr:
    value: Expr = Tuple((x, x))
    for __ in range(length):
        value = Tuple((TupleGetItem(value, 1), relay.exp(TupleGetItem(value, 0))))
    return TupleGetItem(value, 0)


def program(build: Callable[[int, Var, Var], Expr], length: int) -> IRModule:
    x, c = Var("x", FLOAT), Var("c", scalar_type("bool"))
    return infer_type(PRELUDE.mod.with_function("main", Function((x, c), build(length, x, c), FLOAT)))


@pytest.mark.parametrize("build", [choices, nested_functions, refs, tuples])
def test_simplifying_is_linear_and_leaves_nothing(build: Callable[[int, Var, Var], Expr]) -> None:
    modules = {length: program(build, length) for length in (60, 120)}
    assert is_linear(lambda length: CaseOfKnownConstructor(modules[length]), 60)
    left = {type(node).__name__ for node in post_order(CaseOfKnownConstructor(modules[60])["main"].body)}
    assert left <= {"Call", "Op", "Var", "Constant", "If"}


def calling(length: int, x: Var, _: Var) -> Expr:
    """Functions that are called twice, each by the one behind it."""
    names = [Var(f"f{position}", FuncType((FLOAT,), FLOAT)) for position in range(length)]
    body: Expr = Call(names[-1], (x,))
    for position in reversed(range(length)):
        parameter = Var("p", FLOAT)
        inner: Expr = relay.add(parameter, x)
        for __ in range(2 if position else 0):
            inner = Call(names[position - 1], (inner,))
        body = Let(names[position], Function((parameter,), inner, FLOAT), body)
    return body


def test_lifting_is_linear() -> None:
    modules = {length: program(calling, length) for length in (60, 120)}
    assert is_linear(lambda length: LiftCalledFunctions(modules[length]), 60)
    lifted = LiftCalledFunctions(modules[60])
    assert sum(name.name_hint.startswith("main_f") for name in lifted.functions) == 60


def test_a_function_that_calls_itself_is_typed_when_it_is_lifted() -> None:
    source = """#[version = "0.0.5"]
    def @main(%x: bool) -> int32 {
      let %loop = fn (%i: int32) -> int32 {
        if (%i <= 0) { 0 } else { let %t = %loop(%i - 1); if (%x) { %t } else { 1 } }
      };
      %loop(3)
    }"""
    with relay.transform.PassContext(instruments=(Validation(),)):
        lifted = LambdaLift(relay.parse(source))
        PartialEvaluate(lifted)

"""Generated recursions: loops in which something is the same in all turns, sums, and lists that are built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from relay.ir.expr import Call, Expr, Function, GlobalVar, If, Let, Var, const
from relay.ir.module import IRModule
from relay.ir.types import TypeCall
from tests.programs import tensors
from tests.programs.generate import LIBRARY, MAX_FUEL, Generator, Program, Scope
from tests.programs.universe import BOOL, FLOAT, INT, MATRIX, VECTOR, list_of

CLOSED = (INT, FLOAT, BOOL, VECTOR, MATRIX)
INPUTS = (INT, VECTOR, MATRIX)


@dataclass(slots=True, eq=False)
class _Recursion:
    """`around` is what is the same in all turns, `inside` what a turn may use."""

    generator: Generator
    type_: Any
    around: Scope
    inside: Scope
    again: Callable[..., Expr]
    state: tuple[Var, ...]

    def step(self) -> Expr:
        """The end of a turn that has another."""
        generator = self.generator
        if self.state:
            same = generator.expr(self.around, VECTOR, generator.number(1, 6))
            own = generator.expr(self.inside, VECTOR, generator.number(0, 6))
            return self.again(tensors.call("add", own, same))
        if isinstance(self.type_, TypeCall):
            cons, _ = next(each for each in generator.universe.constructors(self.type_) if each[0].inputs)
            return Call(cons, (generator.expr(self.inside, self.type_.args[0], generator.number(0, 8)), self.again()))
        own = generator.expr(self.inside, INT, generator.number(0, 8))
        operands = (own, self.again()) if generator.number(0, 1) else (self.again(), own)
        return tensors.call(("add", "multiply", "maximum")[generator.number(0, 2)], *operands)

    def turn(self) -> Expr:
        """A turn: perhaps something before its end, perhaps one of two ends."""
        generator = self.generator
        if generator.number(0, 1):
            bound = generator.fresh(VECTOR if generator.number(0, 1) else INT, "b")
            value = generator.expr(self.inside, bound.type_annotation or INT, 4)
            return Let(bound, value, self.step())
        if generator.number(0, 2) == 0:
            return If(generator.expr(self.inside, BOOL, 3), self.step(), self.step())
        return self.step()


@st.composite
def recursions(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Program:
    """A program with one recursive function, global or bound by a let, and arguments for its `@main`."""
    generator = Generator(draw, CLOSED)
    type_ = draw(st.sampled_from((VECTOR, INT, list_of(INT), list_of(VECTOR))))
    outer = tuple(generator.fresh(each, "x") for each in INPUTS)
    is_global = generator.number(0, 1)
    handed = outer if is_global else (generator.fresh(VECTOR, "w"),)
    counter, loop = generator.fresh(INT, "i"), GlobalVar("loop") if is_global else Var("loop")
    state = (generator.fresh(VECTOR, "s"),) if type_ == VECTOR else ()
    around = Scope().with_variables(*outer, *handed)
    inside = around.with_variables(counter, *state)

    def again(*values: Expr) -> Expr:
        return Call(loop, (tensors.call("subtract", counter, const(1)), *handed, *values))

    recursion = _Recursion(generator, type_, around, inside, again, state)
    end: Expr = state[0] if state else generator.expr(around, type_, 3)
    body = If(tensors.call("less_equal", counter, const(0)), end, recursion.turn())
    function = Function((counter, *handed, *state), body, type_)
    fuel = const(generator.number(0, MAX_FUEL))
    if is_global:
        params = tuple(generator.fresh(each, "y") for each in INPUTS)
        handed_over = [const(np.full(3, 0.5, np.float32)) if each.type_annotation == VECTOR and generator.number(0, 1)
                       else each for each in params]  # fmt: skip
        main = Function(params, Call(loop, (fuel, *handed_over, *params[1:2][: len(state)])), type_)
        functions = {GlobalVar("loop"): function, GlobalVar("main"): main}
    else:
        start = Call(loop, (fuel, outer[1], *outer[1:2][: len(state)]))
        functions = {GlobalVar("main"): Function(outer, Let(loop, function, start), type_)}  # type: ignore[arg-type]
    arguments = tuple(tensors.argument(generator, each, 0) for each in INPUTS)
    return Program(IRModule({**LIBRARY.functions, **functions}, LIBRARY.type_definitions), arguments)

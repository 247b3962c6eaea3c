"""Generated recursions over trees, and over the trees of a list: what is batched by level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from relay.base.dtypes import DType
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    GlobalVar,
    Let,
    Match,
    PatternConstructor,
    PatternVar,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.types import GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from tests.programs import tensors
from tests.programs.generate import LIBRARY, Generator, Program, Scope
from tests.programs.universe import FLOAT, INT, VECTOR, list_of

CLOSED = (INT, FLOAT, VECTOR)
SHAPE = TypeCall(GlobalTypeVar("Shape"), ())
LIST = TypeCall(GlobalTypeVar("List"), (SHAPE,))
MOST_LEAVES = 5


class _TensorGenerator(Generator):
    """Draws operators on tensors only."""

    def expr(self, scope: Scope, type_: Type, size: int) -> Expr:
        if size <= 0 or not isinstance(type_, TensorType):
            return self.leaf(scope, type_)
        return (self.leaf, self.made, self.made)[self.number(0, 2)](scope, type_, size - 1)

    def tree(self, leaf: Expr, leaves: int) -> Expr:
        """A tree whose leaves hold sums with a value."""
        made = {constructor.name_hint: constructor for constructor, _ in self.universe.constructors(SHAPE)}
        if leaves > 1:
            left = self.number(1, leaves - 1)
            number = tensors.call("cast", leaf, dtype=DType.INT32)
            parts = (self.tree(leaf, left), number, self.tree(leaf, leaves - left))
            return Call(made["Join"], parts)
        if self.number(0, 3) == 0:
            return Call(made["Dot"], ())
        return Call(made["Line"], (self.expr(Scope().with_variables(*_only(leaf)), FLOAT, 3),))


def _only(expr: Expr) -> tuple[Var, ...]:
    return (expr,) if isinstance(expr, Var) else ()


@st.composite
def trees(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Program:
    """A function that calls itself for the parts of a tree, and a `@main` that calls it for one or for several."""
    g = _TensorGenerator(draw, CLOSED)
    results = ((FLOAT,), (VECTOR,), (FLOAT, VECTOR))[g.number(0, 2)]
    result: Type = results[0] if len(results) == 1 else TupleType(results)
    up, tree, weight = GlobalVar("up"), g.fresh(SHAPE, "t"), g.fresh(VECTOR, "w")
    around = Scope().with_variables(weight)
    function = Function((tree, weight), _turn(g, up, tree, weight, around, results), result)
    leaf, given = g.fresh(FLOAT, "x"), g.fresh(VECTOR, "y")
    roots = [g.tree(leaf, g.number(1, MOST_LEAVES)) for _ in range(g.number(1, 3))]
    if len(roots) == 1:
        body: Expr = Call(up, (roots[0], given))
        type_ = result
    else:
        each = g.fresh(SHAPE, "s")
        made = {constructor.name_hint: constructor for constructor, _ in g.universe.constructors(LIST)}
        items: Expr = Call(made["Nil"], (), type_args=(SHAPE,))
        for root in roots:
            items = Call(made["Cons"], (root, items))
        body = Call(GlobalVar("map"), (Function((each,), Call(up, (each, given)), result), items))
        type_ = list_of(result)
    functions = {up: function, GlobalVar("main"): Function((leaf, given), body, type_)}
    module = IRModule({**LIBRARY.functions, **functions}, LIBRARY.type_definitions)
    random = np.random.default_rng(g.number(0, 7))
    values = np.asarray(random.integers(-8, 9, 4) / 4, np.float32)
    return Program(module, (values[0].reshape(()), values[1:]))


def _turn(
    g: _TensorGenerator, up: GlobalVar, tree: Var, weight: Var, around: Scope, results: tuple[TensorType, ...]
) -> Expr:
    """One clause a constructor; what the parts are worth is a value as any other."""
    clauses: list[Clause] = []
    for constructor, fields in g.universe.constructors(SHAPE):
        bound = [g.fresh(field, "m") for field in fields]
        below: list[tuple[Var, Expr]] = []
        scope = around
        for var, field in zip(bound, fields, strict=True):
            if field == SHAPE:
                value = g.fresh(results[0] if len(results) == 1 else TupleType(results), "v")
                below.append((value, Call(up, (var, weight))))
                scope = scope.with_variables(value)
                for index, each in enumerate(results if len(results) > 1 else ()):
                    part = g.fresh(each, "q")
                    below.append((part, TupleGetItem(value, index)))
                    scope = scope.with_variables(part)
            else:
                scope = scope.with_variables(var)
        parts = tuple(g.expr(scope, each, g.number(0, 6)) for each in results)
        body = parts[0] if len(parts) == 1 else Tuple(parts)
        for var, value in reversed(below):
            body = Let(var, value, body)
        clauses.append(Clause(PatternConstructor(constructor, tuple(map(PatternVar, bound))), body))
    return Match(tree, tuple(clauses))

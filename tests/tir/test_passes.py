"""Random loop nests mean the same after every pass, and the pipeline leaves what targets can emit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.base.dtypes import DType
from relay.tir.buffer import Buffer, Scope
from relay.tir.equality import structural_equal
from relay.tir.expr import Binary, BinaryOp, Holds, IndexValue, Load, Select, Value, ValueVar, imm
from relay.tir.interpretation.interpreter import interpret
from relay.tir.passes.dispatch_tails import dispatch_tails
from relay.tir.passes.hoist_invariants import hoist_invariants
from relay.tir.passes.partition_loops import partition_loops
from relay.tir.passes.simplify import simplify
from relay.tir.passes.unroll_loops import unroll_loops
from relay.tir.passes.vectorize_loops import vectorize_loops
from relay.tir.pipeline import lower
from relay.tir.stmt import Allocate, For, If, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.text.parser import parse_primfunc
from relay.tir.text.printer import print_primfunc
from relay.tir.traversal import walk_statement
from relay.tir.verification.verifier import verify

INT = DType.INT32
KINDS = st.sampled_from([LoopKind.SERIAL, LoopKind.SERIAL, LoopKind.PARALLEL, LoopKind.UNROLLED, LoopKind.VECTORIZED])


def both(left: Value, right: Value) -> Value:
    return Binary(BinaryOp.AND, left, right)


def within(index: IntExpr, extent: IntExpr) -> Value:
    return both(Holds(Comparison(0, "<=", index)), Holds(Comparison(index, "<", extent)))


class Nest:
    """A random program under construction: loops over the axes of an output, each split or not, around a body."""

    def __init__(self, draw: Callable[..., object]) -> None:
        self.draw = draw
        self.n = Symbol("n")
        self.data = Buffer("data", (self.pick([9, self.n]), 7), INT)
        self.count = 0

    def pick(self, options: list[object]) -> object:
        return self.draw(st.sampled_from(options))

    def symbol(self, name: str) -> Symbol:
        self.count += 1
        return Symbol(f"{name}{self.count}")

    def axis(self, extent: IntExpr) -> tuple[IntExpr, Value | None, Callable[[Stmt], Stmt]]:
        """An index that takes every value below `extent` once, the guard it needs, and the loops that make it."""
        outer, inner = self.symbol("i"), self.symbol("j")
        kinds = [self.draw(KINDS), self.draw(KINDS)]
        factor = self.pick([None, 2, 4, 5])
        if factor is None:
            return outer, None, lambda body: For(outer, extent, body, kinds[0])
        index = outer * factor + inner
        guard = Holds(Comparison(index, "<", extent))
        count = (extent + (factor - 1)) // factor
        return index, guard, lambda body: For(outer, count, For(inner, factor, body, kinds[1]), kinds[0])

    def read(self, indices: list[IntExpr]) -> Value:
        """A padded read of the input somewhere around `indices`."""
        rows, columns = self.data.shape
        shift, scale = self.draw(st.integers(-2, 2)), self.pick([1, 1, 2])
        at = (self.pick(indices) * scale + shift, self.pick(indices) - self.draw(st.integers(-2, 2)))
        if self.draw(st.integers(0, 5)) == 0:
            at = (at[0] // 2, at[1])
        guards = both(within(at[0], rows), within(at[1], columns))
        return Select(guards, Load(self.data, at), imm(self.draw(st.integers(0, 1)), INT))

    def value(self, indices: list[IntExpr]) -> Value:
        choice = self.draw(st.integers(0, 5))
        if choice == 0:
            return IndexValue(self.pick(indices) * 3 + self.pick(indices), INT)
        if choice == 4:
            return self.read(indices) / self.read([self.pick(indices)])
        if choice == 5:
            there = Holds(Comparison(0, "<", self.data.shape[0]))
            return self.read(indices) + imm(60, INT) / Select(there, Load(self.data, (0, 6)), imm(7, INT))
        if choice == 1:
            return self.read(indices) * self.read(indices)
        return self.read(indices) + imm(self.draw(st.integers(-2, 2)), INT)

    def body(self, target: Buffer, indices: tuple[IntExpr, ...]) -> Stmt:
        choice = self.draw(st.integers(0, 3))
        if choice == 0:
            variable = ValueVar("v", INT)
            return LetValue(variable, self.value(list(indices)), Store(target, indices, variable + variable))
        if choice == 1:
            return Store(target, indices, self.value(list(indices)))
        total = Buffer("total", (), INT, Scope.LOCAL)
        k = self.symbol("k")
        step = Store(total, (), Load(total, ()) + self.value([*indices, k]))
        if self.draw(st.booleans()):
            step = If(within(k + self.pick(list(indices)) - 2, 6), step)
        kind = self.pick([LoopKind.SERIAL, LoopKind.UNROLLED])
        loop = For(k, self.pick([1, 3, 4]), step, kind)
        finish = Store(target, indices, Load(total, ()))
        return Allocate(total, Sequence((Store(total, (), imm(0, INT)), loop, finish)))


@st.composite
def programs(draw: Callable[..., object]) -> PrimFunc:
    nest = Nest(draw)
    out = Buffer("out", (nest.pick([5, 12, nest.n]), nest.pick([1, 8, 10, 70])), INT)
    axes = [nest.axis(extent) for extent in out.shape]
    statement = nest.body(out, (axes[0][0], axes[1][0]))
    for _, guard, _ in axes:
        if guard is not None:
            statement = If(guard, statement)
    for _, _, wrap in reversed(axes):
        statement = wrap(statement)
    return PrimFunc("program", (nest.data, out), 1, (nest.n,), statement)


def run(func: PrimFunc, n: int) -> np.ndarray:
    def shape(buffer: Buffer) -> tuple[int, ...]:
        return tuple(n if extent is func.symbols[0] else extent for extent in buffer.shape)  # type: ignore[misc]

    data_shape = shape(func.parameters[0])
    data = np.arange(1, 1 + int(np.prod(data_shape)), dtype=np.int32).reshape(data_shape)
    out = np.full(shape(func.parameters[1]), -9, np.int32)
    interpret(func, [data, out], [n])
    return out


PASSES = [simplify, partition_loops, dispatch_tails, vectorize_loops, hoist_invariants, unroll_loops, lower]


@settings(max_examples=25, deadline=None)
@given(programs(), st.sampled_from([0, 1, 6, 17]))
def test_every_pass_keeps_the_meaning(func: PrimFunc, n: int) -> None:
    expected = run(func, n)
    for apply in PASSES:
        np.testing.assert_array_equal(run(apply(func), n), expected, err_msg=apply.__name__)


@settings(max_examples=30, deadline=None)
@given(programs())
def test_lowered_programs_are_ready_for_targets(func: PrimFunc) -> None:
    lowered = lower(func)
    kinds = {part.kind for part in walk_statement(lowered.body) if isinstance(part, For)}
    assert kinds <= {LoopKind.SERIAL, LoopKind.PARALLEL}
    bound = [part.variable for part in walk_statement(lowered.body) if isinstance(part, For)]
    assert len(bound) == len(set(bound))
    certain = [violation for violation in verify(lowered) if violation.rule != "index-unproven"]
    assert certain == [], print_primfunc(lowered)


@settings(max_examples=30, deadline=None)
@given(programs(), st.booleans())
def test_text_reads_back(func: PrimFunc, lowered: bool) -> None:
    func = lower(func) if lowered else func
    text = print_primfunc(func)
    again = parse_primfunc(text)
    assert structural_equal(func, again), text
    assert print_primfunc(again) == text

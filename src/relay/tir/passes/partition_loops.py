"""Split the iterations of loops so that guards which hold for most of them vanish there.

    before: for i in 7 { for j in 16 { if 16*i + j < 100 { b[16*i + j] = a[16*i + j] } } }
    after:  for i in 6 { for j in 16 { b[16*i + j] = a[16*i + j] } }   for j in 4 { b[96 + j] = a[96 + j] }

Three steps, each only where it pays:
- A loop whose whole body is guarded by its own symbol runs over what the guard lets through (`clamp_loops`).
- A serial loop with guards (in conditions, selects, masks, or a minimum in the extent of an inner loop) that hold for
  all iterations from one to another becomes up to three loops: before, main without the guards, after.
- A parallel loop, or a serial one too large to copy twice, gets one branch on its symbol instead: main body or guarded
  body, decided once for each iteration. So does a loop that was made of several, whose guards are about one of them:
  about `i // n` or `i % n`.

Extents and guards may be symbolic. Copies stop when the function has grown by GROWTH_LIMIT statements (unrolled ones
counted), so that tails of tails cannot explode; what is left keeps its guard. VECTORIZED and UNROLLED loops are not
partitioned: their guards become masks, or are decided in each copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from relay.arith.expr import (
    Comparison,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Symbol,
    add,
    children,
    free_symbols,
    linear_parts,
    linear_sum,
    maximum,
    minimum,
    multiply,
)
from relay.arith.inequality import non_negative_forms
from relay.arith.simplify import Assumptions
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.tir.conditions import facts_unless, facts_when, function_assumptions
from relay.tir.expr import Binary, BinaryOp, Holds, Value, imm
from relay.tir.passes.clamp_loops import clamp_loops, limits_of
from relay.tir.passes.simplify import simplify_statement
from relay.tir.passes.template import fresh_copy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import (
    map_statement,
    map_value,
    statement_children,
    statement_values,
    walk_statement,
    walk_value,
)

GROWTH_LIMIT = 1024


def partition_loops(func: PrimFunc) -> PrimFunc:
    """`func` with guards taken out of main loops; the same object if there is nothing to gain."""
    if next(_guards(func.body), None) is None:
        return func
    known = function_assumptions(func)
    body = _Partitioner(GROWTH_LIMIT).statement(clamp_loops(func.body, known), known)
    return func if body is func.body else replace(func, body=body)


@frozen
class Split:
    """The iterations `low <= i < high` of a loop, in all of which `conditions` hold; `tests` say that i is there.

    `decided` if `0 <= low <= high <= extent` is certain, and neither is a choice between expressions.
    """

    low: IntExpr
    high: IntExpr
    conditions: frozenset[Comparison]
    tests: tuple[Comparison, ...]
    decided: bool


class _Partitioner:
    """Walks from the outermost loop in; `growth` is how many more statements copies may add."""

    def __init__(self, growth: int) -> None:
        self._growth = growth

    def statement(self, statement: Stmt, known: Assumptions) -> Stmt:
        match statement:
            case For():
                return self._loop(statement, known)
            case Sequence(statements):
                parts = tuple([self.statement(part, known) for part in statements])
                same = all(new is old for new, old in zip(parts, statements, strict=True))
                return statement if same else Sequence(parts)
            case If(condition, then, otherwise):
                new_then = self.statement(then, known.assuming(*facts_when(condition)))
                failing = known.assuming(*facts_unless(condition))
                new_otherwise = None if otherwise is None else self.statement(otherwise, failing)
                same = new_then is then and new_otherwise is otherwise
                return statement if same else If(condition, new_then, new_otherwise)
            case LetValue(variable, value, body):
                new = self.statement(body, known)
                return statement if new is body else LetValue(variable, value, new)
            case Allocate(buffer, body):
                new = self.statement(body, known)
                return statement if new is body else Allocate(buffer, new)
            case Store() | Evaluate() | Issue():
                return statement
            case _:
                assert_never(statement)

    def _loop(self, loop: For, known: Assumptions) -> Stmt:
        split = _find_split(loop, known) if loop.kind in (LoopKind.SERIAL, LoopKind.PARALLEL) else None
        if split is not None:
            size = _weight(loop.body)
            pieces = (split.low != 0) + (split.high != loop.extent)
            if split.decided and loop.kind is LoopKind.SERIAL and pieces * size <= self._growth:
                self._growth -= pieces * size
                return self._in_pieces(loop, split, known)
            has_loops = any(isinstance(part, For) for part in walk_statement(loop.body))
            if has_loops and size <= self._growth:
                self._growth -= size
                return self._with_branch(loop, split, known)
        body = self.statement(loop.body, known.with_loop(loop.variable, loop.extent))
        return loop if body is loop.body else For(loop.variable, loop.extent, body, loop.kind, loop.annotations)

    def _in_pieces(self, loop: For, split: Split, known: Assumptions) -> Stmt:
        """Three loops. What growth is left goes to the main one before the others."""
        main = self._piece(loop, split.low, split.high - split.low, _without(loop.body, split.conditions), known)
        before = self._piece(loop, 0, split.low, loop.body, known)
        after = self._piece(loop, split.high, loop.extent - split.high, loop.body, known)
        parts = (*before, *main, *after)
        return parts[0] if len(parts) == 1 else Sequence(parts)

    def _piece(self, loop: For, start: IntExpr, count: IntExpr, body: Stmt, known: Assumptions) -> tuple[Stmt, ...]:
        """The `count` iterations from `start` on, partitioned. Those from 0 on are the loop itself, others a copy."""
        extent = known.simplify(maximum(count, 0))
        if extent == 0:
            return ()
        variable = loop.variable
        if start != 0:
            variable = Symbol(loop.variable.name)
            body = fresh_copy(body, {loop.variable: variable + start})
        part = simplify_statement(For(variable, extent, body, loop.kind, loop.annotations), known)
        part = self.statement(clamp_loops(part, known), known)
        return part.statements if isinstance(part, Sequence) else (part,)

    def _with_branch(self, loop: For, split: Split, known: Assumptions) -> Stmt:
        inside = known.with_loop(loop.variable, loop.extent)
        condition = _all_hold([test for test in split.tests if not inside.certain(test)])
        main = _without(fresh_copy(loop.body, {}), split.conditions)
        lonely = _only_other_iteration(loop, split)
        rest = loop.body if lonely is None else fresh_copy(loop.body, {loop.variable: lonely})
        body = simplify_statement(If(condition, main, rest), inside)
        body = self.statement(clamp_loops(body, inside), inside)
        return For(loop.variable, loop.extent, body, loop.kind, loop.annotations)


def _only_other_iteration(loop: For, split: Split) -> IntExpr | None:
    """The one iteration outside of the split, if it is just one."""
    if not split.decided:
        return None
    if split.low == 0 and loop.extent - split.high == 1:
        return split.high
    return 0 if split.low == 1 and split.high == loop.extent else None


def _all_hold(tests: list[Comparison]) -> Value:
    condition: Value = imm(True, DType.BOOL) if not tests else Holds(tests[0])
    for test in tests[1:]:
        condition = Binary(BinaryOp.AND, condition, Holds(test))
    return condition


def _without(statement: Stmt, conditions: frozenset[Comparison]) -> Stmt:
    """`statement` where these conditions are known to hold."""

    def decide(value: Value) -> Value:
        if isinstance(value, Holds) and value.condition in conditions:
            return imm(True, DType.BOOL, value.lanes)
        return value

    return map_statement(statement, lambda part: part, lambda value: map_value(value, decide))


def _weight(statement: Stmt) -> int:
    """How many statements a body is once its loops are unrolled."""
    match statement:
        case For(extent=int(extent), kind=LoopKind.UNROLLED, body=body):
            return extent * _weight(body)
        case Store() | Evaluate():
            return 1
        case _:
            return sum(map(_weight, statement_children(statement)))


# --- finding splits -------------------------------------------------------------------------------------------------


def _guards(statement: Stmt) -> Iterator[Comparison]:
    """Comparisons that conditions and extents of loops inside decide."""
    for part in walk_statement(statement):
        for value in statement_values(part):
            for node in walk_value(value):
                if isinstance(node, Holds):
                    yield node.condition
        if isinstance(part, For):
            yield from _choices(part.extent)


def _choices(index: IntExpr) -> Iterator[Comparison]:
    """What must hold for a minimum or maximum in an extent to be its constant side."""
    if isinstance(index, (Min, Max)):
        constant, other = (index.left, index.right) if isinstance(index.left, int) else (index.right, index.left)
        if isinstance(constant, int):
            sides = (constant, other) if isinstance(index, Min) else (other, constant)
            yield Comparison(sides[0], "<=", sides[1])
    for part in children(index):
        yield from _choices(part)


def _find_split(loop: For, known: Assumptions) -> Split | None:
    """The iterations in which as many guards as possible hold, if that is neither all nor (certainly) none."""
    inside = known.with_loop(loop.variable, loop.extent)
    ranges = inside
    inner: set[Symbol] = set()
    for part in walk_statement(loop.body):
        if isinstance(part, For):
            inner.add(part.variable)
            ranges = ranges.with_loop(part.variable, part.extent)
    low: IntExpr = 0
    high: IntExpr = loop.extent
    taken: set[Comparison] = set()
    tests: list[Comparison] = []
    of_parts: list[Comparison] = []
    for guard in dict.fromkeys(_guards(loop.body)):
        if loop.variable not in free_symbols(guard.left) | free_symbols(guard.right) or inside.certain(guard):
            continue
        limits = limits_of(guard, loop.variable, inner, ranges)
        if limits is None:
            found = _tests_of_part(guard, loop.variable, inner, ranges)
            if found:
                taken.add(guard)
                of_parts += found
            continue
        new_low = low if limits[0] is None else known.simplify(maximum(low, limits[0]))
        new_high = high if limits[1] is None else known.simplify(minimum(high, limits[1]))
        if not known.is_non_negative(add(new_low, multiply(new_high, -1))):
            low, high = new_low, new_high
            taken.add(guard)
            tests += [] if limits[0] is None else [Comparison(limits[0], "<=", loop.variable)]
            tests += [] if limits[1] is None else [Comparison(loop.variable, "<", limits[1])]
    if not taken or (low == 0 and high == loop.extent and not of_parts):
        return None
    plain = not any(map(_is_choice, (low, high, loop.extent)))
    decided = plain and not of_parts and known.certain(Comparison(low, "<=", high))
    return Split(low, high, frozenset(taken), tuple(dict.fromkeys(tests + of_parts)), decided)


def _tests_of_part(guard: Comparison, variable: Symbol, inner: set[Symbol], known: Assumptions) -> list[Comparison]:
    """Tests of one part of the number of an iteration, `variable // n` or `variable % n`, with which `guard` holds
    whatever the symbols of inner loops are; none if there are none to be found."""
    forms = () if guard.op == "==" else non_negative_forms(guard)
    terms = [term for form in forms for term, _ in linear_parts(form)[1]]
    parts = {term for term in terms if isinstance(term, (FloorDiv, FloorMod)) and variable in free_symbols(term)}
    if len(parts) != 1:
        return []
    (part,) = parts
    if free_symbols(part) & inner:
        return []
    place = Symbol("part")
    tests: list[Comparison] = []
    for form in forms:
        constant, addends = linear_parts(form)
        whole = linear_sum(constant, [(place if term == part else term, factor) for term, factor in addends])
        limits = limits_of(Comparison(0, "<=", whole), place, inner, known)
        if limits is None or variable in free_symbols(whole):
            return []
        low, high = limits
        tests += [] if low is None else [Comparison(low, "<=", part)]
        tests += [] if high is None else [Comparison(part, "<", high)]
    return tests


def _is_choice(index: IntExpr) -> bool:
    return isinstance(index, (Min, Max)) or any(map(_is_choice, children(index)))

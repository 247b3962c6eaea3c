"""Run loops over the iterations that a guard around their whole body lets through.

    before: for k in 3 { if i + k - 1 >= 0 { if i + k - 1 < n { s[i] = s[i] + a[i + k - 1] } } }
    after:  for k in min(3, n - i + 1) - max(0, 1 - i) { s[i] = s[i] + a[i + k + max(0, 1 - i) - 1] }

Only serial loops: the number of lanes and of unrolled copies should stay constant. No code grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from relay.arith.expr import (
    Atom,
    Comparison,
    IntExpr,
    Max,
    Min,
    Node,
    Symbol,
    add,
    children,
    free_symbols,
    linear_parts,
    maximum,
    minimum,
    multiply,
)
from relay.arith.inequality import non_negative_forms
from relay.arith.simplify import Assumptions
from relay.tir.conditions import facts_unless, facts_when
from relay.tir.expr import Binary, BinaryOp, Holds, Value
from relay.tir.passes.template import fresh_copy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Sequence, Stmt, Store

CHOICE_LIMIT = 2
"""Minima and maxima that the new extent of a loop may hold; guards that need more stay guards."""


def clamp_loops(statement: Stmt, known: Assumptions) -> Stmt:
    """`statement` with its guarded loops shortened, where `known` holds; the same object if there are none."""
    match statement:
        case For(variable, extent, body, kind, annotations):
            new = clamp_loops(body, known.with_loop(variable, extent))
            loop = statement if new is body else For(variable, extent, new, kind, annotations)
            return _clamp(loop, known) if kind is LoopKind.SERIAL and isinstance(new, If) else loop
        case Sequence(statements):
            parts = tuple([clamp_loops(part, known) for part in statements])
            same = all(new is old for new, old in zip(parts, statements, strict=True))
            return statement if same else Sequence(parts)
        case If(condition, then, otherwise):
            new_then = clamp_loops(then, known.assuming(*facts_when(condition)))
            failing = known.assuming(*facts_unless(condition))
            new_otherwise = None if otherwise is None else clamp_loops(otherwise, failing)
            same = new_then is then and new_otherwise is otherwise
            return statement if same else If(condition, new_then, new_otherwise)
        case LetValue(variable, value, body):
            new = clamp_loops(body, known)
            return statement if new is body else LetValue(variable, value, new)
        case Allocate(buffer, body):
            new = clamp_loops(body, known)
            return statement if new is body else Allocate(buffer, new)
        case Store() | Evaluate() | Issue():
            return statement
        case _:
            assert_never(statement)


def _clamp(loop: For, known: Assumptions) -> Stmt:
    guarded = loop.body
    if not isinstance(guarded, If) or guarded.otherwise is not None:
        return loop
    low: IntExpr = 0
    high = loop.extent
    remaining: list[Value] = []
    for conjunct in _conjuncts(guarded.condition):
        limits = limits_of(conjunct.condition, loop.variable, set(), known) if isinstance(conjunct, Holds) else None
        if limits is None:
            remaining.append(conjunct)
            continue
        low = low if limits[0] is None else maximum(low, limits[0])
        high = high if limits[1] is None else minimum(high, limits[1])
    low, high = known.simplify(low), known.simplify(high)
    if (low == 0 and high == loop.extent) or _choices(low) + _choices(high) > CHOICE_LIMIT:
        return loop
    body = guarded.then
    for conjunct in reversed(remaining):
        body = If(conjunct, body)
    variable = Symbol(loop.variable.name)
    copy = fresh_copy(body, {loop.variable: variable + low})
    extent = known.simplify(maximum(high - low, 0))
    return For(variable, extent, copy, loop.kind, loop.annotations)


def _choices(index: IntExpr) -> int:
    """How many minima and maxima are in an index."""
    return isinstance(index, (Min, Max)) + sum(map(_choices, children(index)))


def _conjuncts(condition: Value) -> Iterator[Value]:
    if isinstance(condition, Binary) and condition.op is BinaryOp.AND:
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def limits_of(
    guard: Comparison, variable: Symbol, inner: set[Symbol], known: Assumptions
) -> tuple[IntExpr | None, IntExpr | None] | None:
    """`(low, high)` such that `guard` holds wherever `low <= variable < high`, whatever the symbols of inner loops are.

    None if there is no such range to be found.
    """
    low: IntExpr | None = None
    high: IntExpr | None = None
    forms = non_negative_forms(guard)
    if guard.op == "==" or not forms:
        return None
    for form in forms:
        constant, terms = linear_parts(form)
        step, rest = 0, constant
        outer: list[tuple[Node, int]] = []
        for term, coefficient in terms:
            if term is variable:
                step = coefficient
            elif isinstance(term, Atom) or variable in free_symbols(term):
                return None
            elif free_symbols(term) & inner:
                smallest = known.bounds(multiply(term, coefficient)).low
                if smallest is None:
                    return None
                rest += smallest
            else:
                outer.append((term, coefficient))
        total: IntExpr = rest
        for term, coefficient in outer:
            total = add(total, multiply(term, coefficient))
        if step == 0:
            return None
        if step > 0:
            low = multiply(total // step, -1)
        else:
            high = total // -step + 1
    return low, high

"""Turn vectorized loops into explicit vectors.

    before: vectorized j in 16 { if 16*i + j < 100 { b[16*i + j] = a[16*i + j] + bias[i] } }
    after:  b[ramp(16*i, 1, 16)] = load(a[ramp(16*i, 1, 16)], mask) + broadcast(bias[i], 16) where mask
            with mask = ramp_value(0, 1, int32x16) < broadcast(index_value(100 - 16*i, int32), 16)

The lanes of a loop are its iterations: a constant extent up to 64 is the number of lanes; longer and symbolic extents
become a loop over vectors and a masked tail. Loops inside the vectorized one stay loops, of vectors. A guard on the
lanes becomes a mask; loads that are certain to be in bounds need none. A buffer allocated inside gets an axis of lanes.

What cannot be a vector (a lane symbol in two indices or inside a division, iterations that depend on each other, a
nested loop whose extent depends on the lane) is split statement by statement where that is legal; what remains is
unrolled up to 16 iterations, else serial, and the loop carries the annotation `not_vectorized` with the reason. Where
values tell what is read it stays serial, but for registers: the machine's own gathers are for its code generator to
choose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.arith.simplify import Assumptions
from relay.tir.buffer import Scope
from relay.tir.conditions import facts_unless, facts_when, function_assumptions
from relay.tir.expr import Holds, Load
from relay.tir.passes.lanes import LaneBuilder, NotVectorizable
from relay.tir.passes.template import fresh_copy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import statement_values, value_indices, values_in_index, walk_statement, walk_value

MAXIMUM_LANES = 64
DEFAULT_LANES = 16
UNROLL_LIMIT = 16


def vectorize_loops(func: PrimFunc) -> PrimFunc:
    """`func` without VECTORIZED loops; the same object if it has none."""
    body = _statement(func.body, function_assumptions(func), func)
    return func if body is func.body else replace(func, body=body)


def _statement(statement: Stmt, known: Assumptions, func: PrimFunc) -> Stmt:
    match statement:
        case For(variable, extent, body, kind, annotations):
            new = _statement(body, known.with_loop(variable, extent), func)
            if kind is LoopKind.VECTORIZED:
                return _vectorized(For(variable, extent, new, kind, annotations), known, func)
            return statement if new is body else For(variable, extent, new, kind, annotations)
        case Sequence(statements):
            parts = tuple([_statement(part, known, func) for part in statements])
            same = all(new is old for new, old in zip(parts, statements, strict=True))
            return statement if same else Sequence(parts)
        case If(condition, then, otherwise):
            new_then = _statement(then, known.assuming(*facts_when(condition)), func)
            new_otherwise = (
                None if otherwise is None else _statement(otherwise, known.assuming(*facts_unless(condition)), func)
            )
            same = new_then is then and new_otherwise is otherwise
            return statement if same else If(condition, new_then, new_otherwise)
        case LetValue(variable, value, body):
            new = _statement(body, known, func)
            return statement if new is body else LetValue(variable, value, new)
        case Allocate(buffer, body):
            new = _statement(body, known, func)
            return statement if new is body else Allocate(buffer, new)
        case Store() | Evaluate() | Issue():
            return statement
        case _:
            assert_never(statement)


def _vectorized(loop: For, known: Assumptions, func: PrimFunc) -> Stmt:
    """A VECTORIZED loop, whose body has none, as vectors or as what replaces them."""
    high = known.bounds(loop.extent).high
    if not isinstance(loop.extent, int) and high is not None and high <= MAXIMUM_LANES:
        return _vectorized(_guarded(loop, high), known, func)
    if not isinstance(loop.extent, int) or loop.extent > MAXIMUM_LANES:
        return _in_vectors(loop, known, func)
    try:
        return LaneBuilder(loop, loop.extent, known, func).build()
    except NotVectorizable as reason:
        return _one_by_one(loop, str(reason), known, func)


def _guarded(loop: For, lanes: int) -> For:
    """The same loop with a constant number of iterations, of which those beyond its extent do nothing."""
    guard = Holds(Comparison(loop.variable, "<", loop.extent))
    return For(loop.variable, lanes, If(guard, loop.body), loop.kind, loop.annotations)


def _in_vectors(loop: For, known: Assumptions, func: PrimFunc) -> Stmt:
    """A loop over whole vectors and, if the lanes do not divide the extent, a masked one for the rest."""
    lanes = _lanes_for(loop.extent)
    count, rest = loop.extent // lanes, loop.extent % lanes
    block = Symbol(f"{loop.variable.name}.vector")
    lane = Symbol(loop.variable.name)
    body = fresh_copy(loop.body, {loop.variable: lanes * block + lane})
    whole = For(lane, lanes, body, LoopKind.VECTORIZED, loop.annotations)
    main = For(block, count, _vectorized(whole, known.with_loop(block, count), func))
    if known.simplify(rest) == 0:
        return main
    last = Symbol(loop.variable.name)
    tail = fresh_copy(loop.body, {loop.variable: lanes * count + last})
    guard = Holds(Comparison(last, "<", rest))
    masked = _vectorized(For(last, lanes, If(guard, tail), LoopKind.VECTORIZED, loop.annotations), known, func)
    if not isinstance(rest, int):
        masked = If(Holds(Comparison(0, "<", rest)), masked)
    return Sequence((main, masked))


def _lanes_for(extent: IntExpr) -> int:
    """The lanes of one vector of a long loop: the largest power of two from 8 to 64 that divides it, else 16."""
    powers = (lanes for lanes in (64, 32, 16, 8) if isinstance(extent, int) and extent % lanes == 0)
    return next(powers, DEFAULT_LANES)


def _one_by_one(loop: For, reason: str, known: Assumptions, func: PrimFunc) -> Stmt:
    """What is done instead: the statements of the body each on their own, or iterations that say why."""
    if isinstance(loop.body, Sequence) and LaneBuilder(loop, DEFAULT_LANES, known, func).iterations_are_apart():
        parts: list[Stmt] = []
        for part in loop.body.statements:
            variable = Symbol(loop.variable.name)
            body = fresh_copy(part, {loop.variable: variable})
            parts.append(_vectorized(For(variable, loop.extent, body, loop.kind, loop.annotations), known, func))
        return Sequence(tuple(parts))
    few = isinstance(loop.extent, int) and loop.extent <= UNROLL_LIMIT
    kind = LoopKind.UNROLLED if few and not _gathers(loop.body) else LoopKind.SERIAL
    return For(loop.variable, loop.extent, loop.body, kind, (*loop.annotations, ("not_vectorized", reason)))


def _gathers(body: Stmt) -> bool:
    """Whether values tell where something is read, and nothing is in registers, whose places are constants."""
    stores = [part.buffer for part in walk_statement(body) if isinstance(part, Store)]
    values = [each for part in walk_statement(body) for value in statement_values(part) for each in walk_value(value)]
    touched = [*stores, *(value.buffer for value in values if isinstance(value, Load))]
    if any(buffer.scope == Scope.REGISTER for buffer in touched):
        return False
    return any(values_in_index(index) for value in values for index in value_indices(value))

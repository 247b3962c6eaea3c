"""Write a tail of few rows once for each number of rows that it may have.

    before: alloc s: float32[3] register {                       (n - 3*t is at most 2 here)
              for k in 8 { unrolled i in 3 { if i < n - 3*t { s[i] = s[i] + a[3*t + i, k] } } } … }
    after:  if n - 3*t == 1 { alloc s { for k in 8 { unrolled i in 1 { s[i] = s[i] + a[3*t + i, k] } } … } }
            else { if n - 3*t == 2 { alloc s { for k in 8 { unrolled i in 2 { … } } } } }

Where the number of rows is symbolic, what is left behind whole tiles is a guard on each row of a tile, decided again in
each step of a sum: a product of one row took twice its time. Only in a region that accumulates in registers, whose
guards are about one number of rows and around all that is stored, so that without rows nothing happens; for up to
MOST_ROWS rows (of more, the guards are little beside the work), and while the copies stay below GROWTH_LIMIT
statements. Where more rows are possible, what has the guards stays for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from relay.arith.expr import Comparison, IntExpr, Symbol, free_symbols
from relay.arith.simplify import Assumptions
from relay.base.frozen import frozen
from relay.tir.buffer import Scope
from relay.tir.conditions import facts_unless, facts_when, function_assumptions
from relay.tir.expr import Call, Holds
from relay.tir.intrinsics import EFFECT_FREE_HINTS
from relay.tir.passes.clamp_loops import limits_of
from relay.tir.passes.template import fresh_copy
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, PrimFunc, Sequence, Stmt, Store
from relay.tir.traversal import map_statement, statement_children, walk_statement

GROWTH_LIMIT = 1024
MOST_ROWS = 5


def dispatch_tails(func: PrimFunc) -> PrimFunc:
    """`func` with such tails written out; the same object if there are none."""
    body = _Dispatcher(GROWTH_LIMIT).statement(func.body, function_assumptions(func))
    return func if body is func.body else replace(func, body=body)


@frozen
class _Tail:
    """A tile of `size` rows of which the first `rows` are there."""

    rows: IntExpr
    size: int


class _Dispatcher:
    """Walks from the outermost statement in; `growth` is how many more statements copies may add."""

    def __init__(self, growth: int) -> None:
        self._growth = growth

    def statement(self, statement: Stmt, known: Assumptions) -> Stmt:
        match statement:
            case For(variable, extent, body, kind, annotations):
                new = self.statement(body, known.with_loop(variable, extent))
                return statement if new is body else For(variable, extent, new, kind, annotations)
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
                tail = _tail(statement, known) if buffer.scope is Scope.REGISTER else None
                if tail is not None:
                    return self._written_out(statement, tail, known)
                new = self.statement(body, known)
                return statement if new is body else Allocate(buffer, new)
            case Store() | Evaluate() | Issue():
                return statement
            case _:
                assert_never(statement)

    def _written_out(self, statement: Allocate, tail: _Tail, known: Assumptions) -> Stmt:
        """A choice between copies for each number of rows; without any row nothing happens."""
        few = min(tail.size - 1, MOST_ROWS)
        counts = [count for count in range(1, few + 1) if not _is_never(tail.rows, count, known)]
        growth = sum(_weight(statement, tail, count) for count in counts)
        if not counts or growth > self._growth:
            return statement
        self._growth -= growth
        chosen = None
        for count in reversed(counts):
            chosen = If(Holds(Comparison(tail.rows, "==", count)), _of_rows(statement, tail, count, known), chosen)
        assert chosen is not None
        is_few = Comparison(tail.rows, "<=", few)
        return chosen if known.certain(is_few) else If(Holds(is_few), chosen, statement)


def _is_never(rows: IntExpr, count: int, known: Assumptions) -> bool:
    return known.certain(Comparison(rows, "<", count)) or known.certain(Comparison(count, "<", rows))


def _tail(statement: Allocate, known: Assumptions) -> _Tail | None:
    """The tail that all guards inside are about, if they are around all that is stored, and a sum has them in each of
    its steps."""
    found: set[_Tail] = set()
    inside = {part.variable for part in walk_statement(statement) if isinstance(part, For)}
    for loop in _guarded(statement):
        tail = _tail_of(loop, inside, known)
        if tail is None:
            return None
        found.add(tail)
    sums = (part for part in walk_statement(statement) if isinstance(part, For) and part.kind is LoopKind.SERIAL)
    repeated = any(next(_guarded(part.body), None) is not None for part in sums)
    return found.pop() if repeated and len(found) == 1 and not _stores_apart(statement) else None


def _stores_apart(statement: Stmt) -> bool:
    """Whether something other than hints happens outside of guarded loops."""
    match statement:
        case For(body=If(), kind=LoopKind.UNROLLED):
            return False
        case Evaluate(Call(name)) if name in EFFECT_FREE_HINTS:
            return False
        case Store() | Evaluate():
            return True
        case _:
            return any(map(_stores_apart, statement_children(statement)))


def _guarded(statement: Stmt) -> Iterator[For]:
    """Unrolled loops whose body has a guard."""
    for part in walk_statement(statement):
        if isinstance(part, For) and part.kind is LoopKind.UNROLLED and isinstance(part.body, If):
            yield part


def _tail_of(loop: For, inside: set[Symbol], known: Assumptions) -> _Tail | None:
    """What the guard of an unrolled loop lets through, if that is a number of rows from the first on that is known
    before the statement which binds `inside`."""
    if not isinstance(loop.body, If) or not isinstance(loop.body.condition, Holds) or loop.body.otherwise is not None:
        return None
    limits = limits_of(loop.body.condition.condition, loop.variable, set(), known)
    if limits is None or limits[0] is not None or limits[1] is None or not isinstance(loop.extent, int):
        return None
    rows = known.simplify(limits[1])
    return None if isinstance(rows, int) or free_symbols(rows) & inside else _Tail(rows, loop.extent)


def _of_rows(statement: Stmt, tail: _Tail, count: int, known: Assumptions) -> Stmt:
    """A copy of the statement for a tail of `count` rows."""
    inside = {part.variable for part in walk_statement(statement) if isinstance(part, For)}

    def step(part: Stmt) -> Stmt:
        if isinstance(part, For) and isinstance(part.body, If) and _tail_of(part, inside, known) == tail:
            return For(part.variable, count, part.body.then, part.kind, part.annotations)
        return part

    return fresh_copy(map_statement(statement, step), {})


def _weight(statement: Stmt, tail: _Tail, count: int) -> int:
    """How many statements a copy for `count` rows is once its loops are unrolled."""
    match statement:
        case For(extent=int(extent), kind=LoopKind.UNROLLED, body=body):
            times = count if isinstance(body, If) and extent == tail.size else extent
            return times * _weight(body, tail, count)
        case Store() | Evaluate():
            return 1
        case _:
            return sum(_weight(part, tail, count) for part in statement_children(statement))

"""How long a loop takes one thread, about, as an expression in the extents that a call decides.

Where they are numbers a schedule decides what threads share out; elsewhere the call does, by this estimate. A vector
kept in a register is one multiply-add of a product; one that goes to memory is read and computed first.
"""

from __future__ import annotations

from typing import assert_never

from relay.arith.expr import IntExpr, add, multiply
from relay.tir.buffer import Scope
from relay.tir.expr import Unary, UnaryOp, Value
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, Sequence, Stmt, Store
from relay.tir.traversal import value_children

PARTS_OF_A_NANOSECOND = 4
_KEPT = 1
_WRITTEN = 12
_POLYNOMIAL = 20
_POLYNOMIALS = frozenset({UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH, UnaryOp.ERF, UnaryOp.SIGMOID})


def work_of(statement: Stmt, known: dict[For, IntExpr]) -> IntExpr:
    """The time of a lowered statement, in parts of a nanosecond. Of a choice it is that of the longer branch, where
    that can be told, else of the first. What loops take is looked up in `known`, and kept there: each loop of a nest
    is asked about."""
    match statement:
        case For(extent=extent, body=body):
            if statement not in known:
                known[statement] = multiply(extent, work_of(body, known))
            return known[statement]
        case Store(buffer, _, value, _):
            return (_KEPT if buffer.scope is Scope.REGISTER else _WRITTEN) + _work_of_value(value)
        case LetValue(_, value, body):
            return add(_work_of_value(value), work_of(body, known))
        case Sequence(statements):
            total: IntExpr = 0
            for part in statements:
                total = add(total, work_of(part, known))
            return total
        case If(_, then, otherwise):
            first, second = work_of(then, known), 0 if otherwise is None else work_of(otherwise, known)
            return max(first, second) if isinstance(first, int) and isinstance(second, int) else first
        case Allocate(_, body) | Issue(_, body):
            return work_of(body, known)
        case Evaluate():
            return 0
        case _:
            assert_never(statement)


def _work_of_value(value: Value) -> int:
    polynomials, stack = 0, [value]
    while stack:
        part = stack.pop()
        polynomials += isinstance(part, Unary) and part.op in _POLYNOMIALS
        stack.extend(value_children(part))
    return _POLYNOMIAL * polynomials

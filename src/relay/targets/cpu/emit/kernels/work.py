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
from relay.tir.traversal import walk_value

PARTS_OF_A_NANOSECOND = 4
_KEPT = 1
_WRITTEN = 12
_POLYNOMIAL = 20
_POLYNOMIALS = frozenset({UnaryOp.EXP, UnaryOp.LOG, UnaryOp.TANH, UnaryOp.ERF, UnaryOp.SIGMOID})


def work_of(statement: Stmt) -> IntExpr:
    """The time of a lowered statement, in parts of a nanosecond. Of a choice it is that of the longer branch, where
    that can be told, else of the first."""
    match statement:
        case For(extent=extent, body=body):
            return multiply(extent, work_of(body))
        case Store(buffer, _, value, _):
            return (_KEPT if buffer.scope is Scope.REGISTER else _WRITTEN) + _work_of_value(value)
        case LetValue(_, value, body):
            return add(_work_of_value(value), work_of(body))
        case Sequence(statements):
            total: IntExpr = 0
            for part in statements:
                total = add(total, work_of(part))
            return total
        case If(_, then, otherwise):
            first, second = work_of(then), 0 if otherwise is None else work_of(otherwise)
            return max(first, second) if isinstance(first, int) and isinstance(second, int) else first
        case Allocate(_, body) | Issue(_, body):
            return work_of(body)
        case Evaluate():
            return 0
        case _:
            assert_never(statement)


def _work_of_value(value: Value) -> int:
    return _POLYNOMIAL * sum(isinstance(part, Unary) and part.op in _POLYNOMIALS for part in walk_value(value))

"""What conditions and loops say about symbols: the bridge from values to the assumptions of `arith`."""

from __future__ import annotations

from relay.arith.bounds import NON_NEGATIVE
from relay.arith.expr import Comparison
from relay.arith.simplify import Assumptions
from relay.tir.expr import Binary, BinaryOp, Broadcast, Holds, Imm, Unary, UnaryOp, Value
from relay.tir.stmt import PrimFunc

_NEGATED = {"<": "<=", "<=": "<", "==": "!=", "!=": "=="}


def function_assumptions(func: PrimFunc) -> Assumptions:
    """What is known at the start of a PrimFunc: its symbols are extents, so they are not negative."""
    return Assumptions(dict.fromkeys(func.symbols, NON_NEGATIVE))


def facts_when(condition: Value) -> tuple[Comparison, ...]:
    """Comparisons that hold where `condition` does: the parts of a conjunction.

    >>> from relay.arith.expr import Symbol
    >>> i = Symbol("i")
    >>> both = Binary(BinaryOp.AND, Holds(Comparison(0, "<=", i)), Holds(Comparison(i, "<", 4)))
    >>> [str(fact) for fact in facts_when(both)]
    ['0 <= i', 'i < 4']
    """
    facts: list[Comparison] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case Holds(comparison):
                facts.append(comparison)
            case Binary(BinaryOp.AND, left, right):
                stack += (right, left)
            case Broadcast(operand):
                stack.append(operand)
            case Unary(UnaryOp.NOT, operand):
                facts.extend(facts_unless(operand))
            case _:
                pass
    return tuple(facts)


def facts_unless(condition: Value) -> tuple[Comparison, ...]:
    """Comparisons that hold where `condition` does not: the negated parts of a disjunction."""
    facts: list[Comparison] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case Holds(comparison):
                facts.append(negated(comparison))
            case Binary(BinaryOp.OR, left, right):
                stack += (right, left)
            case Broadcast(operand):
                stack.append(operand)
            case Unary(UnaryOp.NOT, operand):
                facts.extend(facts_when(operand))
            case _:
                pass
    return tuple(facts)


def negated(comparison: Comparison) -> Comparison:
    """The comparison that holds exactly when this one does not."""
    if comparison.op in ("<", "<="):
        return Comparison(comparison.right, _NEGATED[comparison.op], comparison.left)
    return Comparison(comparison.left, _NEGATED[comparison.op], comparison.right)


def is_constant(value: Value | None, number: bool) -> bool:
    """Whether a condition is the constant `number` in all lanes."""
    while isinstance(value, Broadcast):
        value = value.operand
    return isinstance(value, Imm) and bool(value.value) is number

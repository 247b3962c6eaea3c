"""What conditions and loops say about symbols: the bridge from values to the assumptions of `arith`."""

from __future__ import annotations

from relay.arith.bounds import NON_NEGATIVE
from relay.arith.expr import Comparison, IntExpr, add
from relay.arith.simplify import Assumptions
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Compare,
    CompareOp,
    Holds,
    Imm,
    IndexValue,
    RampValue,
    Unary,
    UnaryOp,
    Value,
)
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


def lane_comparisons(value: Compare) -> tuple[Comparison, Comparison] | None:
    """The comparison in the first and in the last lane of a mask `ramp op scalar`, as comparisons of indices.

    A mask is monotonic, so it is the same in all lanes if it is in these two. None for any other comparison.
    """
    left, right = value.left, value.right
    if value.op in (CompareOp.EQUAL, CompareOp.NOT_EQUAL) or not isinstance(left, RampValue):
        return None
    scalar = right.operand if isinstance(right, Broadcast) else right
    if isinstance(scalar, IndexValue):
        limit = scalar.index
    elif isinstance(scalar, Imm):
        limit = int(scalar.value)
    else:
        return None
    first, last = left.base, add(left.base, left.stride * (left.lanes - 1))
    return index_comparison(value.op, first, limit), index_comparison(value.op, last, limit)


def every_lane(mask: Value, step: int) -> Value | None:
    """The mask of a tail, `ramp < scalar`, for every `step`-th lane; None for other masks."""
    match mask:
        case Compare(CompareOp.LESS, RampValue(base, stride, dtype, lanes), Broadcast(scalar)) if stride > 0:
            limit: Value = Broadcast(scalar, lanes // step)
        case Compare(CompareOp.LESS, RampValue(base, stride, dtype, lanes), Imm(number, of)) if stride > 0:
            limit = Imm(number, of, lanes // step)
        case _:
            return None
    return Compare(CompareOp.LESS, RampValue(base, stride * step, dtype, lanes // step), limit)


def index_comparison(op: CompareOp, left: IntExpr, right: IntExpr) -> Comparison:
    """A comparison of values' operator between two indices."""
    if op in (CompareOp.GREATER, CompareOp.GREATER_EQUAL):
        return Comparison(right, "<" if op is CompareOp.GREATER else "<=", left)
    return Comparison(left, op.value, right)


def is_constant(value: Value | None, number: bool) -> bool:
    """Whether a condition is the constant `number` in all lanes."""
    while isinstance(value, Broadcast):
        value = value.operand
    return isinstance(value, Imm) and bool(value.value) is number

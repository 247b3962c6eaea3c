"""Rewriting rules of values, as data: name, left, right, the dtypes they are valid for, and their floating-point class.

In a rule `x` and `y` stand for any value, a number for that number in the dtype of the place where it stands (`-0.0` is
not `0.0`). Conditions of `select` stand for themselves. A test runs both sides of every rule on special numbers.
"""

from __future__ import annotations

import math
from enum import Enum, auto
from functools import cache

from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.tir.expr import Binary, BinaryOp, Imm, Select, Unary, UnaryOp, Value, ValueVar, imm


class Domain(Enum):
    """The dtypes that a rule is valid for."""

    INTEGERS = auto()
    FLOATS = auto()
    BOOLS = auto()
    SCALES = auto()


ALL = (Domain.INTEGERS, Domain.FLOATS, Domain.BOOLS)


def domain_of(dtype: DType) -> Domain:
    return _DOMAINS[dtype]


def _domain_of(dtype: DType) -> Domain:
    if dtype.is_float:
        return Domain.SCALES if dtype.is_scale else Domain.FLOATS
    return Domain.BOOLS if dtype.is_bool else Domain.INTEGERS


_DOMAINS = {dtype: _domain_of(dtype) for dtype in DType}


@frozen
class ValueRule:
    """`left` may become `right` on dtypes of `domains`, if results may change as much as `floating_point` says."""

    name: str
    left: Value
    right: Value
    domains: tuple[Domain, ...]
    floating_point: FloatingPointClass = FloatingPointClass.EXACT


X, Y = ValueVar("x", DType.FLOAT64), ValueVar("y", DType.FLOAT64)
P = ValueVar("p", DType.BOOL)
_ZERO, _ONE, _MINUS_ZERO = imm(0.0, DType.FLOAT64), imm(1.0, DType.FLOAT64), imm(-0.0, DType.FLOAT64)
_TRUE, _FALSE = imm(True, DType.BOOL), imm(False, DType.BOOL)


def _pair(op: BinaryOp, left: Value, right: Value) -> Value:
    return Binary(op, left, right)


_FAST = FloatingPointClass.FAST_MATH
ADD, SUBTRACT, MULTIPLY, DIVIDE = BinaryOp.ADD, BinaryOp.SUBTRACT, BinaryOp.MULTIPLY, BinaryOp.DIVIDE
AND, OR = BinaryOp.AND, BinaryOp.OR
MINIMUM, MAXIMUM = BinaryOp.MINIMUM, BinaryOp.MAXIMUM
VALUE_RULES = (
    ValueRule("add-zero", _pair(ADD, X, _ZERO), X, (Domain.INTEGERS,)),
    ValueRule("zero-add", _pair(ADD, _ZERO, X), X, (Domain.INTEGERS,)),
    ValueRule("subtract-zero", _pair(SUBTRACT, X, _ZERO), X, (Domain.INTEGERS,)),
    ValueRule("subtract-self", _pair(SUBTRACT, X, X), _ZERO, (Domain.INTEGERS,)),
    ValueRule("multiply-zero", _pair(MULTIPLY, X, _ZERO), _ZERO, (Domain.INTEGERS,)),
    ValueRule("zero-multiply", _pair(MULTIPLY, _ZERO, X), _ZERO, (Domain.INTEGERS,)),
    ValueRule("multiply-one", _pair(MULTIPLY, X, _ONE), X, (Domain.INTEGERS,)),
    ValueRule("one-multiply", _pair(MULTIPLY, _ONE, X), X, (Domain.INTEGERS,)),
    ValueRule("divide-one", _pair(DIVIDE, X, _ONE), X, (Domain.INTEGERS,)),
    ValueRule("float-add-minus-zero", _pair(ADD, X, _MINUS_ZERO), X, (Domain.FLOATS,)),
    ValueRule("float-minus-zero-add", _pair(ADD, _MINUS_ZERO, X), X, (Domain.FLOATS,)),
    ValueRule("float-subtract-zero", _pair(SUBTRACT, X, _ZERO), X, (Domain.FLOATS,)),
    ValueRule("float-multiply-one", _pair(MULTIPLY, X, _ONE), X, (Domain.FLOATS,)),
    ValueRule("float-one-multiply", _pair(MULTIPLY, _ONE, X), X, (Domain.FLOATS,)),
    ValueRule("float-divide-one", _pair(DIVIDE, X, _ONE), X, (Domain.FLOATS,)),
    ValueRule("float-add-zero", _pair(ADD, X, _ZERO), X, (Domain.FLOATS,), _FAST),  # -0.0 + 0.0 is 0.0
    ValueRule("float-zero-add", _pair(ADD, _ZERO, X), X, (Domain.FLOATS,), _FAST),
    ValueRule("float-multiply-zero", _pair(MULTIPLY, X, _ZERO), _ZERO, (Domain.FLOATS,), _FAST),  # NaN, infinity, sign
    ValueRule("negative-negative", Unary(UnaryOp.NEGATIVE, Unary(UnaryOp.NEGATIVE, X)), X, (Domain.INTEGERS,)),
    ValueRule("float-negative-negative", Unary(UnaryOp.NEGATIVE, Unary(UnaryOp.NEGATIVE, X)), X, (Domain.FLOATS,)),
    ValueRule("minimum-self", _pair(MINIMUM, X, X), X, ALL),
    ValueRule("maximum-self", _pair(MAXIMUM, X, X), X, ALL),
    ValueRule("and-true", _pair(AND, P, _TRUE), P, (Domain.BOOLS,)),
    ValueRule("true-and", _pair(AND, _TRUE, P), P, (Domain.BOOLS,)),
    ValueRule("and-false", _pair(AND, P, _FALSE), _FALSE, (Domain.BOOLS,)),
    ValueRule("false-and", _pair(AND, _FALSE, P), _FALSE, (Domain.BOOLS,)),
    ValueRule("and-self", _pair(AND, P, P), P, (Domain.BOOLS,)),
    ValueRule("or-true", _pair(OR, P, _TRUE), _TRUE, (Domain.BOOLS,)),
    ValueRule("true-or", _pair(OR, _TRUE, P), _TRUE, (Domain.BOOLS,)),
    ValueRule("or-false", _pair(OR, P, _FALSE), P, (Domain.BOOLS,)),
    ValueRule("false-or", _pair(OR, _FALSE, P), P, (Domain.BOOLS,)),
    ValueRule("or-self", _pair(OR, P, P), P, (Domain.BOOLS,)),
    ValueRule("not-not", Unary(UnaryOp.NOT, Unary(UnaryOp.NOT, P)), P, (Domain.BOOLS,)),
    ValueRule("select-true", Select(_TRUE, X, Y), X, ALL),
    ValueRule("select-false", Select(_FALSE, X, Y), Y, ALL),
    ValueRule("select-same", Select(P, X, X), X, ALL),
)


class RuleTable:
    """The rules that `allowed` permits, found by what stands at the top of a value, its dtype, and whether a part is
    constant."""

    __slots__ = ("_rules",)

    def __init__(
        self,
        rules: tuple[ValueRule, ...] = VALUE_RULES,
        allowed: FloatingPointClass = FloatingPointClass.EXACT,
    ) -> None:
        self._rules: dict[tuple[object, Domain, bool], list[ValueRule]] = {}
        for rule in rules:
            if rule.floating_point <= allowed:
                for domain in rule.domains:
                    for has_constant in (False, True) if not _has_constant(rule.left) else (True,):
                        self._rules.setdefault((head(rule.left), domain, has_constant), []).append(rule)

    def rewrite(self, value: Value) -> Value | None:
        """What the first rule that matches makes of `value`, or None."""
        for rule in self._rules.get((head(value), _DOMAINS[value.dtype], _has_constant(value)), ()):
            rewritten = apply_rule(rule, value)
            if rewritten is not None:
                return rewritten
        return None


@cache
def rule_table(allowed: FloatingPointClass) -> RuleTable:
    """The one table of the built-in rules that `allowed` permits."""
    return RuleTable(VALUE_RULES, allowed)


def _has_constant(value: Value) -> bool:
    return any(isinstance(part, Imm) for part in _parts(value))


def head(value: Value) -> object:
    """What rules are looked up by: the operation of a value, or its class."""
    return value.op if isinstance(value, (Binary, Unary)) else type(value)


def apply_rule(rule: ValueRule, value: Value) -> Value | None:
    """The right side with what the left side was found to stand for, or None if it does not match."""
    found: dict[ValueVar, Value] = {}
    if not _matches(rule.left, value, found):
        return None
    if isinstance(rule.right, Imm):
        return imm(rule.right.value, value.dtype, value.lanes)
    assert isinstance(rule.right, ValueVar)
    return found[rule.right]


def _matches(pattern: Value, value: Value, found: dict[ValueVar, Value]) -> bool:
    if isinstance(pattern, ValueVar):
        return found.setdefault(pattern, value) == value
    if isinstance(pattern, Imm):
        return _is_number(value, pattern.value)
    if head(pattern) != head(value):
        return False
    return all(_matches(p, v, found) for p, v in zip(_parts(pattern), _parts(value), strict=True))


def _is_number(value: Value, number: float) -> bool:
    if not isinstance(value, Imm) or value.value != number:
        return False
    return not value.dtype.is_float or math.copysign(1, value.value) == math.copysign(1, number)


def _parts(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Binary):
        return (value.left, value.right)
    if isinstance(value, Unary):
        return (value.operand,)
    return (value.condition, value.then, value.otherwise) if isinstance(value, Select) else ()

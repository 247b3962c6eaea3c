"""Functions of values, under the names that formulas use.

Comparisons take two indices and give `Holds`, which the partitioning of loops sees through, or machine numbers, and
give `Compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TypeAlias, Union, cast

from relay.arith.expr import Comparison, IntExpr, Node
from relay.arith.expr import maximum as maximum_index
from relay.arith.expr import minimum as minimum_index
from relay.base.dtypes import DType
from relay.te.tensor import TensorIndex, as_index
from relay.tir.expr import (
    BinaryOp,
    Cast,
    CompareOp,
    Holds,
    IndexValue,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueLike,
    binary,
    compare,
    imm,
)  # fmt: skip

Operand: TypeAlias = Union[Value, IntExpr, float]
"""A machine number, an index, or a Python number."""


def _unary(op: UnaryOp) -> Callable[[Value], Value]:
    return lambda value: Unary(op, value)


negative = _unary(UnaryOp.NEGATIVE)
abs = _unary(UnaryOp.ABS)  # noqa: A001 - the name of the function in formulas
sign = _unary(UnaryOp.SIGN)
exp = _unary(UnaryOp.EXP)
log = _unary(UnaryOp.LOG)
log2 = _unary(UnaryOp.LOG2)
log10 = _unary(UnaryOp.LOG10)
sqrt = _unary(UnaryOp.SQRT)
rsqrt = _unary(UnaryOp.RSQRT)
tanh = _unary(UnaryOp.TANH)
sigmoid = _unary(UnaryOp.SIGMOID)
erf = _unary(UnaryOp.ERF)
sin = _unary(UnaryOp.SIN)
cos = _unary(UnaryOp.COS)
tan = _unary(UnaryOp.TAN)
asin = _unary(UnaryOp.ASIN)
acos = _unary(UnaryOp.ACOS)
atan = _unary(UnaryOp.ATAN)
sinh = _unary(UnaryOp.SINH)
cosh = _unary(UnaryOp.COSH)
asinh = _unary(UnaryOp.ASINH)
acosh = _unary(UnaryOp.ACOSH)
atanh = _unary(UnaryOp.ATANH)
floor = _unary(UnaryOp.FLOOR)
ceil = _unary(UnaryOp.CEIL)
trunc = _unary(UnaryOp.TRUNC)
round = _unary(UnaryOp.ROUND)  # noqa: A001 - half away from zero
logical_not = _unary(UnaryOp.NOT)
is_nan = _unary(UnaryOp.IS_NAN)
is_inf = _unary(UnaryOp.IS_INF)
is_finite = _unary(UnaryOp.IS_FINITE)


def _binary(op: BinaryOp) -> Callable[[ValueLike, ValueLike], Value]:
    return lambda left, right: binary(op, left, right)


power = _binary(BinaryOp.POWER)
minimum = _binary(BinaryOp.MINIMUM)
maximum = _binary(BinaryOp.MAXIMUM)
modulo = _binary(BinaryOp.MOD)
floor_divide = _binary(BinaryOp.FLOOR_DIVIDE)
floor_modulo = _binary(BinaryOp.FLOOR_MOD)
logical_and = _binary(BinaryOp.AND)
logical_or = _binary(BinaryOp.OR)
logical_xor = _binary(BinaryOp.XOR)
left_shift = _binary(BinaryOp.LEFT_SHIFT)
right_shift = _binary(BinaryOp.RIGHT_SHIFT)


def _comparison(op: CompareOp, left: Operand, right: Operand) -> Value:
    if isinstance(left, Node) or isinstance(right, Node) or (isinstance(left, int) and isinstance(right, int)):
        if not isinstance(left, (int, Node)) or not isinstance(right, (int, Node)):
            raise TypeError("an index is compared with a machine number: lift the index with te.index_value")
        return Holds(_index_comparison(op, left, right))
    return compare(op, left, right)


def _index_comparison(op: CompareOp, left: IntExpr, right: IntExpr) -> Comparison:
    if op is CompareOp.GREATER:
        return Comparison(right, "<", left)
    if op is CompareOp.GREATER_EQUAL:
        return Comparison(right, "<=", left)
    return Comparison(left, op.value, right)


def less(left: Operand, right: Operand) -> Value:
    return _comparison(CompareOp.LESS, left, right)


def less_equal(left: Operand, right: Operand) -> Value:
    return _comparison(CompareOp.LESS_EQUAL, left, right)


def greater(left: Operand, right: Operand) -> Value:
    return _comparison(CompareOp.GREATER, left, right)


def greater_equal(left: Operand, right: Operand) -> Value:
    return _comparison(CompareOp.GREATER_EQUAL, left, right)


def equal(left: Operand, right: Operand) -> Value:
    return _comparison(CompareOp.EQUAL, left, right)


def not_equal(left: Operand, right: Operand) -> Value:
    return _comparison(CompareOp.NOT_EQUAL, left, right)


def all_of(conditions: Iterable[Value]) -> Value:
    """True where every condition holds; the constant true for none."""
    return _joined(BinaryOp.AND, conditions, empty=True)


def any_of(conditions: Iterable[Value]) -> Value:
    """True where one condition holds; the constant false for none."""
    return _joined(BinaryOp.OR, conditions, empty=False)


def _joined(op: BinaryOp, conditions: Iterable[Value], *, empty: bool) -> Value:
    given = tuple(conditions)
    return reduce(lambda left, right: binary(op, left, right), given) if given else imm(empty, DType.BOOL)


def within(index: IntExpr, low: IntExpr, high: IntExpr) -> Value:
    """`low <= index < high`; a side that is decided already is left out.

    >>> from relay.arith.expr import Symbol
    >>> i = Symbol("i")
    >>> str(within(i - 1, 0, 8).left.condition), str(within(i - 1, 0, 8).right.condition)
    ('0 <= i - 1', 'i - 1 < 8')
    """
    return all_of((greater_equal(index, low), less(index, high)))


def clamp(index: TensorIndex, low: IntExpr, high: IntExpr) -> IntExpr:
    """The nearest index with `low <= index < high`: one that is computed at run time is inside then.

    >>> from relay.arith.expr import Symbol
    >>> clamp(Symbol("i") - 1, 0, 8)
    min(max(i - 1, 0), 7)
    """
    return minimum_index(maximum_index(as_index(index), low), high - 1)


def select(condition: Value, then: ValueLike, otherwise: ValueLike) -> Value:
    """`then` where `condition`, else `otherwise`; what is not taken is not read. Numbers take the other's dtype."""
    if isinstance(then, (int, float)):
        if isinstance(otherwise, (int, float)):
            raise TypeError("one side of a select must be a value: wrap a number with te.const")
        then = imm(then, otherwise.dtype)
    elif isinstance(otherwise, (int, float)):
        otherwise = imm(otherwise, then.dtype)
    if then.dtype != otherwise.dtype:
        raise TypeError(f"sides of a select have dtypes {then.dtype} and {otherwise.dtype}: cast one of them")
    return Select(condition, then, otherwise)


if_then_else = select


def cast_to(value: Value, dtype: DType | str) -> Value:
    """`value` converted; the same value when it has that dtype."""
    return value if value.dtype == dtype else Cast(value, DType(dtype))


def const(value: float | bool, dtype: DType | str) -> Value:
    """A number of `dtype`."""
    return imm(value, dtype)


def index_value(index: IntExpr, dtype: DType | str) -> Value:
    """An index as a machine number (`arange`); it wraps to `dtype`."""
    return cast(Value, IndexValue(index, DType(dtype)))

"""Functions of values, under the names that formulas use.

Operands are machine numbers, indices (axes and what is computed with them) and numbers of Python. One that has no
element type takes that of the machine number beside it, if that holds it: floats hold all, integers the whole numbers
of their range, and indices where they are signed and have 32 bits or more. Of indices alone, `minimum`, `maximum`,
`floor_divide` and `floor_modulo` give an index; comparisons give `Holds`, which the partitioning of loops sees through,
and `Compare` with a machine number on a side. `cast` gives an index or a number any element type.

All raise `RelayError` (`operand-dtype`, `operand-dtypes`, `operand`) for operands that do not go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Protocol, TypeGuard, cast, overload

from relay.arith.expr import Comparison, IntExpr, Node
from relay.arith.expr import floor_divide as floor_divide_index
from relay.arith.expr import floor_modulo as floor_modulo_index
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
    ValueBase,
    ValueLike,
    binary,
    compare,
    imm,
    machine_number,
    matched,
)  # fmt: skip
from relay.tir.operands import no_condition


def _unary(op: UnaryOp) -> Callable[[ValueLike], Value]:
    return lambda operand: Unary(op, machine_number(operand))


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


class IndexOrValueFunction(Protocol):
    """A function of two operands: of two indices an index, else a machine number."""

    @overload
    def __call__(self, left: IntExpr, right: IntExpr) -> IntExpr: ...
    @overload
    def __call__(self, left: Value, right: ValueLike) -> Value: ...
    @overload
    def __call__(self, left: ValueLike, right: Value) -> Value: ...


def _binary(op: BinaryOp) -> Callable[[ValueLike, ValueLike], Value]:
    return lambda left, right: binary(op, left, right)


def _also_of_indices(op: BinaryOp, of_indices: Callable[[IntExpr, IntExpr], IntExpr]) -> IndexOrValueFunction:
    def function(left: ValueLike, right: ValueLike) -> IntExpr | Value:
        operands = (left, right)
        return of_indices(*operands) if _are_indices(operands) else binary(op, left, right)

    return cast("IndexOrValueFunction", function)


def _are_indices(operands: tuple[ValueLike, ValueLike]) -> TypeGuard[tuple[IntExpr, IntExpr]]:
    return all(isinstance(operand, (int, Node)) for operand in operands)


power = _binary(BinaryOp.POWER)
minimum = _also_of_indices(BinaryOp.MINIMUM, minimum_index)
maximum = _also_of_indices(BinaryOp.MAXIMUM, maximum_index)
modulo = _binary(BinaryOp.MOD)
floor_divide = _also_of_indices(BinaryOp.FLOOR_DIVIDE, floor_divide_index)
floor_modulo = _also_of_indices(BinaryOp.FLOOR_MOD, floor_modulo_index)
logical_and = _binary(BinaryOp.AND)
logical_or = _binary(BinaryOp.OR)
logical_xor = _binary(BinaryOp.XOR)
left_shift = _binary(BinaryOp.LEFT_SHIFT)
right_shift = _binary(BinaryOp.RIGHT_SHIFT)


def _comparison(op: CompareOp, left: ValueLike, right: ValueLike) -> Value:
    operands = (left, right)
    return Holds(_index_comparison(op, *operands)) if _are_indices(operands) else compare(op, left, right)


def _index_comparison(op: CompareOp, left: IntExpr, right: IntExpr) -> Comparison:
    if op is CompareOp.GREATER:
        return Comparison(right, "<", left)
    if op is CompareOp.GREATER_EQUAL:
        return Comparison(right, "<=", left)
    return Comparison(left, op.value, right)


def less(left: ValueLike, right: ValueLike) -> Value:
    return _comparison(CompareOp.LESS, left, right)


def less_equal(left: ValueLike, right: ValueLike) -> Value:
    return _comparison(CompareOp.LESS_EQUAL, left, right)


def greater(left: ValueLike, right: ValueLike) -> Value:
    return _comparison(CompareOp.GREATER, left, right)


def greater_equal(left: ValueLike, right: ValueLike) -> Value:
    return _comparison(CompareOp.GREATER_EQUAL, left, right)


def equal(left: ValueLike, right: ValueLike) -> Value:
    return _comparison(CompareOp.EQUAL, left, right)


def not_equal(left: ValueLike, right: ValueLike) -> Value:
    return _comparison(CompareOp.NOT_EQUAL, left, right)


def all_of(conditions: Iterable[Value]) -> Value:
    """True where every condition holds; the constant true for none."""
    return _joined(BinaryOp.AND, conditions, empty=True)


def any_of(conditions: Iterable[Value]) -> Value:
    """True where one condition holds; the constant false for none."""
    return _joined(BinaryOp.OR, conditions, empty=False)


def _joined(op: BinaryOp, conditions: Iterable[Value], *, empty: bool) -> Value:
    given = tuple(map(as_condition, conditions))
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


def as_condition(operand: ValueLike) -> Value:
    """A bool of the program, or True or False. Raises `RelayError` (`condition-dtype`)."""
    if isinstance(operand, bool):
        return imm(operand, DType.BOOL)
    if isinstance(operand, ValueBase) and operand.dtype.is_bool:
        return operand
    raise no_condition(str(operand.dtype) if isinstance(operand, ValueBase) else f"`{operand}`")


def select(condition: ValueLike, then: ValueLike, otherwise: ValueLike) -> Value:
    """`then` where `condition`, else `otherwise`; what is not taken is not read. One side takes the other's dtype."""
    return Select(as_condition(condition), *matched(then, otherwise))


if_then_else = select


def cast_to(value: ValueLike, dtype: DType | str) -> Value:
    """`value` converted; the same value when it has that dtype. An index wraps to it."""
    if isinstance(value, Node):
        return index_value(value, dtype)
    number = machine_number(value, DType(dtype))
    return number if number.dtype == dtype else Cast(number, DType(dtype))


def const(value: float | bool, dtype: DType | str) -> Value:
    """A number of `dtype`."""
    return imm(value, dtype)


def index_value(index: IntExpr, dtype: DType | str) -> Value:
    """An index as a machine number (`arange`); it wraps to `dtype`."""
    return IndexValue(index, DType(dtype))

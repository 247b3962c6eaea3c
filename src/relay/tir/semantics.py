"""What every operation on machine numbers means, on NumPy scalars and arrays: the one table that all targets answer to.

Note [Total operations]
    Nothing here is undefined. Integers wrap. Division and modulo by zero give 0, and `INT_MIN / -1` wraps to INT_MIN.
    A shift by a negative amount or by the width or more gives 0 (right shifts of signed numbers: the sign, 0 or -1).
    An integer power with a negative exponent truncates towards 0 (so it is 0 but for bases 1 and -1). Floating-point
    numbers become integers by truncation; NaN gives 0 and what is out of range saturates.

Note [Narrow types]
    Types narrower than 32 bits are widened to `DType.computation`, computed there, and rounded (or wrapped) once.
    Conversions to narrow floating-point types go through float32 too.

Callers run these with NumPy's warnings off (`np.errstate(all="ignore")`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.tir.expr import BinaryOp, CompareOp, UnaryOp

Numbers: TypeAlias = Any
"""A NumPy scalar or array of one dtype."""
Function: TypeAlias = Callable[..., Numbers]


@cache
def binary_function(op: BinaryOp, dtype: DType) -> Function:
    """The function of two numbers of `dtype` that `op` is.

    >>> with np.errstate(all="ignore"):
    ...     int(binary_function(BinaryOp.DIVIDE, DType.INT32)(np.int32(7), np.int32(0)))
    0
    """
    table = _FLOAT_BINARY if dtype.is_float else (_BOOL_BINARY if dtype.is_bool else _INTEGER_BINARY)
    if op not in table:
        raise CompilerBug("tir.semantics", f"`{op}` is not defined for {dtype}")
    return _computed_wide(table[op], dtype)


@cache
def unary_function(op: UnaryOp, dtype: DType) -> Function:
    """The function of one number of `dtype` that `op` is."""
    table = _FLOAT_UNARY if dtype.is_float else (_BOOL_UNARY if dtype.is_bool else _INTEGER_UNARY)
    if op not in table:
        raise CompilerBug("tir.semantics", f"`{op}` is not defined for {dtype}")
    if op in _PREDICATES:
        return _predicate(table[op], dtype)
    return _computed_wide(table[op], dtype)


def compare_function(op: CompareOp) -> Function:
    """The comparison that `op` is; comparisons with NaN are false but for `!=`."""
    return _COMPARE[op]


@cache
def cast_function(source: DType, target: DType) -> Function:
    """The conversion by value of numbers of `source` to `target`.

    >>> int(cast_function(DType.FLOAT32, DType.INT8)(np.float32(300.7)))
    127
    """
    wide, middle, goal = source.computation.numpy, target.computation.numpy, target.numpy

    def to_bool(x: Numbers) -> Numbers:
        return x != source.numpy.type(0)

    def float_to_integer(x: Numbers) -> Numbers:
        return _saturated(x.astype(wide), target)

    def to_float(x: Numbers) -> Numbers:
        return x.astype(middle).astype(goal)

    def to_integer(x: Numbers) -> Numbers:
        return _narrowed(x, target)

    if source is target:
        return _same
    if target.is_bool:
        return to_bool
    if target.is_float:
        return to_float
    return float_to_integer if source.is_float else to_integer


@cache
def reinterpret_function(target: DType) -> Function:
    """The same bits as numbers of `target`, which are as wide.

    >>> hex(reinterpret_function(DType.UINT32)(np.float32(-2.0)))
    '0xc0000000'
    """
    return lambda x: x.view(target.numpy)


def _computed_wide(function: Function, dtype: DType) -> Function:
    """`function` in the computation type of `dtype`; see Note [Narrow types]."""
    wide = dtype.computation
    if wide is dtype:
        return function
    widen = wide.numpy

    def widened(*operands: Numbers) -> Numbers:
        return _narrowed(function(*(operand.astype(widen) for operand in operands)), dtype)

    return widened


def _predicate(function: Function, dtype: DType) -> Function:
    widen = dtype.computation.numpy

    def widened(x: Numbers) -> Numbers:
        return function(x.astype(widen))

    return widened


def _narrowed(x: Numbers, dtype: DType) -> Numbers:
    if dtype.is_sub_byte_integer:  # its bits, extended: the byte that NumPy's conversion needs
        low, high = integer_limits(dtype)
        x = ((x.astype(np.int32) & (high - low)) ^ -low) + low
    return x.astype(dtype.numpy)


def _saturated(x: Numbers, dtype: DType) -> Numbers:
    low, high = integer_limits(dtype)
    safe = np.where(np.isnan(x), x.dtype.type(0), np.trunc(x))
    inside = np.clip(safe, float(low), _largest_float_up_to(high, x.dtype))
    narrowed = inside.astype(np.uint64 if high >= 1 << 63 else np.int64)
    clamped = np.where(safe >= float(high), np.array(high, narrowed.dtype), narrowed)
    return clamped.astype(dtype.numpy)[()]


def _largest_float_up_to(limit: int, dtype: np.dtype[Any]) -> float:
    """The largest number of a floating-point type that is not above an integer."""
    value = dtype.type(limit)
    return float(value) if int(value) <= limit else float(np.nextafter(value, dtype.type(0)))


def integer_limits(dtype: DType) -> tuple[int, int]:
    """The smallest and the largest number of an integer dtype.

    >>> integer_limits(DType.INT8)
    (-128, 127)
    """
    if dtype.is_signed_integer:
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def index_as_number(index: int, dtype: DType) -> int | float | bool:
    """A mathematical integer as a machine number: wrapped to an integer dtype, `!= 0` for bool, else a float.

    >>> index_as_number(300, DType.INT8)
    44
    """
    if dtype.is_integer:
        low, _ = integer_limits(dtype)
        return (index - low) % (1 << dtype.bits) + low
    return index != 0 if dtype.is_bool else float(index)


# --- integers -----------------------------------------------------------------------------------------------------


def _nonzero(divisor: Numbers) -> Numbers:
    return np.where(divisor == 0, divisor.dtype.type(1), divisor)


def _truncated_quotient(a: Numbers, b: Numbers) -> Numbers:
    safe = _nonzero(b)
    floor = a // safe
    if a.dtype.kind == "i":  # INT_MIN // -1 wraps in NumPy as well
        floor = floor + ((floor < 0) & (floor * safe != a)).astype(a.dtype)
    return np.where(b == 0, a.dtype.type(0), floor)[()]


def _truncated_rest(a: Numbers, b: Numbers) -> Numbers:
    return np.where(b == 0, a.dtype.type(0), a - _truncated_quotient(a, b) * b)[()]


def _floor_quotient(a: Numbers, b: Numbers) -> Numbers:
    return np.where(b == 0, a.dtype.type(0), a // _nonzero(b))[()]


def _floor_rest(a: Numbers, b: Numbers) -> Numbers:
    return np.where(b == 0, a.dtype.type(0), a - _floor_quotient(a, b) * b)[()]


def _integer_power(base: Numbers, exponent: Numbers) -> Numbers:
    one = base.dtype.type(1)
    result, square, rest = base * 0 + one, base, np.where(exponent < 0, exponent.dtype.type(0), exponent)
    while np.any(rest != 0):
        result = np.where(rest & 1, result * square, result)
        square, rest = square * square, rest >> 1
    odd = (exponent & 1).astype(bool)
    of_unit = np.where(odd, base, base * base)
    negative = np.where(base * base == one, np.where(abs(base) == one, of_unit, 0), 0).astype(base.dtype)
    return np.where(exponent < 0, negative, result).astype(base.dtype)[()]


def _left_shift(a: Numbers, b: Numbers) -> Numbers:
    bits = a.dtype.itemsize * 8
    valid = (b >= 0) & (b < bits)
    return np.where(valid, a << np.where(valid, b, b.dtype.type(0)), a.dtype.type(0))[()]


def _right_shift(a: Numbers, b: Numbers) -> Numbers:
    bits = a.dtype.itemsize * 8
    valid = (b >= 0) & (b < bits)
    shifted = a >> np.where(valid, b, b.dtype.type(bits - 1))
    return shifted if a.dtype.kind == "i" else np.where(valid, shifted, a.dtype.type(0))[()]


def _negative(x: Numbers) -> Numbers:
    return x.dtype.type(0) - x


def _false(x: Numbers) -> Numbers:
    return x != x


def _true(x: Numbers) -> Numbers:
    return x == x


def _same(x: Numbers) -> Numbers:
    return x


_INTEGER_BINARY: Mapping[BinaryOp, Function] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUBTRACT: operator.sub,
    BinaryOp.MULTIPLY: operator.mul,
    BinaryOp.DIVIDE: _truncated_quotient,
    BinaryOp.MOD: _truncated_rest,
    BinaryOp.FLOOR_DIVIDE: _floor_quotient,
    BinaryOp.FLOOR_MOD: _floor_rest,
    BinaryOp.POWER: _integer_power,
    BinaryOp.MINIMUM: np.minimum,
    BinaryOp.MAXIMUM: np.maximum,
    BinaryOp.AND: operator.and_,
    BinaryOp.OR: operator.or_,
    BinaryOp.XOR: operator.xor,
    BinaryOp.LEFT_SHIFT: _left_shift,
    BinaryOp.RIGHT_SHIFT: _right_shift,
}
_INTEGER_UNARY: Mapping[UnaryOp, Function] = {
    UnaryOp.NEGATIVE: _negative,
    UnaryOp.ABS: np.abs,
    UnaryOp.SIGN: np.sign,
    UnaryOp.NOT: operator.invert,
    UnaryOp.FLOOR: _same,
    UnaryOp.CEIL: _same,
    UnaryOp.TRUNC: _same,
    UnaryOp.ROUND: _same,
    UnaryOp.IS_NAN: _false,
    UnaryOp.IS_INF: _false,
    UnaryOp.IS_FINITE: _true,
}
_BOOL_BINARY: Mapping[BinaryOp, Function] = {
    BinaryOp.AND: operator.and_,
    BinaryOp.OR: operator.or_,
    BinaryOp.XOR: operator.xor,
    BinaryOp.ADD: operator.or_,
    BinaryOp.MULTIPLY: operator.and_,
    BinaryOp.MINIMUM: operator.and_,
    BinaryOp.MAXIMUM: operator.or_,
}
_BOOL_UNARY: Mapping[UnaryOp, Function] = {
    UnaryOp.NOT: np.logical_not,
    UnaryOp.IS_NAN: _false,
    UnaryOp.IS_INF: _false,
    UnaryOp.IS_FINITE: _true,
}

# --- floating point -----------------------------------------------------------------------------------------------


def _in_double(function: Function) -> Function:
    """`function` in double precision, rounded once to the operand's type."""

    def in_double(*operands: Numbers) -> Numbers:
        return function(*(x.astype(np.float64) for x in operands)).astype(operands[0].dtype)

    return in_double


def _round_half_away(x: Numbers) -> Numbers:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.sign(x), whole).astype(x.dtype)[()]


def _reciprocal_root(x: Numbers) -> Numbers:
    return 1 / np.sqrt(x)


def _sigmoid(x: Numbers) -> Numbers:
    small = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))[()]


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _floor_of_quotient(a: Numbers, b: Numbers) -> Numbers:
    return np.floor(a / b)


_FLOAT_BINARY: Mapping[BinaryOp, Function] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUBTRACT: operator.sub,
    BinaryOp.MULTIPLY: operator.mul,
    BinaryOp.DIVIDE: operator.truediv,
    BinaryOp.MOD: np.fmod,
    BinaryOp.FLOOR_DIVIDE: _floor_of_quotient,
    BinaryOp.FLOOR_MOD: np.remainder,
    BinaryOp.POWER: _in_double(np.power),
    BinaryOp.MINIMUM: np.minimum,
    BinaryOp.MAXIMUM: np.maximum,
}
_FLOAT_UNARY: Mapping[UnaryOp, Function] = {
    UnaryOp.NEGATIVE: operator.neg,
    UnaryOp.ABS: np.abs,
    UnaryOp.SIGN: np.sign,
    UnaryOp.EXP: _in_double(np.exp),
    UnaryOp.LOG: _in_double(np.log),
    UnaryOp.LOG2: _in_double(np.log2),
    UnaryOp.LOG10: _in_double(np.log10),
    UnaryOp.SQRT: np.sqrt,
    UnaryOp.RSQRT: _in_double(_reciprocal_root),
    UnaryOp.TANH: _in_double(np.tanh),
    UnaryOp.SIGMOID: _in_double(_sigmoid),
    UnaryOp.ERF: _in_double(_erf),
    UnaryOp.SIN: _in_double(np.sin),
    UnaryOp.COS: _in_double(np.cos),
    UnaryOp.TAN: _in_double(np.tan),
    UnaryOp.ASIN: _in_double(np.arcsin),
    UnaryOp.ACOS: _in_double(np.arccos),
    UnaryOp.ATAN: _in_double(np.arctan),
    UnaryOp.SINH: _in_double(np.sinh),
    UnaryOp.COSH: _in_double(np.cosh),
    UnaryOp.ASINH: _in_double(np.arcsinh),
    UnaryOp.ACOSH: _in_double(np.arccosh),
    UnaryOp.ATANH: _in_double(np.arctanh),
    UnaryOp.FLOOR: np.floor,
    UnaryOp.CEIL: np.ceil,
    UnaryOp.TRUNC: np.trunc,
    UnaryOp.ROUND: _round_half_away,
    UnaryOp.IS_NAN: np.isnan,
    UnaryOp.IS_INF: np.isinf,
    UnaryOp.IS_FINITE: np.isfinite,
}
_PREDICATES = frozenset({UnaryOp.IS_NAN, UnaryOp.IS_INF, UnaryOp.IS_FINITE})
_COMPARE: Mapping[CompareOp, Function] = {
    CompareOp.LESS: operator.lt,
    CompareOp.LESS_EQUAL: operator.le,
    CompareOp.GREATER: operator.gt,
    CompareOp.GREATER_EQUAL: operator.ge,
    CompareOp.EQUAL: operator.eq,
    CompareOp.NOT_EQUAL: operator.ne,
}

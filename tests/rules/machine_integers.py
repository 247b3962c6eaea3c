"""What operators mean on machine integers and truth values, as formulas of z3: bit-vectors and bools.

`relay.tir.semantics` says the same for NumPy: nothing is undefined, integers wrap, division by zero gives 0. A test
holds them against the operators' own meanings on 8-bit numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import z3

from relay.base.dtypes import DType

Formula = Any
"""A bit-vector as wide as the dtype, or a bool."""


class NotModelled(Exception):
    """There are no formulas for this; the message says what to do."""


def unknown(name: str, dtype: DType) -> Formula:
    """Any value of a dtype."""
    return z3.Bool(name) if dtype.is_bool else z3.BitVec(name, dtype.bits)


def number(value: Any, dtype: DType) -> Formula:
    """A constant."""
    return z3.BoolVal(bool(value)) if dtype.is_bool else z3.BitVecVal(int(value), dtype.bits)


def _less(left: Formula, right: Formula, dtype: DType) -> Formula:
    return left < right if dtype.is_signed_integer else z3.ULT(left, right)


def _quotient(left: Formula, right: Formula, dtype: DType) -> Formula:
    quotient = left / right if dtype.is_signed_integer else z3.UDiv(left, right)
    return z3.If(right == 0, number(0, dtype), quotient)


def _floor_quotient(left: Formula, right: Formula, dtype: DType) -> Formula:
    quotient = _quotient(left, right, dtype)
    if not dtype.is_signed_integer:
        return quotient
    is_rounded_up = z3.And(right != 0, z3.SRem(left, right) != 0, (left < 0) != (right < 0))
    return z3.If(is_rounded_up, quotient - 1, quotient)


def _shifted_left(left: Formula, right: Formula, dtype: DType) -> Formula:
    return z3.If(z3.ULT(right, dtype.bits), left << right, number(0, dtype))


def _shifted_right(left: Formula, right: Formula, dtype: DType) -> Formula:
    if not dtype.is_signed_integer:
        return z3.If(z3.ULT(right, dtype.bits), z3.LShR(left, right), number(0, dtype))
    sign = z3.If(left < 0, number(-1, dtype), number(0, dtype))
    return z3.If(z3.ULT(right, dtype.bits), left >> right, sign)


def _power(left: Formula, right: Formula, dtype: DType) -> Formula:
    """Products where the exponent is a small constant, else anything that two numbers decide."""
    exponent = z3.simplify(right)
    if not z3.is_bv_value(exponent) or not 0 <= exponent.as_signed_long() <= 8:
        return z3.Function(f"power_{dtype}", left.sort(), right.sort(), left.sort())(left, right)
    result = number(1, dtype)
    for _ in range(exponent.as_signed_long()):
        result = result * left
    return result


def _minimum(left: Formula, right: Formula, dtype: DType) -> Formula:
    if dtype.is_bool:
        return z3.And(left, right)
    return z3.If(_less(left, right, dtype), left, right)


def _maximum(left: Formula, right: Formula, dtype: DType) -> Formula:
    if dtype.is_bool:
        return z3.Or(left, right)
    return z3.If(_less(left, right, dtype), right, left)


def _absolute(value: Formula, dtype: DType) -> Formula:
    return z3.If(value < 0, -value, value) if dtype.is_signed_integer else value


def _sign(value: Formula, dtype: DType) -> Formula:
    positive = z3.If(value == 0, number(0, dtype), number(1, dtype))
    return z3.If(value < 0, number(-1, dtype), positive) if dtype.is_signed_integer else positive


def _same(value: Formula, dtype: DType) -> Formula:
    return value


BINARY: Mapping[str, Callable[[Formula, Formula, DType], Formula]] = {
    "add": lambda a, b, _: a + b,
    "subtract": lambda a, b, _: a - b,
    "multiply": lambda a, b, _: a * b,
    "divide": _quotient,
    "trunc_divide": _quotient,
    "floor_divide": _floor_quotient,
    "power": _power,
    "bitwise_and": lambda a, b, _: a & b,
    "bitwise_or": lambda a, b, _: a | b,
    "bitwise_xor": lambda a, b, _: a ^ b,
    "left_shift": _shifted_left,
    "right_shift": _shifted_right,
    "minimum": _minimum,
    "maximum": _maximum,
    "logical_and": lambda a, b, _: z3.And(a, b),
    "logical_or": lambda a, b, _: z3.Or(a, b),
}
UNARY: Mapping[str, Callable[[Formula, DType], Formula]] = {
    "negative": lambda a, _: -a,
    "abs": _absolute,
    "sign": _sign,
    "bitwise_not": lambda a, _: ~a,
    "logical_not": lambda a, _: z3.Not(a),
    "nn.relu": lambda a, dtype: _maximum(a, number(0, dtype), dtype),
    **dict.fromkeys(("ceil", "floor", "round", "trunc", "copy", "stop_gradient"), _same),
}


def cast(value: Formula, source: DType, target: DType) -> Formula:
    """An integer or truth value as one of another dtype: integers wrap."""
    if source.is_float or target.is_float:
        raise NotModelled("a conversion to or from floats: it is run on all values of small dtypes")
    if source.is_bool:
        return value if target.is_bool else z3.If(value, number(1, target), number(0, target))
    if target.is_bool:
        return value != 0
    if target.bits <= source.bits:
        return z3.Extract(target.bits - 1, 0, value)
    more = target.bits - source.bits
    return z3.SignExt(more, value) if source.is_signed_integer else z3.ZeroExt(more, value)


def is_always(claim: Formula) -> bool:
    """Whether a claim holds for all values. Raises `AssertionError` where z3 cannot tell."""
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown, f"z3 cannot tell: {solver.reason_unknown()}"
    return answer == z3.unsat

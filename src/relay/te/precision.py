"""Formulas on narrow floats are computed in float32 and rounded once."""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.tir.expr import Binary, Cast, Compare, Imm, IndexValue, Select, Unary, Value
from relay.tir.traversal import map_children


def is_narrow_float(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits < 32


def widen(value: Value) -> Value:
    """`value` of a narrow float dtype as float32, with the arithmetic inside it in float32 too.

    before: `cast(a * b, float32)`        after: `cast(a, float32) * cast(b, float32)`

    Values of other dtypes keep theirs, but what they compare is widened likewise.
    """
    match value:
        case Imm(number, dtype, lanes) if is_narrow_float(dtype):
            return Imm(number, DType.FLOAT32, lanes)
        case IndexValue(index, dtype, lanes) if is_narrow_float(dtype):
            return IndexValue(index, DType.FLOAT32, lanes)
        case Unary(op, operand):
            return Unary(op, widen(operand))
        case Binary(op, left, right):
            return Binary(op, widen(left), widen(right))
        case Compare(op, left, right):
            return Compare(op, widen(left), widen(right))
        case Select(condition, then, otherwise):
            return Select(widen(condition), widen(then), widen(otherwise))
        case Cast(operand, dtype) if not is_narrow_float(dtype):
            return Cast(widen(operand), dtype)
        case _ if is_narrow_float(value.dtype):
            return Cast(value, DType.FLOAT32)
        case _:
            return map_children(value, widen, lambda index: index)


def rounded_once(value: Value) -> Value:
    """`value` with its arithmetic on narrow floats in float32, and its own dtype in the end.

    A lone load, constant or conversion is left as it is.
    """
    if not isinstance(value, (Unary, Binary, Compare, Select)):
        return value
    wide = widen(value)
    return wide if wide.dtype == value.dtype else Cast(wide, value.dtype)

"""Operators on numbers, as the numbers of each type behave: integers wrap, and their divisions and shifts are total;
floats follow IEEE 754; narrow floats are computed in float32 and rounded once per operator.

    x / 0, x % 0 are 0          INT_MIN / -1 wraps       x << n is 0 for n outside 0 … bits-1, x >> n is then the sign
    minimum, maximum: a NaN on either side is the result        0 ** negative is 0, other integer powers truncate
"""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.numbers.convert import round_float, wrap_narrow
from relay.targets.cpu.emit.numbers.integer_power import call_unsigned_power
from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.targets.cpu.emit.numbers.math import emit_power, emit_transcendental
from relay.targets.cpu.emit.numbers.typenames import register_element
from relay.tir.expr import PREDICATES, BinaryOp, CompareOp, UnaryOp

_ORDERED = {
    CompareOp.LESS: "lt", CompareOp.LESS_EQUAL: "le", CompareOp.GREATER: "gt", CompareOp.GREATER_EQUAL: "ge",
}  # fmt: skip
_BITWISE = {BinaryOp.AND: "and", BinaryOp.OR: "or", BinaryOp.XOR: "xor"}
_FLOAT = {BinaryOp.ADD: "fadd", BinaryOp.SUBTRACT: "fsub", BinaryOp.MULTIPLY: "fmul", BinaryOp.DIVIDE: "fdiv"}
_INTEGER = {BinaryOp.ADD: "add", BinaryOp.SUBTRACT: "sub", BinaryOp.MULTIPLY: "mul"}
_ROUNDINGS = {UnaryOp.FLOOR: "floor", UnaryOp.CEIL: "ceil", UnaryOp.TRUNC: "trunc", UnaryOp.ROUND: "round"}


def emit_compare(e: Emitter, op: CompareOp, dtype: DType, lanes: int, left: str, right: str) -> str:
    """The mask of a comparison. Every comparison with NaN is false, except `!=`."""
    t = e.lanes(register_element(dtype), lanes)
    if op is CompareOp.EQUAL:
        return t.fcmp("oeq", left, right) if dtype.is_float else t.icmp("eq", left, right)
    if op is CompareOp.NOT_EQUAL:
        return t.fcmp("une", left, right) if dtype.is_float else t.icmp("ne", left, right)
    if dtype.is_float:
        return t.fcmp("o" + _ORDERED[op], left, right)
    return t.icmp(("s" if dtype.is_signed_integer else "u") + _ORDERED[op], left, right)


def emit_binary(
    e: Emitter, op: BinaryOp, dtype: DType, lanes: int, left: str, right: str, may_trap: bool = True
) -> str:  # fmt: skip
    """`op` on two registers of `dtype`. `may_trap`: where that divides, the divisor may be 0 or -1."""
    t = e.lanes(register_element(dtype), lanes)
    if dtype.is_float:
        return round_float(e, dtype, lanes, _float_binary(t, op, left, right))
    if dtype.is_bool:
        return _bool_binary(t, op, left, right)
    result = _integer_binary(t, op, dtype, left, right, may_trap)
    return wrap_narrow(t, result, dtype)


def _float_binary(f: Lanes, op: BinaryOp, left: str, right: str) -> str:
    if op in _FLOAT:
        return f.op(_FLOAT[op], left, right)
    match op:
        case BinaryOp.MINIMUM:
            return _nan_winning(f, "olt", left, right)
        case BinaryOp.MAXIMUM:
            return _nan_winning(f, "ogt", left, right)
        case BinaryOp.MOD:
            return f.op("frem", left, right)
        case BinaryOp.FLOOR_MOD:
            return _float_floor_mod(f, left, right)
        case BinaryOp.FLOOR_DIVIDE:
            return f.call("floor", f.div(left, right))
        case BinaryOp.POWER:
            return emit_power(f, left, right)
        case _:
            raise CompilerBug("emit", f"`{op}` is not defined on floating-point numbers")


def _nan_winning(f: Lanes, predicate: str, left: str, right: str) -> str:
    """The second operand wins when the comparison is false, so a NaN on the right is kept; one on the left needs a
    look, unless that side is a constant."""
    if right[0] != "%":
        left, right = right, left
    chosen = f.select(f.fcmp(predicate, left, right), left, right)
    return chosen if left[0] != "%" else f.select(f.fcmp("uno", left, left), left, chosen)


def _float_floor_mod(f: Lanes, left: str, right: str) -> str:
    """The remainder with the sign of the divisor, zeros included; NaN for a divisor of 0."""
    rest = f.op("frem", left, right)
    zero = f.const(0.0)
    wrong_sign = _differ(f, f.fcmp("olt", rest, zero), f.fcmp("olt", right, zero))
    adjusted = f.select(wrong_sign, f.add(rest, right), rest)
    return f.select(f.fcmp("oeq", rest, zero), f.call("copysign", zero, right), adjusted)


def _differ(f: Lanes, left: str, right: str) -> str:
    return f.like("i1").op("xor", left, right)


def _bool_binary(t: Lanes, op: BinaryOp, left: str, right: str) -> str:
    match op:
        case BinaryOp.AND | BinaryOp.MULTIPLY | BinaryOp.MINIMUM:
            return t.op("and", left, right)
        case BinaryOp.OR | BinaryOp.ADD | BinaryOp.MAXIMUM:
            return t.op("or", left, right)
        case BinaryOp.XOR:
            return t.op("xor", left, right)
        case _:
            raise CompilerBug("emit", f"`{op}` is not defined on bool")


def _integer_binary(i: Lanes, op: BinaryOp, dtype: DType, left: str, right: str, may_trap: bool) -> str:
    signed = dtype.is_signed_integer
    if op in _INTEGER:
        return i.op(_INTEGER[op], left, right)
    if op in _BITWISE:
        return i.op(_BITWISE[op], left, right)
    match op:
        case BinaryOp.DIVIDE | BinaryOp.FLOOR_DIVIDE:
            return _integer_divide(i, signed, left, right, may_trap, floor=op is BinaryOp.FLOOR_DIVIDE)
        case BinaryOp.MOD | BinaryOp.FLOOR_MOD:
            return _integer_remainder(i, signed, left, right, may_trap, floor=op is BinaryOp.FLOOR_MOD)
        case BinaryOp.MINIMUM:
            return i.call("smin" if signed else "umin", left, right)
        case BinaryOp.MAXIMUM:
            return i.call("smax" if signed else "umax", left, right)
        case BinaryOp.LEFT_SHIFT:
            within = i.icmp("ult", right, i.const(dtype.bits))
            return i.select(within, i.op("shl", left, right), i.const(0))
        case BinaryOp.RIGHT_SHIFT:
            return _right_shift(i, dtype, left, right)
        case BinaryOp.POWER:
            return _integer_power(i, signed, left, right)
        case _:
            raise CompilerBug("emit", f"`{op}` is not defined on integers")


def _right_shift(i: Lanes, dtype: DType, left: str, right: str) -> str:
    if dtype.is_signed_integer:
        return i.op("ashr", left, i.call("umin", right, i.const(dtype.bits - 1)))
    within = i.icmp("ult", right, i.const(dtype.bits))
    return i.select(within, i.op("lshr", left, right), i.const(0))


def _safe_divisor(i: Lanes, signed: bool, left: str, right: str, may_trap: bool) -> tuple[str, str | None]:
    """A divisor that does not trap, and the mask of lanes where it was 0 (None when it cannot be)."""
    if not may_trap:
        return right, None
    zero = i.icmp("eq", right, i.const(0))
    unsafe = zero
    if signed:  # the least integer has no negative: dividing it by 1 instead of -1 gives what wrapping gives
        m = i.like("i1")
        least = i.icmp("eq", left, i.const(1 << (int(i.element[1:]) - 1)))
        unsafe = m.op("or", zero, m.op("and", least, i.icmp("eq", right, i.const(-1))))
    return i.select(unsafe, i.const(1), right), zero


def _integer_divide(i: Lanes, signed: bool, left: str, right: str, may_trap: bool, floor: bool) -> str:
    divisor, zero = _safe_divisor(i, signed, left, right, may_trap)
    quotient = i.op("sdiv" if signed else "udiv", left, divisor)
    if floor and signed:
        rest = i.op("sub", left, i.op("mul", quotient, divisor))
        quotient = i.select(_floor_differs(i, rest, divisor), i.op("sub", quotient, i.const(1)), quotient)
    return quotient if zero is None else i.select(zero, i.const(0), quotient)


def _integer_remainder(i: Lanes, signed: bool, left: str, right: str, may_trap: bool, floor: bool) -> str:
    divisor, _ = _safe_divisor(
        i, signed, left, right, may_trap
    )  # the remainder by 1 is the 0 that the unsafe cases give
    rest = i.op("srem" if signed else "urem", left, divisor)
    if floor and signed:
        return i.select(_floor_differs(i, rest, divisor), i.op("add", rest, divisor), rest)
    return rest


def _floor_differs(i: Lanes, rest: str, divisor: str) -> str:
    """Where truncation and floor give different quotients: a remainder, of the other sign than the divisor."""
    opposite = i.icmp("slt", i.op("xor", rest, divisor), i.const(0))
    return i.like("i1").op("and", opposite, i.icmp("ne", rest, i.const(0)))


def _integer_power(i: Lanes, signed: bool, left: str, right: str) -> str:
    """Wrapping power. A negative power is 1 / left**n, truncated: 0 but for bases 1 and -1."""
    result = call_unsigned_power(i, left, right)
    if not signed:
        return result
    odd = i.icmp("ne", i.op("and", right, i.const(1)), i.const(0))
    minus_one = i.select(odd, i.const(-1), i.const(1))
    reciprocal = i.select(i.icmp("eq", left, i.const(-1)), minus_one, i.const(0))
    reciprocal = i.select(i.icmp("eq", left, i.const(1)), i.const(1), reciprocal)
    return i.select(i.icmp("slt", right, i.const(0)), reciprocal, result)


def emit_unary(e: Emitter, op: UnaryOp, dtype: DType, lanes: int, operand: str) -> str:
    """`op` on a register of `dtype`."""
    t = e.lanes(register_element(dtype), lanes)
    if op in PREDICATES:
        return _predicate(t, op, dtype, operand)
    if dtype.is_float:
        return round_float(e, dtype, lanes, _float_unary(t, op, operand))
    if dtype.is_bool:
        if op is UnaryOp.NOT:
            return t.op("xor", operand, t.const(True))
        raise CompilerBug("emit", f"`{op}` is not defined on bool")
    result = _integer_unary(t, op, dtype, operand)
    return wrap_narrow(t, result, dtype)


def _predicate(t: Lanes, op: UnaryOp, dtype: DType, operand: str) -> str:
    mask = t.like("i1")
    if not dtype.is_float:
        return mask.const(op is UnaryOp.IS_FINITE)
    infinity = t.const(float("inf"))
    match op:
        case UnaryOp.IS_NAN:
            return t.fcmp("uno", operand, operand)
        case UnaryOp.IS_INF:
            return t.fcmp("oeq", t.call("fabs", operand), infinity)
        case _:
            return t.fcmp("olt", t.call("fabs", operand), infinity)


def _float_unary(f: Lanes, op: UnaryOp, operand: str) -> str:
    if op in _ROUNDINGS:
        return f.call(_ROUNDINGS[op], operand)
    match op:
        case UnaryOp.NEGATIVE:
            return f.neg(operand)
        case UnaryOp.ABS:
            return f.call("fabs", operand)
        case UnaryOp.SIGN:
            zero = f.const(0.0)
            one = f.call("copysign", f.const(1.0), operand)
            signed = f.select(f.fcmp("one", operand, zero), one, zero)
            return f.select(f.fcmp("uno", operand, operand), operand, signed)
        case UnaryOp.SQRT:
            return f.call("sqrt", operand)
        case UnaryOp.RSQRT:
            return f.div(f.const(1.0), f.call("sqrt", operand))
        case UnaryOp.NOT:
            raise CompilerBug("emit", "`not` is not defined on floating-point numbers")
        case _:
            return emit_transcendental(f, op, operand)


def _integer_unary(i: Lanes, op: UnaryOp, dtype: DType, operand: str) -> str:
    if op in _ROUNDINGS:
        return operand
    zero = i.const(0)
    match op:
        case UnaryOp.NEGATIVE:
            return i.op("sub", zero, operand)
        case UnaryOp.ABS:
            if dtype.is_unsigned_integer:
                return operand
            return i.select(i.icmp("slt", operand, zero), i.op("sub", zero, operand), operand)
        case UnaryOp.SIGN:
            positive = i.like("i1").convert("zext", i.icmp("ne", operand, zero), i)
            if dtype.is_unsigned_integer:
                return positive
            return i.select(i.icmp("slt", operand, zero), i.const(-1), positive)
        case UnaryOp.NOT:
            return i.op("xor", operand, i.const(-1))
        case _:
            raise CompilerBug("emit", f"`{op}` is not defined on {dtype}: cast to a floating-point type first")

"""Every form of value, as the register that holds it."""

from __future__ import annotations

from typing import assert_never

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter, Guard
from relay.targets.cpu.emit.index import emit_comparison, emit_index
from relay.targets.cpu.emit.kernels.dot import emit_dot
from relay.targets.cpu.emit.kernels.intrinsics import emit_call
from relay.targets.cpu.emit.kernels.memory import emit_load, is_within
from relay.targets.cpu.emit.numbers.arithmetic import emit_binary, emit_compare, emit_unary
from relay.targets.cpu.emit.numbers.convert import emit_cast, round_float
from relay.targets.cpu.emit.numbers.typenames import constant, register_element, register_type, sequence, vector_of
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Holds,
    Imm,
    IndexValue,
    Load,
    RampValue,
    Select,
    Unary,
    Value,
    ValueVar,
)  # fmt: skip
from relay.tir.traversal import walk_value


def emit_value(e: Emitter, value: Value) -> str:
    """The operand that holds `value`; a value met twice in one statement is computed once."""
    known = e.memo.get(id(value))
    if known is None:
        e.module.has_vectors |= value.lanes > 1
        known = e.memo[id(value)] = _emit(e, value)
    return known


def _emit(e: Emitter, value: Value) -> str:
    match value:
        case Load():
            return emit_load(e, value)
        case Imm(number, dtype, lanes):
            return _immediate(e, number, dtype, lanes)
        case Binary(op, left, right):
            return _binary(e, value, op, left, right)
        case Broadcast(operand, lanes):
            return _broadcast(e, operand, lanes)
        case Unary(op, operand):
            return emit_unary(e, op, operand.dtype, operand.lanes, emit_value(e, operand))
        case Compare():
            return _compare(e, value)
        case Select():
            return _select(e, value)
        case Cast(operand, dtype):
            return emit_cast(e, operand.dtype, dtype, operand.lanes, emit_value(e, operand))
        case Call():
            return emit_call(e, value)
        case ValueVar():
            return e.variables[value]
        case IndexValue(index, dtype, lanes):
            return e.function.splat(register_element(dtype), lanes, _number(e, index, dtype))
        case RampValue():
            return _ramp(e, value)
        case Holds(condition, lanes):
            return e.function.splat("i1", lanes, emit_comparison(e, condition))
        case _:
            assert_never(value)


def _immediate(e: Emitter, number: float | bool, dtype: DType, lanes: int) -> str:
    text = constant(number, register_element(dtype), lanes)
    if dtype.is_float and dtype.bits < 32:
        return round_float(e, dtype, lanes, text)
    return text


def _broadcast(e: Emitter, operand: Value, lanes: int) -> str:
    element, text = register_element(operand.dtype), emit_value(e, operand)
    if operand.lanes == 1:
        return e.function.splat(element, lanes, text)
    vector, times = vector_of(element, operand.lanes), lanes // operand.lanes
    order = sequence([lane // times for lane in range(lanes)], "i32")
    return e.function.op(f"shufflevector {vector} {text}, {vector} poison, <{lanes} x i32> {order}")


def _number(e: Emitter, index: IntExpr, dtype: DType) -> str:
    """An index as a machine number of `dtype`, wrapping."""
    number = emit_index(e, index)
    return emit_cast(e, DType.INT64, dtype, 1, number)


def _ramp(e: Emitter, ramp: RampValue) -> str:
    """`base + stride · lane` in 64 bits, then cast, so that every lane wraps or rounds by itself. Wrapping commutes
    with addition: numbers of 32 bits are added as such, in registers half as long."""
    lanes, base = ramp.lanes, emit_index(e, ramp.base)
    wraps = ramp.dtype.is_integer and ramp.dtype.bits >= 32
    i = e.lanes(register_element(ramp.dtype) if wraps else "i64", lanes)
    first = emit_cast(e, DType.INT64, ramp.dtype, 1, base) if wraps else base
    steps = sequence([lane * ramp.stride for lane in range(lanes)], i.element)
    total = i.op("add", e.function.splat(i.element, lanes, first), steps)
    if wraps:
        return total
    return emit_cast(e, DType.INT64, ramp.dtype, lanes, total)


def _compare(e: Emitter, compare: Compare) -> str:
    prefix = _lane_limit(e, compare)
    if prefix is not None:
        return prefix
    left, right = emit_value(e, compare.left), emit_value(e, compare.right)
    return emit_compare(e, compare.op, compare.left.dtype, compare.lanes, left, right)


def _lane_limit(e: Emitter, compare: Compare) -> str | None:
    """`base + lane < limit` (the mask of a tail) as a comparison of 32-bit lane numbers, instead of 64-bit sums."""
    match compare:
        case Compare(CompareOp.LESS, RampValue(base, 1, DType.INT64, lanes), Broadcast(IndexValue(limit))):
            pass
        case Compare(CompareOp.LESS, RampValue(base, 1, DType.INT64, lanes), IndexValue(limit)):
            pass
        case _:
            return None
    left = limit - base
    count = emit_index(e, left)
    for name, bound in (("smin", lanes), ("smax", 0)):
        e.module.declare(f"llvm.{name}.i64", f"i64 @llvm.{name}.i64(i64, i64)")
        count = e.function.op(f"call i64 @llvm.{name}.i64(i64 {count}, i64 {bound})")
    count = e.function.op(f"trunc i64 {count} to i32")
    i = e.lanes("i32", lanes)
    return i.icmp("slt", sequence(range(lanes), "i32"), e.function.splat("i32", lanes, count))


def _binary(e: Emitter, value: Binary, op: BinaryOp, left: Value, right: Value) -> str:
    fused = _contracted(e, value) if e.machine.contract and op in (BinaryOp.ADD, BinaryOp.SUBTRACT) else None
    if fused is not None:
        return fused
    if op is BinaryOp.ADD and isinstance(right, Call) and right.name in ("dot4", "dot2") and id(right) not in e.memo:
        return emit_dot(e, right, emit_value(e, left))
    may_trap = not _is_number_but(right, 0, -1)
    return emit_binary(e, op, value.dtype, value.lanes, emit_value(e, left), emit_value(e, right), may_trap)


def _is_number_but(value: Value, *others: int) -> bool:
    """Whether a value is a constant, the same in all lanes, and none of the others."""
    scalar = value.operand if isinstance(value, Broadcast) else value
    return isinstance(scalar, Imm) and scalar.value not in others


def _contracted(e: Emitter, value: Binary) -> str | None:
    """`a*b + c`, `c + a*b`, `a*b - c` or `c - a*b` with one rounding; None when there is no product to take in."""
    if value.dtype not in (DType.FLOAT32, DType.FLOAT64):
        return None
    product, addend, product_is_left = value.right, value.left, False
    if not _is_product(e, product):
        product, addend, product_is_left = value.left, value.right, True
        if not _is_product(e, product):
            return None
    f = e.lanes(register_element(value.dtype), value.lanes)
    assert isinstance(product, Binary)
    a, b = emit_value(e, product.left), emit_value(e, product.right)
    c = emit_value(e, addend)
    if value.op is BinaryOp.SUBTRACT:
        if product_is_left:
            c = f.neg(c)
        else:
            a = f.neg(a)
    return f.call("fma", a, b, c)


def _is_product(e: Emitter, value: Value) -> bool:
    """Whether this is a multiplication that nothing else in the statement has asked for yet."""
    return isinstance(value, Binary) and value.op is BinaryOp.MULTIPLY and id(value) not in e.memo


def _select(e: Emitter, select: Select) -> str:
    """One instruction where both sides may be computed; a branch, or masks on loads, where one side must not be."""
    condition = select.condition
    uniform = _uniform(e, condition)
    mask = emit_value(e, condition) if uniform is None else uniform
    mask_lanes = condition.lanes if uniform is None else 1
    kind = register_type(select.dtype, select.lanes)
    unsafe_then, unsafe_otherwise = _may_fault(e, select.then), _may_fault(e, select.otherwise)
    if mask_lanes == 1 and (unsafe_then or unsafe_otherwise):
        return _branching(e, select, mask, kind)
    then = _guarded(e, select.then, Guard(mask, mask_lanes)) if unsafe_then else emit_value(e, select.then)
    if unsafe_otherwise:
        m = e.lanes("i1", mask_lanes)
        otherwise = _guarded(e, select.otherwise, Guard(m.op("xor", mask, m.const(True)), mask_lanes))
    else:
        otherwise = emit_value(e, select.otherwise)
    return e.function.op(f"select {vector_of('i1', mask_lanes)} {mask}, {kind} {then}, {kind} {otherwise}")


def _uniform(e: Emitter, condition: Value) -> str | None:
    """The one bit of a condition that is the same in every lane."""
    match condition:
        case Broadcast(operand, _) if operand.lanes == 1:
            return emit_value(e, operand)
        case Holds(comparison, _):
            return emit_comparison(e, comparison)
        case _:
            return None


def _may_fault(e: Emitter, value: Value) -> bool:
    """Whether `value` loads something that is not known to be there (and not loaded in this statement already)."""
    if id(value) in e.memo:
        return False
    loads = (node for node in walk_value(value) if isinstance(node, Load) and id(node) not in e.memo)
    return any(load.mask is not None or not is_within(e, load.buffer, load.indices) for load in loads)


def _guarded(e: Emitter, value: Value, guard: Guard) -> str:
    """`value`, with loads only in the lanes of `guard` and of the guards around it."""
    outer, memo = e.guard, e.memo
    if outer is not None:
        guard = _both(e, outer, guard)
    e.guard, e.memo = guard, dict(memo)
    text = emit_value(e, value)
    e.guard, e.memo = outer, memo
    return text


def _both(e: Emitter, outer: Guard, inner: Guard) -> Guard:
    lanes = max(outer.lanes, inner.lanes)
    texts = [g.mask if g.lanes == lanes else e.function.splat("i1", lanes, g.mask) for g in (outer, inner)]
    return Guard(e.lanes("i1", lanes).op("and", *texts), lanes)


def _branching(e: Emitter, select: Select, mask: str, kind: str) -> str:
    f = e.function
    then, otherwise, after = f.label("then"), f.label("else"), f.label("endif")
    f.branch(mask, then, otherwise)
    results: list[str] = []
    for label, value in ((then, select.then), (otherwise, select.otherwise)):
        f.start_block(label)
        f.open_region()
        memo = e.memo
        e.memo = dict(memo)
        text = emit_value(e, value)
        e.memo = memo
        f.close_region()
        results.append(f"[ {text}, %{f.block} ]")
        f.jump(after)
    f.start_block(after)
    return f.impure(f"phi {kind} {', '.join(results)}")

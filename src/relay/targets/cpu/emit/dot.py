"""Products of bytes, four at a time and exact: `accumulator + Σ a[j] · b[j]` in each lane, `a` unsigned, `b` signed.

    vpdpbusd    all of it in one instruction (AVX512-VNNI, AVX-VNNI)
    pmaddwd     even and odd bytes widened to 16 bits each: two multiply-adds of pairs, exact in 32 bits
    otherwise   each byte widened to 32 bits

`vpmaddubsw` is not among them: it adds two products in 16 bits and saturates.
"""

from __future__ import annotations

from relay.arith.expr import add
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_address
from relay.targets.cpu.emit.lanes import Lanes
from relay.targets.cpu.emit.memory import is_within
from relay.tir.expr import Call, Load, Ramp, Value

_LOW_BYTES = 0x00FF00FF
_BYTES = 4


def emit_dot4(e: Emitter, call: Call, accumulator: str | None) -> str:
    """The sum of products, added to `accumulator` if there is one."""
    a, b = (e.emit_value(e, argument) for argument in call.arguments)
    i = e.lanes("i32", call.lanes)
    name = e.machine.dots.get(call.lanes)
    if name is None:
        products = _by_bytes(i, a, b)
    elif "pmadd" in name:
        products = _by_pairs(e, i, name, a, b)
    else:
        bytes_ = e.lanes("i8", _BYTES * call.lanes)
        start = accumulator or i.const(0)
        e.module.declare(name, f"{i.type} @{name}({i.type}, {bytes_.type}, {bytes_.type})")
        left, right = (i.convert("bitcast", operand, bytes_) for operand in (a, b))
        return e.function.op(f"call {i.type} @{name}({i.type} {start}, {bytes_.type} {left}, {bytes_.type} {right})")
    return products if accumulator is None else i.op("add", accumulator, products)


def _by_pairs(e: Emitter, i: Lanes, name: str, a: str, b: str) -> str:
    """255 · 128 fits 16 bits with a sign, so both factors are widened to that, even and odd bytes apart."""
    pairs = e.lanes("i16", 2 * i.lanes)
    e.module.declare(name, f"{i.type} @{name}({pairs.type}, {pairs.type})")
    signed = i.convert("bitcast", b, pairs)
    shift = pairs.const(8)
    even_b, odd_b = pairs.op("ashr", pairs.op("shl", signed, shift), shift), pairs.op("ashr", signed, shift)
    even_a, odd_a = i.op("and", a, i.const(_LOW_BYTES)), i.op("and", i.op("lshr", a, i.const(8)), i.const(_LOW_BYTES))
    sums = [
        e.function.op(f"call {i.type} @{name}({pairs.type} {i.convert('bitcast', left, pairs)}, {pairs.type} {right})")
        for left, right in ((even_a, even_b), (odd_a, odd_b))
    ]
    return i.op("add", *sums)


def _by_bytes(i: Lanes, a: str, b: str) -> str:
    total = ""
    for shift in (0, 8, 16, 24):
        left = i.op("and", i.op("lshr", a, i.const(shift)), i.const(255))
        right = i.op("ashr", i.op("shl", b, i.const(24 - shift)), i.const(24))
        product = i.op("mul", left, right)
        total = i.op("add", total, product) if total else product
    return total


def emit_word(e: Emitter, call: Call) -> str:
    """Four bytes as one int32: one load where they are neighbours in memory."""
    first = call.arguments[0]
    if call.lanes == 1 and isinstance(first, Load) and _are_neighbours(e, call.arguments):
        element = emit_address(e, first.buffer, first.indices)
        place = e.places[first.buffer]
        invariant = ", !invariant.load !0" if place.invariant else ""
        return e.function.load(place.load_key, f"load i32, ptr {element.pointer}, align 1{invariant}")
    if any(argument.dtype not in (DType.INT8, DType.UINT8) for argument in call.arguments):
        raise CompilerBug("emit", "a word is made of four bytes")
    i, narrow = e.lanes("i32", call.lanes), e.lanes("i8", call.lanes)
    total = ""
    for place, argument in enumerate(call.arguments):
        part = narrow.convert("zext", e.emit_value(e, argument), i)
        part = i.op("shl", part, i.const(8 * place)) if place else part
        total = i.op("or", total, part) if total else part
    return total


def _are_neighbours(e: Emitter, parts: tuple[Value, ...]) -> bool:
    """Whether all are loads, of elements that follow each other along the last axis, that may be made together."""
    first = parts[0]
    if not isinstance(first, Load) or not first.indices:
        return False
    *outer, start = first.indices
    for place, part in enumerate(parts):
        if not isinstance(part, Load) or part.mask is not None or part.buffer is not first.buffer:
            return False
        *others, last = part.indices
        if isinstance(start, Ramp) or isinstance(last, Ramp) or others != outer or last != add(start, place):
            return False
        if e.guard is not None and not is_within(e, part.buffer, part.indices):
            return False
    return True

"""Products of words: `accumulator + Σ a[j] · b[j]` in each lane, over the four bytes or two bfloat16 of a word.

Bytes, `a` unsigned, `b` signed, are exact:

    vpdpbusd    all of it in one instruction (AVX512-VNNI, AVX-VNNI)
    pmaddwd     even and odd bytes widened to 16 bits each: two multiply-adds of pairs, exact in 32 bits
    otherwise   each byte widened to 32 bits

`vpmaddubsw` is not among them: it adds two products in 16 bits and saturates.

A bfloat16 is the upper half of a float32:

    vdpbf16ps   all of it in one instruction (AVX512-BF16), which takes denormals for 0 and gives none
    otherwise   each half moved to where it is a float32, and two multiply-adds; the products are exact
"""

from __future__ import annotations

from relay.arith.expr import add
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_address
from relay.targets.cpu.emit.kernels.memory import is_within
from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.tir.expr import Call, Load, Ramp, Value

_LOW_BYTES = 0x00FF00FF
_HALF_BITS = 16
_UPPER_HALF = -(1 << _HALF_BITS)
_BYTES = 4


def emit_dot(e: Emitter, call: Call, accumulator: str | None) -> str:
    """The sum of the products of two words (`dot4`, `dot2`), added to `accumulator` if there is one."""
    return emit_dot4(e, call, accumulator) if call.name == "dot4" else emit_dot2(e, call, accumulator)


def emit_dot2(e: Emitter, call: Call, accumulator: str | None) -> str:
    """The sum of two products of bfloat16 in float32, added to `accumulator` if there is one."""
    a, b = (e.emit_value(e, argument) for argument in call.arguments)
    i, f = e.lanes("i32", call.lanes), e.lanes("float", call.lanes)
    name = e.machine.float_dots.get(call.lanes)
    if name is not None:
        e.flushes = True
        halves = e.lanes("bfloat", 2 * call.lanes)
        start = accumulator or f.const(0.0)
        e.module.declare(name, f"{f.type} @{name}({f.type}, {halves.type}, {halves.type})")
        left, right = (i.convert("bitcast", operand, halves) for operand in (a, b))
        return e.function.op(f"call {f.type} @{name}({f.type} {start}, {halves.type} {left}, {halves.type} {right})")
    low_a, low_b = (f.from_bits(i.op("shl", operand, i.const(_HALF_BITS))) for operand in (a, b))
    high_a, high_b = (f.from_bits(i.op("and", operand, i.const(_UPPER_HALF))) for operand in (a, b))
    total = f.mul(low_a, low_b) if accumulator is None else f.fma(low_a, low_b, accumulator)
    return f.fma(high_a, high_b, total)


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
    """Four bytes or two bfloat16 as one int32: one load where they are neighbours in memory."""
    first = call.arguments[0]
    if call.lanes == 1 and isinstance(first, Load) and _are_neighbours(e, call.arguments):
        element = emit_address(e, first.buffer, first.indices)
        place = e.places[first.buffer]
        invariant = ", !invariant.load !0" if place.invariant else ""
        align = place.item_bytes
        return e.function.load(place.load_key, f"load i32, ptr {element.pointer}, align {align}{invariant}")
    if len(call.arguments) == 2 and all(argument.dtype is DType.BFLOAT16 for argument in call.arguments):
        return _word_of_halves(e, call)
    if any(argument.dtype not in (DType.INT8, DType.UINT8) for argument in call.arguments):
        raise CompilerBug("emit", "a word is made of four bytes or two bfloat16")
    i, narrow = e.lanes("i32", call.lanes), e.lanes("i8", call.lanes)
    total = ""
    for place, argument in enumerate(call.arguments):
        part = narrow.convert("zext", e.emit_value(e, argument), i)
        part = i.op("shl", part, i.const(8 * place)) if place else part
        total = i.op("or", total, part) if total else part
    return total


def _word_of_halves(e: Emitter, call: Call) -> str:
    """Of values that are float32 in registers, and whose lower halves are 0."""
    i, f = e.lanes("i32", call.lanes), e.lanes("float", call.lanes)
    low, high = (f.to_bits(e.emit_value(e, argument)) for argument in call.arguments)
    return i.op("or", i.op("lshr", low, i.const(_HALF_BITS)), i.op("and", high, i.const(_UPPER_HALF)))


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

"""Between element types: casts, and the forms in register and memory of one type."""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.numbers.lanes import Lanes
from relay.targets.cpu.emit.numbers.narrow import decode, encode, round_and_encode, round_to
from relay.targets.cpu.emit.numbers.typenames import mangled, memory_element, register_element
from relay.tir.semantics import integer_limits

_NARROWEST_CONVERSION = 256  # bits
_SAME_IN_MEMORY = frozenset(
    dtype for dtype in DType if register_element(dtype) == memory_element(dtype) and not dtype.is_sub_byte_integer
)


def from_memory(e: Emitter, dtype: DType, lanes: int, text: str) -> str:
    """The register form of what was loaded."""
    if dtype in _SAME_IN_MEMORY:
        return text
    memory = e.lanes(memory_element(dtype), lanes)
    match dtype:
        case DType.BOOL:
            return memory.icmp("ne", text, memory.const(0))
        case DType.FLOAT16 if e.machine.has_half_conversion:
            half = e.lanes("half", lanes)
            return half.convert("fpext", memory.convert("bitcast", text, half), e.lanes("float", lanes))
        case _ if dtype.is_float:
            return decode(e.lanes("float", lanes), text, dtype)
        case _:
            return wrap_narrow(memory, text, dtype)


def to_memory(e: Emitter, dtype: DType, lanes: int, text: str) -> str:
    """What is stored for a register's value."""
    if dtype in _SAME_IN_MEMORY:
        return text
    register = e.lanes(register_element(dtype), lanes)
    memory = e.lanes(memory_element(dtype), lanes)
    match dtype:
        case DType.BOOL:
            return register.convert("zext", text, memory)
        case DType.FLOAT16 if e.machine.has_half_conversion:
            half = e.lanes("half", lanes)
            return half.convert("bitcast", register.convert("fptrunc", text, half), memory)
        case _ if dtype.is_float:
            return encode(register, text, dtype)
        case _:
            return text


def to_bfloat16(e: Emitter, lanes: int, text: str) -> str:
    """The bits of the bfloat16 nearest to a float32. The instruction for that (vcvtneps2bf16) takes denormals for 0, so
    it serves what follows products that do so too."""
    f, memory = e.lanes("float", lanes), e.lanes("i16", lanes)
    width = 32 * lanes
    if not e.flushes or lanes not in e.machine.float_dots or width < _NARROWEST_CONVERSION:
        return round_and_encode(f, text)
    halves = e.lanes("bfloat", lanes)
    name = f"llvm.x86.avx512bf16.cvtneps2bf16.{width}"
    e.module.declare(name, f"{halves.type} @{name}({f.type})")
    return halves.convert("bitcast", e.function.op(f"call {halves.type} @{name}({f.type} {text})"), memory)


def round_float(e: Emitter, dtype: DType, lanes: int, text: str) -> str:
    """A float32 result, rounded to a narrow `dtype` (itself for the wide ones)."""
    f = e.lanes("float", lanes)
    if dtype is DType.FLOAT16 and e.machine.has_half_conversion:
        half = e.lanes("half", lanes)
        return half.convert("fpext", f.convert("fptrunc", text, half), f)
    return round_to(f, text, dtype)


def wrap_narrow(i: Lanes, text: str, dtype: DType) -> str:
    """The low bits that an integer type of less than a byte has, extended by their sign or by zeros."""
    if not dtype.is_sub_byte_integer:
        return text
    if dtype.is_unsigned_integer:
        return i.op("and", text, i.const((1 << dtype.bits) - 1))
    unused = i.const(8 - dtype.bits)
    return i.op("ashr", i.op("shl", text, unused), unused)


def emit_cast(e: Emitter, source: DType, target: DType, lanes: int, text: str) -> str:
    """Conversion by value. Floats become integers by truncation, totally: NaN gives 0, beyond the range saturates.
    Integers wrap. A bool is whether the number is not 0."""
    if source == target:
        return text
    have = e.lanes(register_element(source), lanes)
    want = e.lanes(register_element(target), lanes)
    if target.is_bool:
        return have.fcmp("une", text, have.const(0)) if source.is_float else have.icmp("ne", text, have.const(0))
    if source.is_float:
        if target.is_float:
            return _float_to_float(e, have, want, target, text)
        if target is DType.INT32 and lanes > 1 and not e.machine.saturates:
            return _saturate_vector(have, want, text)
        return _saturate(have, want, target, text)
    if target.is_float:
        signed = source.is_signed_integer
        return round_float(e, target, lanes, have.convert("sitofp" if signed else "uitofp", text, want))
    resized = _resize(have, want, source.is_signed_integer, text)
    return wrap_narrow(want, resized, target)


def _float_to_float(e: Emitter, have: Lanes, want: Lanes, target: DType, text: str) -> str:
    if have.element == "float":
        if want.element == "double":
            return have.convert("fpext", text, want)
        return text if target is DType.FLOAT32 else round_float(e, target, have.lanes, text)
    return round_float(e, target, have.lanes, have.convert("fptrunc", text, want))  # narrow ones go through float32


def _saturate(have: Lanes, want: Lanes, target: DType, text: str) -> str:
    if target.bits < 32:
        return _saturate_narrow(have, want, target, text)
    function = have.function
    stem = "fptosi" if target.is_signed_integer else "fptoui"
    name = f"llvm.{stem}.sat.{mangled(want.element, want.lanes)}.{mangled(have.element, have.lanes)}"
    function.module.declare(name, f"{want.type} @{name}({have.type})")
    return function.op(f"call {want.type} @{name}({have.type} {text})")


def _saturate_narrow(have: Lanes, want: Lanes, target: DType, text: str) -> str:
    """By way of 32 bits, since machines have no conversion to fewer, and LLVM would convert lane by lane."""
    low, high = integer_limits(target)
    bounded = have.clamp_below(have.clamp_above(text, float(high)), float(low))
    number = have.select(have.fcmp("ord", text, text), bounded, have.const(0.0))
    whole = want.like("i32")
    return whole.convert("trunc", have.convert("fptosi", number, whole), want)


def _saturate_vector(have: Lanes, want: Lanes, text: str) -> str:
    """In vectors, where LLVM would convert lane by lane, with a jump for each bound."""
    low, high = integer_limits(DType.INT32)
    beyond = have.const(float(high + 1))
    fits = have.fcmp("olt", text, beyond)
    number = have.select(fits, have.clamp_below(text, float(low)), have.const(0.0))  # NaN does not fit
    whole = have.convert("fptosi", number, want)
    return want.select(have.fcmp("oge", text, beyond), want.const(high), whole)


def _resize(have: Lanes, want: Lanes, signed: bool, text: str) -> str:
    have_bits, want_bits = int(have.element[1:]), int(want.element[1:])
    if have_bits == want_bits:
        return text
    if have_bits > want_bits:
        return have.convert("trunc", text, want)
    return have.convert("sext" if signed else "zext", text, want)

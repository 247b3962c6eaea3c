"""Calls by name: what the target knows (`fma`, `dot4`, `prefetch`, …), else a C function of scalars.

dot4(a, b)                         four products of bytes, summed up (`emit/dot.py`)
dot2(a, b)                         two products of bfloat16, summed up in float32
word(a, b, …)                      four bytes or two bfloat16 as one int32, the first in its lowest bits
tile_…                             on tiles (`emit/tiles.py`)
fma(a, b, c)                       a·b + c with one rounding, whatever the target has
reinterpret(a)                     the same bits as another type of the same width
prefetch(load [, write, level])    ask for the cache line of the load's address; write 1 if it will be stored to,
                                   level 3 for L1 (the default), 2 for L2, 1 for L3
"""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_address
from relay.targets.cpu.emit.kernels.dot import emit_dot, emit_word
from relay.targets.cpu.emit.kernels.tiles import emit_tile_call
from relay.targets.cpu.emit.numbers.convert import from_memory, round_float, to_memory
from relay.targets.cpu.emit.numbers.typenames import memory_element, memory_type, register_element, register_type
from relay.tir.expr import Call, Imm, Load


def emit_call(e: Emitter, call: Call) -> str:
    """The result of a call; the empty string for one that has none."""
    match call.name:
        case "fma":
            return _fma(e, call)
        case "dot4" | "dot2":
            return emit_dot(e, call, None)
        case "word":
            return emit_word(e, call)
        case "reinterpret":
            return _reinterpret(e, call)
        case "prefetch":
            return _prefetch(e, call)
        case name if name.startswith("tile_"):
            return emit_tile_call(e, call)
        case _:
            return _extern(e, call)


def _fma(e: Emitter, call: Call) -> str:
    texts = [e.emit_value(e, argument) for argument in call.arguments]
    if len(texts) != 3 or not call.dtype.is_float:
        raise CompilerBug("emit", "fma takes three floating-point numbers")
    f = e.lanes(register_element(call.dtype), call.lanes)
    return round_float(e, call.dtype, call.lanes, f.call("fma", *texts))


def _reinterpret(e: Emitter, call: Call) -> str:
    (argument,) = call.arguments
    if argument.dtype.item_bytes != call.dtype.item_bytes or DType.BOOL in (argument.dtype, call.dtype):
        raise CompilerBug("emit", f"reinterpret from {argument.dtype} to {call.dtype}: widths differ")
    stored = to_memory(e, argument.dtype, argument.lanes, e.emit_value(e, argument))
    have = e.lanes(memory_element(argument.dtype), call.lanes)
    want = e.lanes(memory_element(call.dtype), call.lanes)
    text = stored if have.type == want.type else have.convert("bitcast", stored, want)
    return from_memory(e, call.dtype, call.lanes, text)


def _prefetch(e: Emitter, call: Call) -> str:
    where, *options = call.arguments
    numbers = [option.value for option in options if isinstance(option, Imm)]
    if not isinstance(where, Load) or len(numbers) != len(options) or len(options) > 2:
        raise CompilerBug("emit", "prefetch takes a load and up to two constants")
    write, level = [*map(int, numbers), *(0, 3)[len(numbers) :]]
    element = emit_address(e, where.buffer, where.indices)
    e.module.declare("llvm.prefetch.p0", "void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    e.function.effect(f"call void @llvm.prefetch.p0(ptr {element.pointer}, i32 {write}, i32 {level}, i32 1)")
    return ""


def _extern(e: Emitter, call: Call) -> str:
    """A C function by name. It takes and gives scalars as C passes them: narrow floats are not among them."""
    types = [register_type(argument.dtype, argument.lanes) for argument in call.arguments]
    narrow = [a.dtype for a in call.arguments if memory_type(a.dtype, 1) != register_type(a.dtype, 1)]
    if call.lanes != 1 or any(argument.lanes != 1 for argument in call.arguments) or narrow:
        raise CompilerBug("emit", f"`{call.name}` is no intrinsic of this target, and a C function takes scalars")
    kind = register_type(call.dtype, 1)
    e.module.declare(call.name, f"{kind} @{call.name}({', '.join(types)})")
    texts = [f"{t} {e.emit_value(e, a)}" for t, a in zip(types, call.arguments, strict=True)]
    return e.function.impure(f"call {kind} @{call.name}({', '.join(texts)})")

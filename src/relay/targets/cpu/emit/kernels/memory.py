"""Loads and stores: scalar, contiguous, broadcast, strided, each with or without a mask.

Alignment is always stated and is that of one element, since a user's arrays promise no more.
"""

from __future__ import annotations

from dataclasses import replace

from relay.arith.expr import IntExpr, Node, Symbol, linear_parts
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.targets.cpu.emit.context import Emitter, Guard, Place
from relay.targets.cpu.emit.index import Element, emit_address
from relay.targets.cpu.emit.kernels.columns import column_of, emit_column
from relay.targets.cpu.emit.kernels.tail_mask import has_room, leading_lanes, needed_mask, padded_shape
from relay.targets.cpu.emit.numbers.convert import from_memory, to_bfloat16, to_memory
from relay.targets.cpu.emit.numbers.typenames import (
    constant,
    mangled,
    memory_element,
    register_element,
    sequence,
    vector_of,
)
from relay.tir.buffer import Buffer
from relay.tir.expr import Cast, Index, Load, Ramp, Value
from relay.tir.stmt import Store
from relay.tir.traversal import joined

_NARROWEST_REGISTER = 32  # bits


def emit_load(e: Emitter, load: Load) -> str:
    """The register that holds `load`; lanes where its mask, or the guard it stands under, is false hold 0, or what all
    others do where these read one element."""
    needed = needed_mask(load.buffer, load.indices, load.mask)
    if needed is not None and load.is_uniform and leading_lanes(needed):
        needed = None  # one of the lanes reads it for certain
    mask = None if needed is None else e.emit_value(e, needed)
    guard = e.guard
    if guard is not None and not is_within(e, load.buffer, load.indices):
        mask = _with_guard(e, mask, guard, load.lanes)
    element = emit_address(e, load.buffer, load.indices)
    dtype = load.buffer.dtype
    place = e.places[load.buffer]
    lanes = element.lanes
    if mask is None and (column := column_of(load)) is not None:
        return from_memory(e, dtype, lanes, emit_column(e, load.buffer, column))
    if lanes > 1 and mask is not None and _is_in_registers(e, load.buffer, load.indices):
        whole = _load_vector(e, place, dtype, element, None)
        zeros = constant(0, memory_element(dtype), lanes)
        return from_memory(e, dtype, lanes, _chosen(e, dtype, lanes, mask, whole, zeros))
    if lanes > 1 and element.stride != 0:
        return from_memory(e, dtype, lanes, _load_vector(e, place, dtype, element, mask))
    if lanes > 1 and mask is not None:
        mask = _any(e, mask, lanes)
    scalar = from_memory(e, dtype, 1, _load_one(e, place, dtype, element, mask))
    return e.function.splat(register_element(dtype), lanes, scalar)


def emit_store(e: Emitter, store: Store) -> None:
    """Write a value."""
    text = _stored(e, store)
    lanes = store.value.lanes
    needed = needed_mask(store.buffer, store.indices, store.mask)
    mask = None if needed is None else e.emit_value(e, needed)
    element = emit_address(e, store.buffer, store.indices)
    dtype = store.buffer.dtype
    if lanes == 1:
        _store_one(e, dtype, element.pointer, text, mask)
    elif needed is not None and _is_one_narrow_lane(dtype, element, needed):
        first = e.function.op(f"extractelement {vector_of(memory_element(dtype), lanes)} {text}, i64 0")
        _store_one(e, dtype, element.pointer, first, None)
    elif element.stride == 0:  # lanes write one element in order: the last one stays
        memory = memory_element(dtype)
        last = e.function.op(f"extractelement {vector_of(memory, lanes)} {text}, i64 {lanes - 1}")
        if mask is not None:
            raise CompilerBug("emit", f"{e.kernel_name}: a masked store of all lanes to one element")
        _store_one(e, dtype, element.pointer, last, None)
    elif mask is not None and _is_in_registers(e, store.buffer, store.indices):
        old = _load_vector(e, e.places[store.buffer], dtype, element, None)
        _store_vector(e, dtype, element, _chosen(e, dtype, lanes, mask, text, old), None)
    else:
        _store_vector(e, dtype, element, text, mask)
    e.function.forget_loads(e.places[store.buffer].load_key)


def _is_one_narrow_lane(dtype: DType, element: Element, mask: Value) -> bool:
    """Whether one lane is stored, narrower than it was computed: of a store that is masked to one lane and truncates,
    LLVM 22 makes a store of what is truncated, and writes too much."""
    return dtype.bits < _NARROWEST_REGISTER and element.stride == 1 and leading_lanes(mask) == 1


def _stored(e: Emitter, store: Store) -> str:
    """What is written for a value. What is rounded to bfloat16 only to be stored is rounded as it is encoded."""
    match store.value:
        case Cast(operand, DType.BFLOAT16) if operand.dtype is DType.FLOAT32 and id(store.value) not in e.memo:
            return to_bfloat16(e, operand.lanes, e.emit_value(e, operand))
        case value:
            return to_memory(e, value.dtype, value.lanes, e.emit_value(e, value))


def is_within(e: Emitter, buffer: Buffer, indices: tuple[Index, ...]) -> bool:
    """Whether the access is certainly inside the buffer, so that it may be made although its value goes unused."""
    return _is_within(e, buffer.shape, indices)


def _is_in_registers(e: Emitter, buffer: Buffer, indices: tuple[Index, ...]) -> bool:
    """Whether all lanes of an access are certainly in registers. Those that a mask lets through are chosen between
    registers then: a masked access would keep these in memory, where no load gets early what a masked store writes."""
    return has_room(buffer, indices) and _is_within(e, padded_shape(buffer), indices)


def _is_within(e: Emitter, shape: tuple[IntExpr, ...], indices: tuple[Index, ...]) -> bool:
    for index, extent in zip(*joined(indices, shape), strict=True):
        if isinstance(index, Ramp):
            base, reach = index.base, index.stride * (index.lanes - 1)
        else:
            base, reach = index, 0
        if not _is_between(e, base, min(reach, 0), max(reach, 0), extent):
            return False
    return True


def _is_between(e: Emitter, base: IntExpr, low: int, high: int, extent: IntExpr) -> bool:
    """Whether `0 <= base + low` and `base + high < extent`, by the ranges of loops."""
    constant_part, terms = linear_parts(base)
    low, high = low + constant_part, high + constant_part
    if low == 0 == high and len(terms) == 1 and terms[0][1] == 1 and _range(e, terms[0][0]) == extent:
        return True
    for term, coefficient in terms:
        count = _range(e, term)
        if not isinstance(count, int):
            return False
        reach = coefficient * (count - 1)
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low >= 0 and isinstance(extent, int) and high < extent


def _range(e: Emitter, term: Node) -> IntExpr | None:
    """How many values a loop's variable takes, from 0; None for what is no such variable."""
    return e.ranges.get(term) if isinstance(term, Symbol) else None


def _chosen(e: Emitter, dtype: DType, lanes: int, mask: str, text: str, otherwise: str) -> str:
    """`text` in the lanes of a mask."""
    vector = vector_of(memory_element(dtype), lanes)
    return e.function.op(f"select {vector_of('i1', lanes)} {mask}, {vector} {text}, {vector} {otherwise}")


def _with_guard(e: Emitter, mask: str | None, guard: Guard, lanes: int) -> str:
    if guard.lanes == lanes:
        extra = guard.mask
    elif guard.lanes == 1:
        extra = e.function.splat("i1", lanes, guard.mask)
    elif lanes == 1:
        extra = _any(e, guard.mask, guard.lanes)
    else:
        raise CompilerBug("emit", f"{e.kernel_name}: {lanes} lanes under a condition of {guard.lanes}")
    return extra if mask is None else e.lanes("i1", lanes).op("and", mask, extra)


def _any(e: Emitter, mask: str, lanes: int) -> str:
    """Whether any lane of a mask holds."""
    name = f"llvm.vector.reduce.or.v{lanes}i1"
    e.module.declare(name, f"i1 @{name}(<{lanes} x i1>)")
    return e.function.op(f"call i1 @{name}(<{lanes} x i1> {mask})")


def _suffix(place: Place) -> str:
    return ", !invariant.load !0" if place.invariant else ""


def _load_one(e: Emitter, place: Place, dtype: DType, element: Element, mask: str | None) -> str:
    memory = memory_element(dtype)
    instruction = f"load {memory}, ptr {element.pointer}, align {place.item_bytes}{_suffix(place)}"
    if mask is None:
        return e.function.load(place.load_key, instruction)
    f = e.function
    then, after = f.label("load"), f.label("loaded")
    before = f.block
    f.branch(mask, then, after)
    f.start_block(then)
    loaded = f.impure(instruction)
    f.jump(after)
    f.start_block(after)
    zero = constant(0, memory, 1)
    return f.impure(f"phi {memory} [ {zero}, %{before} ], [ {loaded}, %{then} ]")


def _load_vector(e: Emitter, place: Place, dtype: DType, element: Element, mask: str | None) -> str:
    memory, lanes = memory_element(dtype), element.lanes
    vector = vector_of(memory, lanes)
    if element.stride == -1:
        return _reverse(
            e, dtype, lanes, _load_vector(e, place, dtype, _from_last(e, dtype, element), _flipped(e, mask, lanes))
        )
    if element.stride == 1 and mask is None:
        instruction = f"load {vector}, ptr {element.pointer}, align {place.item_bytes}{_suffix(place)}"
        return e.function.load(place.load_key, instruction)
    if element.stride == 2:
        return _load_every_second(e, place, dtype, element, mask)
    if element.stride == 1 and mask is not None and (parts := _parts(e, dtype, element, mask)):
        loaded = [(part.lanes, _load_vector(e, place, dtype, part, bits)) for part, bits, _ in parts]
        return _joined(e, dtype, lanes, loaded)
    bits = vector_of("i1", lanes)
    mask = mask if mask is not None else constant(True, "i1", lanes)
    zeros = constant(0, memory, lanes)
    align = f"i32 {dtype.item_bytes}"
    if element.stride == 1:
        name = f"llvm.masked.load.{mangled(memory, lanes)}.p0"
        e.module.declare(name, f"{vector} @{name}(ptr, i32, {bits}, {vector})")
        arguments = f"ptr {element.pointer}, {align}, {bits} {mask}, {vector} {zeros}"
    else:
        name = f"llvm.masked.gather.{mangled(memory, lanes)}.v{lanes}p0"
        e.module.declare(name, f"{vector} @{name}(<{lanes} x ptr>, i32, {bits}, {vector})")
        arguments = f"<{lanes} x ptr> {_pointers(e, dtype, element)}, {align}, {bits} {mask}, {vector} {zeros}"
    return e.function.load(place.load_key, f"call {vector} @{name}({arguments})")


def _store_one(e: Emitter, dtype: DType, pointer: str, text: str, mask: str | None) -> None:
    f = e.function
    line = f"store {memory_element(dtype)} {text}, ptr {pointer}, align {dtype.item_bytes}"
    if mask is None:
        f.effect(line)
        return
    then, after = f.label("store"), f.label("stored")
    f.branch(mask, then, after)
    f.start_block(then)
    f.effect(line)
    f.jump(after)
    f.start_block(after)


def _store_vector(e: Emitter, dtype: DType, element: Element, text: str, mask: str | None) -> None:
    memory, lanes = memory_element(dtype), element.lanes
    vector = vector_of(memory, lanes)
    if element.stride == -1:
        reversed_text = _reverse(e, dtype, lanes, text)
        _store_vector(e, dtype, _from_last(e, dtype, element), reversed_text, _flipped(e, mask, lanes))
        return
    if element.stride == 1 and mask is None:
        e.function.effect(f"store {vector} {text}, ptr {element.pointer}, align {dtype.item_bytes}")
        return
    if element.stride == 1 and mask is not None and (parts := _parts(e, dtype, element, mask)):
        for part, bits, order in parts:
            piece = e.function.op(f"shufflevector {vector} {text}, {vector} poison, {order}")
            _store_vector(e, dtype, part, piece, bits)
        return
    bits = vector_of("i1", lanes)
    mask = mask if mask is not None else constant(True, "i1", lanes)
    tail = f"i32 {dtype.item_bytes}, {bits} {mask}"
    if element.stride == 1:
        name = f"llvm.masked.store.{mangled(memory, lanes)}.p0"
        e.module.declare(name, f"void @{name}({vector}, ptr, i32, {bits})")
        where = f"ptr {element.pointer}"
    else:
        name = f"llvm.masked.scatter.{mangled(memory, lanes)}.v{lanes}p0"
        e.module.declare(name, f"void @{name}({vector}, <{lanes} x ptr>, i32, {bits})")
        where = f"<{lanes} x ptr> {_pointers(e, dtype, element)}"
    e.function.effect(f"call void @{name}({vector} {text}, {where}, {tail})")


def _parts(e: Emitter, dtype: DType, element: Element, mask: str) -> list[tuple[Element, str, str]]:
    """A masked access of more lanes than a register has, cut into such that have not: elements, masks, and the order
    that takes their lanes out of all. Empty for others. A last lane that is alone gets one beside it, masked off.

    LLVM 22 forgets how long the parts are into which it cuts one itself, and ends the process when their mask is
    constant, so that it makes plain loads of them (`LocationSize::getValue`).
    """
    most = e.machine.vector_bits // (8 * dtype.item_bytes)
    if element.lanes <= most:
        return []
    parts: list[tuple[Element, str, str]] = []
    vector = vector_of("i1", element.lanes)
    for first in range(0, element.lanes, most):
        lanes = range(first, max(min(first + most, element.lanes), first + 2))
        order = f"<{len(lanes)} x i32> {sequence(lanes, 'i32')}"
        bits = e.function.op(f"shufflevector {vector} {mask}, {vector} zeroinitializer, {order}")
        pointer = element.pointer
        if first:
            pointer = e.function.op(f"getelementptr i8, ptr {pointer}, i64 {first * dtype.item_bytes}")
        parts.append((Element(pointer, 1, len(lanes)), bits, order))
    return parts


def _joined(e: Emitter, dtype: DType, lanes: int, parts: list[tuple[int, str]]) -> str:
    """Vectors, each with the number of its lanes, as one: their first `lanes` lanes."""
    memory = memory_element(dtype)
    count, whole = parts[0]
    for width, text in parts[1:]:
        if width < count:
            order = sequence([min(lane, width) for lane in range(count)], "i32")
            narrow = vector_of(memory, width)
            text = e.function.op(f"shufflevector {narrow} {text}, {narrow} poison, <{count} x i32> {order}")
        wide, together = vector_of(memory, count), min(count + width, lanes)
        order = sequence(range(together), "i32")
        whole = e.function.op(f"shufflevector {wide} {whole}, {wide} {text}, <{together} x i32> {order}")
        count = together
    return whole


def _pointers(e: Emitter, dtype: DType, element: Element) -> str:
    """The addresses of all lanes."""
    lanes = element.lanes
    if element.stride is not None:
        step = element.stride * dtype.item_bytes
        offsets = sequence(range(0, step * lanes, step), "i64")
    else:
        one = e.function.op(f"mul nsw i64 {element.stride_value}, {dtype.item_bytes}")
        steps = e.function.splat("i64", lanes, one)
        offsets = e.function.op(f"mul nsw <{lanes} x i64> {steps}, {sequence(range(lanes), 'i64')}")
    return e.function.op(f"getelementptr i8, ptr {element.pointer}, <{lanes} x i64> {offsets}")


def _from_last(e: Emitter, dtype: DType, element: Element) -> Element:
    """The same elements, from the one of the last lane upwards."""
    distance = (element.lanes - 1) * dtype.item_bytes
    return Element(e.function.op(f"getelementptr i8, ptr {element.pointer}, i64 {-distance}"), 1, element.lanes)


def _load_every_second(e: Emitter, place: Place, dtype: DType, element: Element, mask: str | None) -> str:
    """Lanes two elements apart, out of two vectors: the first starts with the first lane and the second ends with the
    last one, so nothing beyond the lanes is touched."""
    lanes = element.lanes
    vector = vector_of(memory_element(dtype), lanes)
    later = e.function.op(f"getelementptr i8, ptr {element.pointer}, i64 {(lanes - 1) * dtype.item_bytes}")
    halves: list[str] = []
    for start, pointer in ((0, element.pointer), (lanes - 1, later)):
        part = None
        if mask is not None:
            bits = vector_of("i1", lanes)
            chosen = [lanes if (start + at) % 2 else (start + at) // 2 for at in range(lanes)]
            order = sequence(chosen, "i32")
            part = e.function.op(f"shufflevector {bits} {mask}, {bits} zeroinitializer, <{lanes} x i32> {order}")
        halves.append(_load_vector(e, place, dtype, replace(element, pointer=pointer, stride=1), part))
    order = sequence([at if at < lanes else at + 1 for at in range(0, 2 * lanes, 2)], "i32")
    return e.function.op(f"shufflevector {vector} {halves[0]}, {vector} {halves[1]}, <{lanes} x i32> {order}")


def _reverse(e: Emitter, dtype: DType, lanes: int, text: str) -> str:
    return _shuffle_backwards(e, vector_of(memory_element(dtype), lanes), lanes, text)


def _flipped(e: Emitter, mask: str | None, lanes: int) -> str | None:
    return None if mask is None else _shuffle_backwards(e, vector_of("i1", lanes), lanes, mask)


def _shuffle_backwards(e: Emitter, vector: str, lanes: int, text: str) -> str:
    order = sequence(range(lanes - 1, -1, -1), "i32")
    return e.function.op(f"shufflevector {vector} {text}, {vector} poison, <{lanes} x i32> {order}")

"""Entries that run a procedure: they open a heap in the caller's workspace, wrap the caller's arrays as tensors, and
leave the result there. Whoever calls takes the result and then closes the heap (`relay_heap_close`).

Where the caller can make room for the result, a second entry has it made there, or copies it to there."""

from __future__ import annotations

from relay.lower.planning.kernel_calls import size_bytes
from relay.lower.program.program import Entry, ValueParameter
from relay.runtime.artefact.manifest import CellLabel, Label, ResultSpec, entry_symbol, heap_entry_symbol
from relay.runtime.values.heap import (
    ANOTHERS_DATA,
    DATA_OFFSET_BYTES,
    EXTENTS_OFFSET_BYTES,
    FIELDS_OFFSET_BYTES,
    JUMP_OFFSET_BYTES,
    ONCE_OFFSET_BYTES,
    OUTPUTS_OFFSET_BYTES,
    OWN_DATA,
    RESULT_OFFSET_BYTES,
    STACK_END_OFFSET_BYTES,
    STATUS_OFFSET_BYTES,
)
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.kernels.value import emit_value
from relay.targets.cpu.emit.programs.device_tensors import emit_no_tensors, emit_sweep
from relay.targets.cpu.emit.programs.entry import refuse_extents
from relay.targets.cpu.emit.programs.frame import ENTRY_PARAMETERS, procedure_symbol, read_symbols
from relay.targets.cpu.emit.programs.passing import pass_arguments
from relay.targets.cpu.emit.programs.words import at
from relay.targets.cpu.emit.stop import emit_stop_begin
from relay.targets.cpu.emit.text import FunctionText, ModuleText

_MOVE_BYTES = 24
"""What the support library knows of a result that callers have room for: where that is, where it was made, its size."""

_STACK_RESERVE_BYTES = 1 << 18
"""What is left of a stack when it counts as used up: kernels and the C library run on the rest."""

_CALLER_STACK_BYTES = 1 << 19
"""How much of the caller's stack a call may count on, the reserve included. Most recursions are shallow, and a stack of
one's own costs a thread: a call that needs more is run again on one. It can be: it has changed nothing but its heap.
Who makes a call that may change more says so (`ONCE_OFFSET_BYTES`): it has a stack of its own at once, as all calls
have that are given memory of the caller's."""


def emit_heap_entry(
    entry: Entry, machine: Machine, module: ModuleText, labels: tuple[Label, ...], deep: bool, on_devices: bool = False
) -> None:
    """Add the functions of one entry to a module. `on_devices`: some of its tensors are there."""
    module.declare("_setjmp", "i32 @_setjmp(ptr) returns_twice")
    name = heap_entry_symbol(entry.name, entry.copied)
    parameters = ENTRY_PARAMETERS
    if entry.copied is not None:
        copying = _copying(entry, entry.copied, machine, module)
        module.functions.append(copying.render(f"define i32 @{entry_symbol(entry.name)}({parameters}) nounwind"))
    body = _guarded(entry, machine, module, labels, deep, on_devices)
    if not deep:
        module.functions.append(body.render(f"define i32 @{name}({parameters}) nounwind"))
        return
    module.functions.append(body.render(f"define internal i32 @{name}.run({parameters}, i64 %stack_bytes) nounwind"))
    module.functions.append(_START.format(name=name))
    module.declare("relay_stop_begin", "void @relay_stop_begin() nounwind")
    module.declare("relay_stop_owner", "i64 @relay_stop_owner() nounwind")
    module.declare("relay_stop_act_for", "void @relay_stop_act_for(i64) nounwind")
    again = "false" if entry.donations else "%may.again"
    values = {"caller_bytes": _CALLER_STACK_BYTES, "once_offset": ONCE_OFFSET_BYTES, "again": again}
    text = _DEEP.format(name=name, parameters=parameters, values=parameters, **values)
    module.functions.append(text)


_START = """define internal ptr @{name}.start(ptr %arguments) nounwind {{
  %slot1 = getelementptr i8, ptr %arguments, i64 8
  %slot2 = getelementptr i8, ptr %arguments, i64 16
  %slot3 = getelementptr i8, ptr %arguments, i64 24
  %slot4 = getelementptr i8, ptr %arguments, i64 32
  %buffers = load ptr, ptr %arguments
  %symbols = load ptr, ptr %slot1
  %workspace = load ptr, ptr %slot2
  %constants = load ptr, ptr %slot3
  %bytes = load i64, ptr %slot4
  %slot5 = getelementptr i8, ptr %arguments, i64 40
  %owner = load i64, ptr %slot5
  call void @relay_stop_act_for(i64 %owner)
  %status = call i32 @{name}.run(ptr %buffers, ptr %symbols, ptr %workspace, ptr %constants, i64 %bytes)
  %word = sext i32 %status to i64
  %worth = inttoptr i64 %word to ptr
  ret ptr %worth
}}
"""

_DEEP = """define i32 @{name}({parameters}) nounwind {{
  call void @relay_stop_begin()
  call void @relay_heap_open(ptr %workspace, ptr %constants)
  %once.slot = getelementptr i8, ptr %workspace, i64 {once_offset}
  %once = load i64, ptr %once.slot
  %may.again = icmp eq i64 %once, 0
  br i1 {again}, label %try, label %again
try:
  %shallow = call i32 @{name}.run({values}, i64 {caller_bytes})
  %too.deep = icmp eq i32 %shallow, -2
  br i1 %too.deep, label %again, label %done
done:
  ret i32 %shallow
again:
  call void @relay_heap_close(ptr %workspace)
  call void @relay_heap_open(ptr %workspace, ptr %constants)
  %arguments = alloca [48 x i8], align 8
  %slot1 = getelementptr i8, ptr %arguments, i64 8
  %slot2 = getelementptr i8, ptr %arguments, i64 16
  %slot3 = getelementptr i8, ptr %arguments, i64 24
  store ptr %buffers, ptr %arguments
  store ptr %symbols, ptr %slot1
  store ptr %workspace, ptr %slot2
  store ptr %constants, ptr %slot3
  %slot5 = getelementptr i8, ptr %arguments, i64 40
  %owner = call i64 @relay_stop_owner()
  store i64 %owner, ptr %slot5
  %status = call i32 @relay_on_deep_stack(ptr @{name}.start, ptr %arguments)
  ret i32 %status
}}
"""


def _guarded(
    entry: Entry, machine: Machine, module: ModuleText, labels: tuple[Label, ...], deep: bool, on_devices: bool
) -> FunctionText:
    """Run the procedure; a failure inside comes back here."""
    text = FunctionText(module)
    e = Emitter(text, machine, entry.name, emit_value)
    if not deep:
        emit_stop_begin(text)
        text.effect("call void @relay_heap_open(ptr %workspace, ptr %constants)")
    else:
        frame = text.impure("call ptr @llvm.frameaddress.p0(i32 0)")
        budget = text.impure(f"sub i64 {_STACK_RESERVE_BYTES}, %stack_bytes")
        end = text.impure(f"getelementptr i8, ptr {frame}, i64 {budget}")
        text.effect(
            f"store ptr {end}, ptr {text.impure(f'getelementptr i8, ptr %workspace, i64 {STACK_END_OFFSET_BYTES}')}"
        )
    if entry.copied is None:
        text.effect(f"store ptr null, ptr {at(text, '%workspace', OUTPUTS_OFFSET_BYTES)}, align 8")
    if on_devices:
        emit_no_tensors(text)
    target = text.impure(f"getelementptr i8, ptr %workspace, i64 {JUMP_OFFSET_BYTES}")
    back = text.impure(f"call i32 @_setjmp(ptr {target}) returns_twice")
    first, failed = text.label("first"), text.label("failed")
    text.branch(text.impure(f"icmp eq i32 {back}, 0"), first, failed)
    text.start_block(failed)
    if on_devices:
        emit_sweep(text)
    text.effect(f"ret i32 {_load(text, 'i32', '%workspace', STATUS_OFFSET_BYTES)}")
    text.start_block(first)
    read_symbols(e, entry.symbols)
    refuse_extents(e, entry.checks)
    tuple_label = labels.index(CellLabel("tuple"))
    inputs = [_input(e, entry, position, labels) for position in range(len(entry.inputs))]
    words = [_nested(text, spec, inputs, tuple_label) for spec in entry.arguments]
    passed = pass_arguments(text, "%workspace", words)
    result = text.impure(f"call tailcc i64 @{procedure_symbol(entry.procedure)}({passed})")
    slot = text.impure(f"getelementptr i8, ptr %workspace, i64 {RESULT_OFFSET_BYTES}")
    text.effect(f"store i64 {result}, ptr {slot}")
    if on_devices:
        emit_sweep(text)
    text.effect("ret i32 0")
    return text


def _input(e: Emitter, entry: Entry, position: int, labels: tuple[Label, ...]) -> str:
    """The caller's input number `position`: a value as it is, or an object for an array, whose data are its own only if
    the caller gave them away."""
    text, parameter = e.function, entry.inputs[position]
    if isinstance(parameter, ValueParameter):
        return _load(text, "i64", "%buffers", 8 * position)
    shape, label = parameter.type.shape, labels.index(parameter.label)
    bytes_ = EXTENTS_OFFSET_BYTES + 8 * len(shape)
    address = text.impure(f"call ptr @relay_heap_new(ptr %workspace, i64 {bytes_}, i32 {label}, i32 1)")
    data = _load(text, "ptr", "%buffers", 8 * position)
    is_donated = any(each.input == position for each in entry.donations)
    owner = OWN_DATA if is_donated else ANOTHERS_DATA
    stores = [("i64", str(owner), FIELDS_OFFSET_BYTES), ("ptr", data, DATA_OFFSET_BYTES)]
    stores += [("i64", emit_index(e, extent), EXTENTS_OFFSET_BYTES + 8 * axis) for axis, extent in enumerate(shape)]
    for kind, value, offset in stores:
        slot = text.impure(f"getelementptr i8, ptr {address}, i64 {offset}")
        text.effect(f"store {kind} {value}, ptr {slot}, align 8")
    return text.impure(f"ptrtoint ptr {address} to i64")


def _nested(text: FunctionText, spec: ResultSpec, inputs: list[str], tuple_label: int) -> str:
    """An argument: an input, or a tuple of arguments."""
    if isinstance(spec, int):
        return inputs[spec]
    words = [_nested(text, field, inputs, tuple_label) for field in spec.fields]
    if not words:
        return str(2 * tuple_label + 1)
    bytes_ = FIELDS_OFFSET_BYTES + 8 * len(words)
    made = f"call ptr @relay_heap_new(ptr %workspace, i64 {bytes_}, i32 {tuple_label}, i32 {len(words)})"
    address = text.impure(made)
    for position, word in enumerate(words):
        slot = text.impure(f"getelementptr i8, ptr {address}, i64 {FIELDS_OFFSET_BYTES + 8 * position}")
        text.effect(f"store i64 {word}, ptr {slot}, align 8")
    return text.impure(f"ptrtoint ptr {address} to i64")


def _copying(entry: Entry, copied: ResultSpec, machine: Machine, module: ModuleText) -> FunctionText:
    """Run the entry that leaves its result on the heap, and tell it where the caller's outputs are, so that they may be
    made there; copy the others, and close the heap. The result is released before, so that the heap tells how many
    objects are left."""
    text = FunctionText(module)
    e = Emitter(text, machine, entry.name, emit_value)
    read_symbols(e, entry.symbols)
    moves = text.alloca(_MOVE_BYTES * len(entry.outputs), alignment=16)
    given = {each.output for each in entry.donations}
    for position, output in enumerate(entry.outputs):
        room = _load(text, "ptr", "%buffers", 8 * (len(entry.inputs) + position))
        made = room if position in given else "null"  # an input is there
        for number, word in enumerate((f"ptr {room}", f"ptr {made}", f"i64 {emit_index(e, size_bytes(output.type))}")):
            text.effect(f"store {word}, ptr {at(text, moves, _MOVE_BYTES * position + 8 * number)}, align 8")
    text.effect(f"store ptr {moves}, ptr {at(text, '%workspace', OUTPUTS_OFFSET_BYTES)}, align 8")
    status = text.impure(f"call i32 @{heap_entry_symbol(entry.name, copied)}({ENTRY_PARAMETERS})")
    good, done = text.label("good"), text.label("done")
    first = text.block
    text.branch(text.impure(f"icmp eq i32 {status}, 0"), good, done)
    text.start_block(good)
    waiting = [(copied, _load(text, "ptr", "%workspace", RESULT_OFFSET_BYTES))]
    while waiting:
        spec, word = waiting.pop()
        if isinstance(spec, int):
            data = _load(text, "ptr", word, DATA_OFFSET_BYTES)
            text.effect(f"store ptr {data}, ptr {at(text, moves, _MOVE_BYTES * spec + 8)}, align 8")
        else:
            for position, field in enumerate(spec.fields):
                waiting.append((field, _load(text, "ptr", word, FIELDS_OFFSET_BYTES + 8 * position)))
    moved = text.impure(f"call i32 @relay_heap_move(ptr %workspace, ptr {moves}, i64 {len(entry.outputs)})")
    text.effect("call i64 @relay_heap_drop_result(ptr %workspace)")
    last = text.block
    text.jump(done)
    text.start_block(done)
    text.effect(f"%given = phi i32 [ {status}, %{first} ], [ {moved}, %{last} ]")
    text.effect("call void @relay_heap_close(ptr %workspace)")
    text.effect("ret i32 %given")
    return text


def _load(text: FunctionText, kind: str, address: str, offset_bytes: int) -> str:
    slot = text.impure(f"getelementptr i8, ptr {address}, i64 {offset_bytes}")
    return text.impure(f"load {kind}, ptr {slot}")

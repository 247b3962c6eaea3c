"""The entries of a program as the text of one LLVM module. Kernels are external symbols."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import assert_never

from relay.base.diagnostics import CompilerBug
from relay.base.target import Target
from relay.lower.place import ArenaPlace, CheckExtents, ConstantPlace, DataPlace, InputPlace, OutputPlace, Place, Scalar
from relay.lower.program import Instruction, Program, ProgramFunction
from relay.runtime.manifest import entry_symbol
from relay.targets.cpu.emit.context import Emitter, Machine
from relay.targets.cpu.emit.heap_entry import emit_heap_entry
from relay.targets.cpu.emit.index import emit_comparison, emit_index
from relay.targets.cpu.emit.kernel import emit_kernel_function
from relay.targets.cpu.emit.procedure import emit_procedure, procedure_symbol, scalar_kernel_symbol
from relay.targets.cpu.emit.region import emit_region_instruction
from relay.targets.cpu.emit.text import FunctionText, ModuleText
from relay.targets.cpu.emit.value import emit_value
from relay.targets.cpu.support.library import heap_text


def emit_program(program: Program, target: Target) -> str:
    """LLVM text of every function of a program:

        define i32 @relay_entry_name(ptr buffers, ptr symbols, ptr workspace, ptr constants)

    `buffers` holds the addresses of inputs, then outputs; `symbols` the extents as int64. Gives 0, the number of the
    failed check, or -1 when a kernel had no memory.
    """
    module = ModuleText("program")
    for function in program.functions:
        module.functions.append(_entry(function, target, module))
    if program.entries:
        _emit_procedures(program, target, module)
    return module.render()


def _emit_procedures(program: Program, target: Target, module: ModuleText) -> None:
    """Entries with a heap, the procedures they run, and the heap itself."""
    machine = Machine.of(target, contract=False)
    entries = (*program.entries, *program.applying)
    deep = any(entry.deep for entry in entries)
    module.functions.append(heap_text(target, deep))
    for entry in entries:
        emit_heap_entry(entry, machine, module, program.labels, deep)
    for kernel in program.scalar_kernels:
        emit_kernel_function(replace(kernel, name=scalar_kernel_symbol(kernel.name)), target, module, in_place=True)
    for procedure in program.procedures:
        module.functions.append(emit_procedure(procedure, machine, module, deep, program.arena_offset_bytes))
    for entry in program.applying:
        host = f"host${len(entry.inputs) - 1}"
        module.functions.append(f"@relay_{host} = constant ptr @{procedure_symbol(host)}\n")


def _entry(function: ProgramFunction, target: Target, module: ModuleText) -> str:
    text = FunctionText(module)
    e = Emitter(text, Machine.of(target, contract=False), function.name, emit_value)
    for position, symbol in enumerate(function.symbols):
        address = text.op_at(0, f"getelementptr i64, ptr %symbols, i64 {position}")
        e.symbols[symbol] = (text.op_at(0, f"load i64, ptr {address}, align 8"), 0)
    module.declare("relay_allocation_failures", "i64 @relay_allocation_failures()")
    before = text.impure("call i64 @relay_allocation_failures()")
    for instruction in function.instructions:
        _instruction(e, instruction, len(function.inputs))
    after = text.impure("call i64 @relay_allocation_failures()")
    failed = text.op(f"icmp ne i64 {before}, {after}")
    text.effect(f"ret i32 {text.op(f'select i1 {failed}, i32 -1, i32 0')}")
    parameters = "ptr %buffers, ptr %symbols, ptr %workspace, ptr %constants"
    return text.render(f"define i32 @{entry_symbol(function.name)}({parameters}) nounwind")


def _instruction(e: Emitter, instruction: Instruction, input_count: int) -> None:
    text = e.function
    if isinstance(instruction, CheckExtents):
        passed, failed = text.label("passed"), text.label("failed")
        text.branch(emit_comparison(e, instruction.condition), passed, failed)
        text.start_block(failed)
        text.effect(f"ret i32 {instruction.failure}")
        text.start_block(passed)
    else:
        address, fail = partial(_address, e, input_count), lambda failure: text.effect(f"ret i32 {failure}")
        emit_region_instruction(e, instruction, address, lambda: "%workspace", fail)


def _address(e: Emitter, input_count: int, place: Place) -> str:
    text = e.function
    match place:
        case InputPlace(index, offset_bytes):
            return _behind(text, _buffer(text, index), offset_bytes)
        case OutputPlace(index, offset_bytes):
            return _behind(text, _buffer(text, input_count + index), offset_bytes)
        case ConstantPlace(offset_bytes):
            return text.op(f"getelementptr i8, ptr %constants, i64 {offset_bytes}")
        case ArenaPlace(offset_bytes):
            return text.op(f"getelementptr i8, ptr %workspace, i64 {emit_index(e, offset_bytes)}")
        case DataPlace() | Scalar():
            raise CompilerBug("emit", f"{place} stands in straight-line code")
        case _:
            assert_never(place)


def _behind(text: FunctionText, address: str, offset_bytes: int) -> str:
    return text.op(f"getelementptr i8, ptr {address}, i64 {offset_bytes}") if offset_bytes else address


def _buffer(text: FunctionText, position: int) -> str:
    address = text.op(f"getelementptr ptr, ptr %buffers, i64 {position}")
    return text.op(f"load ptr, ptr {address}, align 8")

"""The entries of a program as the text of one LLVM module. Kernels are external symbols."""

from __future__ import annotations

from dataclasses import replace

from relay.lower.program.program import Program
from relay.targets.cpu.emit.context import Machine
from relay.targets.cpu.emit.kernels.kernel import emit_kernel_function
from relay.targets.cpu.emit.programs.device import devices_of, emit_device_regions
from relay.targets.cpu.emit.programs.device_tensors import makes_tensors_on_devices
from relay.targets.cpu.emit.programs.entry import emit_flat_entry
from relay.targets.cpu.emit.programs.frame import procedure_symbol
from relay.targets.cpu.emit.programs.heap_entry import emit_heap_entry
from relay.targets.cpu.emit.programs.procedure import emit_procedure, scalar_kernel_symbol
from relay.targets.cpu.emit.text import ModuleText
from relay.targets.cpu.support.library import device_text, heap_text
from relay.targets.cpu.target import CpuTarget


def emit_program(program: Program, target: CpuTarget) -> str:
    """LLVM text of the entries of a program, of what they run, and of the heap, if there is one:

        define i32 @relay_entry_name(ptr buffers, ptr symbols, ptr workspace, ptr constants)

    `buffers` holds the addresses of inputs, then outputs; `symbols` the extents as int64. Gives 0, the number of the
    failed check, or -1 when there was no memory.
    """
    module, machine = ModuleText("program"), Machine.of(target, contract=False)
    entries = (*program.entries, *program.applying)
    deep = any(entry.deep for entry in entries)
    if program.uses_heap:
        module.functions.append(heap_text(target, deep))
    on_devices = bool(program.device_regions) and makes_tensors_on_devices(program)
    if program.device_regions:
        module.functions.append(device_text(on_devices))
        emit_device_regions(program, machine, module)
    for entry in entries:
        if entry.is_flat:
            module.functions.append(emit_flat_entry(entry, machine, module))
        else:
            emit_heap_entry(entry, machine, module, program.labels, deep, on_devices)
    for kernel in program.scalar_kernels:
        emit_kernel_function(replace(kernel, name=scalar_kernel_symbol(kernel.name)), target, module, in_place=True)
    for procedure in program.procedures:
        text = emit_procedure(procedure, machine, module, deep, program.arena_offset_bytes, devices_of(program))
        module.functions.append(text)
    for entry in program.applying:
        host = f"host${len(entry.inputs) - 1}"
        module.functions.append(f"@relay_{host} = constant ptr @{procedure_symbol(host)}\n")
    return module.render()

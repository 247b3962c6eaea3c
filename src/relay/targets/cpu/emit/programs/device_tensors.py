"""Tensors on devices, as LLVM text: objects of the heap whose data `support/device/tensors.c` keeps."""

from __future__ import annotations

from relay.lower.program.place import Buffer, Register
from relay.lower.program.procedure import Procedure
from relay.lower.program.program import Program
from relay.lower.program.registers import written
from relay.runtime.artefact.device_spec import slot_symbol
from relay.runtime.values.heap import DEVICES_OFFSET_BYTES
from relay.targets.cpu.emit.programs.words import at, name
from relay.targets.cpu.emit.text import FunctionText

TENSOR_BYTES = 40
"""What stands in the place of a tensor's data: a `device_tensor`."""


def tensors_on_devices(procedure: Procedure) -> frozenset[Register]:
    """The registers that hold one."""
    given = [*procedure.parameters, *(each for block in procedure.blocks for each in block.parameters)]
    made = (held for each in procedure.instructions() for held in written(each))
    return frozenset(each.register for each in (*given, *made) if isinstance(each, Buffer))


def has_tensors_on_devices(program: Program) -> bool:
    return any(map(tensors_on_devices, program.procedures))


def emit_tensor(text: FunctionText, data: str, slot: int, size: str) -> str:
    """Give a tensor memory of the device in a slot; gives a status."""
    tensors = at(text, "%heap", DEVICES_OFFSET_BYTES)
    given = f"ptr {data}, ptr {tensors}, ptr @{slot_symbol(slot)}, i64 {size}"
    return text.impure(f"call i32 @relay_device_tensor({given})")


def emit_drop(text: FunctionText, tensor: Register) -> None:
    """Before a tensor is released."""
    text.effect(f"call void @relay_device_drop(i64 {name(tensor)})")


def emit_no_tensors(text: FunctionText) -> None:
    """When a heap is opened."""
    text.effect(f"store ptr null, ptr {at(text, '%workspace', DEVICES_OFFSET_BYTES)}")


def emit_sweep(text: FunctionText) -> None:
    """When a call has failed."""
    text.effect(f"call void @relay_device_sweep(ptr {at(text, '%workspace', DEVICES_OFFSET_BYTES)})")

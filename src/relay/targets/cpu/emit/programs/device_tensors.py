"""Tensors on devices, as LLVM text: objects of the heap whose data `support/device/tensors.c` keeps."""

from __future__ import annotations

from relay.lower.program.procedure import NewTensor
from relay.lower.program.program import Program
from relay.runtime.artefact.device_spec import slot_symbol
from relay.runtime.values.heap import DEVICES_OFFSET_BYTES
from relay.targets.cpu.emit.programs.words import at
from relay.targets.cpu.emit.text import FunctionText

TENSOR_BYTES = 48
"""What stands in the place of a tensor's data: a `device_tensor`,"""
BUFFER_OFFSET_BYTES = 8
"""and where its memory is in that."""


def makes_tensors_on_devices(program: Program) -> bool:
    made = (each for procedure in program.procedures for each in procedure.instructions())
    return any(isinstance(each, NewTensor) and each.device is not None for each in made)


def emit_tensor(text: FunctionText, data: str, slot: int, size: str) -> str:
    """Give a tensor memory of the device in a slot; gives a status."""
    tensors = at(text, "%heap", DEVICES_OFFSET_BYTES)
    given = f"ptr {data}, ptr {tensors}, ptr @{slot_symbol(slot)}, i64 {size}"
    return text.impure(f"call i32 @relay_device_tensor({given})")


def emit_no_tensors(text: FunctionText) -> None:
    """When a heap is opened."""
    text.effect(f"store ptr null, ptr {at(text, '%workspace', DEVICES_OFFSET_BYTES)}")


def emit_sweep(text: FunctionText) -> None:
    """When a call has ended: its result holds no tensor on a device."""
    text.effect(f"call void @relay_device_sweep(ptr {at(text, '%workspace', DEVICES_OFFSET_BYTES)})")

"""Regions as LLVM text: calls of kernels, which are external symbols, on addresses each of which is found once."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from relay.lower.program.place import AddressPlace, ArenaPlace, ConstantPlace, DataPlace, Place, Scalar
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction, RunRegion
from relay.targets.cpu.emit.context import Emitter
from relay.targets.cpu.emit.index import emit_index
from relay.targets.cpu.emit.index_check import emit_index_check
from relay.targets.cpu.emit.programs.device import device_region_symbol
from relay.targets.cpu.emit.programs.frame import Frame
from relay.targets.cpu.emit.programs.words import at, data_address, load_scalar, scalar_slot
from relay.targets.cpu.emit.stop import emit_stop_check


def emit_region(e: Emitter, region: RunRegion, frame: Frame) -> None:
    """Scalars are handed to kernels in memory, and taken from there."""
    text = e.function
    written = {scalar: text.alloca(8, alignment=16) for scalar in region.scalars}
    addresses: dict[Place, str] = {**written}
    arena = frame.arena(region) if region.arena else ""

    def address(place: Place) -> str:
        if place not in addresses:
            addresses[place] = _address(e, place, frame, arena)
        return addresses[place]

    for each in region.instructions:
        _instruction(e, each, address, frame)
        if isinstance(each, CallKernel):  # it may have been told to end too, and then has not made its results
            emit_stop_check(text, frame.fail)
    for scalar, slot in written.items():
        load_scalar(text, scalar, slot)


def _address(e: Emitter, place: Place, frame: Frame, arena: str) -> str:
    text = e.function
    match place:
        case DataPlace(tensor, offset_bytes):
            data = data_address(text, tensor)
            return at(text, data, offset_bytes) if offset_bytes else data
        case AddressPlace(array, offset_bytes):
            address = frame.array(array)
            return at(text, address, offset_bytes) if offset_bytes else address
        case ArenaPlace(offset_bytes):
            return text.impure(f"getelementptr i8, ptr {arena}, i64 {emit_index(e, offset_bytes)}")
        case ConstantPlace(offset_bytes):
            return at(text, frame.constants(), offset_bytes)
        case Scalar():
            return scalar_slot(text, place)
        case _:
            assert_never(place)


def _instruction(e: Emitter, instruction: RegionInstruction, address: Callable[[Place], str], frame: Frame) -> None:
    text = e.function
    match instruction:
        case CallKernel(on_device=True):
            _run_on_device(e, instruction, address, frame)
        case CallKernel(kernel, extents=extents):
            if instruction.updates is not None:
                _copy_unless_there(e, instruction, instruction.inputs[instruction.updates], address)
            operands = [f"ptr {address(place)}" for place in instruction.arguments]
            operands += [f"i64 {emit_index(e, extent)}" for extent in extents]
            kinds = ", ".join(["ptr"] * len(instruction.arguments) + ["i64"] * len(extents))
            text.module.declare(kernel, f"void @{kernel}({kinds})")
            text.effect(f"call void @{kernel}({', '.join(operands)})")
        case CopyBytes(source, destination, size_bytes):
            _copy(e, address(source), address(destination), emit_index(e, size_bytes))
        case CheckIndex(place, failure):
            emit_index_check(text, address(place), frame.refused_index(), lambda: frame.fail(failure))
        case _:
            assert_never(instruction)


def _run_on_device(e: Emitter, call: CallKernel, address: Callable[[Place], str], frame: Frame) -> None:
    """The region may fail, and then the call ends."""
    text = e.function
    operands = [f"ptr {address(place)}" for place in call.arguments]
    operands += [f"i64 {emit_index(e, extent)}" for extent in call.extents]
    operands.append(f"ptr {frame.constants()}")
    status = text.impure(f"call i32 @{device_region_symbol(call.kernel)}({', '.join(operands)})")
    failed, fine = text.label("failed"), text.label("fine")
    text.branch(text.impure(f"icmp ne i32 {status}, 0"), failed, fine)
    text.start_block(failed)
    frame.fail(status)
    text.start_block(fine)


def _copy_unless_there(e: Emitter, call: CallKernel, updated: Place, address: Callable[[Place], str]) -> None:
    """Copy what a kernel changes a part of to where it writes, if that is somewhere else."""
    text, (output,) = e.function, call.outputs
    if output == updated:
        return
    source, target, size = address(updated), address(output), emit_index(e, call.updated_bytes)
    elsewhere, there = text.label("elsewhere"), text.label("there")
    text.branch(text.impure(f"icmp eq ptr {source}, {target}"), there, elsewhere)
    text.start_block(elsewhere)
    _copy(e, source, target, size)
    text.jump(there)
    text.start_block(there)


def _copy(e: Emitter, source: str, target: str, size: str) -> None:
    e.function.module.declare("memcpy", "ptr @memcpy(ptr, ptr, i64)")
    e.function.effect(f"call ptr @memcpy(ptr {target}, ptr {source}, i64 {size})")

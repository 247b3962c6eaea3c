"""Whether a region for a device keeps the rules of its form.

copies      come first from arrays of the host's to the device, and last from there to such arrays or on the device
kernels     run between them, and read and write the arena and tensors on the device, and read constants
others      of the devices of this kind: a tensor of one of them is copied, by a region that copies nothing else
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.place import Address, AddressPlace, ArenaPlace, Buffer, ConstantPlace, DataPlace, Place
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction
from relay.lower.program.registers import read_and_written


class _Phase(IntEnum):
    BRINGING = 0
    RUNNING = 1
    TAKING = 2


def broken_device_region(region: DeviceRegion) -> Iterator[tuple[RegionInstruction, str]]:
    """What breaks a rule, and the rule."""
    if region.source is not None:
        yield from _broken_copy(region)
        return
    phase = _Phase.BRINGING
    for instruction in region.region.instructions:
        match instruction:
            case CopyBytes(AddressPlace(), ArenaPlace() | DataPlace()):
                now = _Phase.BRINGING
            case CopyBytes(ArenaPlace() | DataPlace() | ConstantPlace(), AddressPlace() | DataPlace()):
                now = _Phase.TAKING
            case CallKernel():
                now = _Phase.RUNNING
                yield from ((instruction, rule) for rule in _broken_call(instruction))
            case CopyBytes():
                yield instruction, "a copy is from an array of the host to the device, or from there"
                continue
            case CheckIndex():
                yield instruction, "a device tells of no failures"
                continue
        if now < phase:
            yield instruction, f"it stands behind {'a kernel' if phase is _Phase.RUNNING else 'a copy of a result'}"
        phase = max(phase, now)
        for place in (place for part in read_and_written(instruction) for place in part):
            if not _is_there(place, region):
                yield instruction, f"{place} is no parameter of the region"


def _broken_copy(region: DeviceRegion) -> Iterator[tuple[RegionInstruction, str]]:
    """What a region does that copies from another device, beside that."""
    devices = {each.register: each.device for each in region.buffers}
    is_one_kind = region.source is not None and region.source.kind == region.device.kind
    for instruction in region.region.instructions:
        match instruction:
            case CopyBytes(DataPlace(source), DataPlace(target)):
                copied = devices.get(source), devices.get(target)
                is_copy = is_one_kind and copied == (region.source, region.device)
            case _:
                is_copy = False
        if not is_copy:
            yield instruction, "a region that is given tensors of another device of its kind copies them from there"


def _is_there(place: Place, region: DeviceRegion) -> bool:
    """Whether a place that is of a parameter is of one of this kind."""
    match place:
        case AddressPlace(array):
            return Address(array) in region.parameters
        case DataPlace(tensor):
            return Buffer(tensor, region.device) in region.parameters
        case _:
            return True


def _broken_call(call: CallKernel) -> Iterator[str]:
    if call.on_device:
        yield "a device calls no regions"
    for place in call.inputs:
        if not isinstance(place, ArenaPlace | ConstantPlace | DataPlace):
            yield f"a kernel of a device cannot read {place}"
    for place in call.outputs:
        if not isinstance(place, ArenaPlace | DataPlace):
            yield f"a kernel of a device cannot write {place}"

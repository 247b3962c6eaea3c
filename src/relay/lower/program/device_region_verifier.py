"""Whether a region for a device keeps the rules of its form.

copies      come first from arrays of the host's to the arena, and last from the arena to such arrays
kernels     run between them, and read and write the arena, and read constants
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.place import AddressPlace, ArenaPlace, ConstantPlace
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RegionInstruction


class _Phase(IntEnum):
    BRINGING = 0
    RUNNING = 1
    TAKING = 2


def broken_device_region(region: DeviceRegion) -> Iterator[tuple[RegionInstruction, str]]:
    """What breaks a rule, and the rule."""
    phase = _Phase.BRINGING
    for instruction in region.region.instructions:
        match instruction:
            case CopyBytes(AddressPlace() as host, ArenaPlace()):
                now, arrays = _Phase.BRINGING, (host,)
            case CopyBytes(ArenaPlace(), AddressPlace() as host):
                now, arrays = _Phase.TAKING, (host,)
            case CallKernel():
                now, arrays = _Phase.RUNNING, ()
                yield from ((instruction, rule) for rule in _broken_call(instruction))
            case CopyBytes():
                yield instruction, "copies are between an array of the host's and the arena"
                continue
            case CheckIndex():
                yield instruction, "a device tells of no failures"
                continue
        if now < phase:
            yield instruction, f"it stands behind {'a kernel' if phase is _Phase.RUNNING else 'a copy of a result'}"
        phase = max(phase, now)
        for each in arrays:
            if each.array not in region.parameters:
                yield instruction, f"{each} is no parameter of the region"


def _broken_call(call: CallKernel) -> Iterator[str]:
    if call.on_device:
        yield "a device calls no regions"
    for place in call.inputs:
        if not isinstance(place, ArenaPlace | ConstantPlace):
            yield f"a kernel of a device cannot read {place}"
    for place in call.outputs:
        if not isinstance(place, ArenaPlace):
            yield f"a kernel of a device cannot write {place}"

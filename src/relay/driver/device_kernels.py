"""Kernels of regions that run on a device: made by the device's kernel target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from relay.driver.kernels import Kernel, Scheduling
from relay.ir.expr import Function
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.launch import KernelModule
from relay.runtime.artefact.device_spec import DeviceSpec
from relay.tir.stmt import PrimFunc


class DeviceTarget(Scheduling, Protocol):
    """What makes kernels for a device."""

    @property
    def device(self) -> str: ...

    def supports(self, function: Function) -> bool: ...

    def lower(self, function: PrimFunc) -> PrimFunc: ...

    def emit(self, function: PrimFunc) -> KernelModule: ...


def with_modules(
    region: DeviceRegion, target: DeviceTarget, kernel: Callable[[str], Kernel], made: dict[str, KernelModule]
) -> DeviceRegion:
    """The region with the code of its kernels; `made` is what was made before, and is added to."""
    for call in region.region.calls:
        if call.kernel not in made:
            made[call.kernel] = target.emit(target.lower(kernel(call.kernel).loops(target)))
    return region.with_modules({call.kernel: made[call.kernel] for call in region.region.calls})


def device_specs(regions: tuple[DeviceRegion, ...]) -> tuple[DeviceSpec, ...]:
    """What a program needs of each of its devices, in the order in which they are met."""
    formats: dict[tuple[str, int], dict[str, None]] = {}
    for each in regions:
        modules: Mapping[str, KernelModule] = each.modules or {}
        known = formats.setdefault((each.device.kind, each.device.index), {})
        known.update((module.format, None) for module in modules.values())
    return tuple(DeviceSpec(kind, index, tuple(names)) for (kind, index), names in formats.items())

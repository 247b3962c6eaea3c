"""Kernels of regions that run on a device: made by the kernel target of the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from relay.base.diagnostics import RelayError
from relay.base.stopwatch import Stopwatch
from relay.driver.kernels import Kernel
from relay.lower.planning.scratch import Scratch
from relay.lower.planning.scratch_places import region_with_scratch
from relay.lower.program.device_region import DeviceRegion
from relay.lower.program.launch import KernelModule
from relay.lower.targets import KernelSource, KernelTarget
from relay.runtime.artefact.device_spec import DeviceSpec


def with_modules(
    regions: Sequence[DeviceRegion],
    target: KernelTarget,
    kernel: Callable[[str], Kernel],
    source: Callable[[Kernel], KernelSource],
    progress: Callable[[str, int, int], None],
    watch: Stopwatch,
) -> tuple[DeviceRegion, ...]:
    """The regions with the code of their kernels, each of which is made once, and has room for what it works in."""
    names = dict.fromkeys(call.kernel for each in regions for call in each.region.calls)
    kernels = [kernel(name) for name in names]
    made = target.emit(
        [source(each) for each in kernels], partial(progress, f"kernels for {target.device_kind}"), watch
    )
    launched = sum(bool(module.launches) for module in made)
    if not len(kernels) == len(made) == launched:
        raise RelayError(
            rule="target-modules",
            message=f"the target of `{target.device_kind}` made no code of some kernels",
            expected=f"{len(kernels)} modules with launches: of " + ", ".join(each.info.name for each in kernels),
            found=f"{len(made)} modules, {launched} of them with launches",
            remedy=f"this is a fault of what brings `{target.device_kind}`, not of the program",
        )
    modules = {
        each.info.name: replace(module, symbols=each.info.symbols) for each, module in zip(kernels, made, strict=True)
    }

    def scratch_of(kernel: str) -> Scratch:
        return Scratch(modules[kernel].symbols, modules[kernel].scratch_bytes)

    return tuple(
        replace(
            each,
            region=region_with_scratch(each.region, scratch_of),
            modules={call.kernel: modules[call.kernel] for call in each.region.calls},
        )
        for each in regions
    )


def device_specs(regions: Sequence[DeviceRegion]) -> tuple[DeviceSpec, ...]:
    """What a program needs of each of its devices, in the order in which they are met."""
    formats: dict[tuple[str, int], dict[str, None]] = {}
    for each in regions:
        modules: Mapping[str, KernelModule] = each.modules or {}
        known = formats.setdefault((each.device.kind, each.device.index), {})
        known.update((module.format, None) for module in modules.values())
    return tuple(DeviceSpec(kind, index, tuple(names)) for (kind, index), names in formats.items())

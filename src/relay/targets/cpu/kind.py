"""Processors as a kind of target: `llvm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relay.base.frozen import frozen
from relay.base.target import PROTOCOL_VERSION, Target
from relay.targets.cpu.host import resolve
from relay.targets.cpu.target import CpuTarget

if TYPE_CHECKING:
    from relay.targets.cpu.host_target import CpuHostTarget
    from relay.targets.cpu.kernel_target import CpuKernelTarget


@frozen
class CpuKind:
    """Processors that LLVM makes code for. They launch programs themselves."""

    name: str = "llvm"
    protocol_version: int = PROTOCOL_VERSION

    def parse(self, flags: Sequence[str]) -> CpuTarget:
        return CpuTarget.of(flags)

    def resolve(self, target: Target) -> CpuTarget:
        assert isinstance(target, CpuTarget)
        return resolve(target)

    def kernel_target(self, target: Target) -> CpuKernelTarget:
        from relay.targets.cpu.kernel_target import CpuKernelTarget  # the compiler: who reads a target needs none

        return CpuKernelTarget.of(self.resolve(target))

    def host_target(self, target: Target) -> CpuHostTarget:
        from relay.targets.cpu.host_target import CpuHostTarget  # as above

        return CpuHostTarget.of(self.resolve(target))


KIND = CpuKind()

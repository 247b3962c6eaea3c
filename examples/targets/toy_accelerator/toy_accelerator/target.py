"""What the target is called. It has no flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.target import PROTOCOL_VERSION, Target
from toy_accelerator.kernels import ToyAcceleratorKernels


@frozen
class ToyAccelerator(Target):
    kind: ClassVar[str] = "toy_accelerator"

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True)
class ToyAcceleratorKind:
    name: str = "toy_accelerator"
    protocol_version: int = PROTOCOL_VERSION

    def parse(self, flags: Sequence[str]) -> ToyAccelerator:
        if flags:
            raise RelayError(
                rule="toy-accelerator-flag",
                message="the toy accelerator has no flags",
                expected="toy_accelerator",
                found=flags[0],
            )
        return ToyAccelerator()

    def resolve(self, target: Target) -> Target:
        return target

    def kernel_target(self, target: Target) -> ToyAcceleratorKernels:
        return ToyAcceleratorKernels(target)

    def host_target(self, target: Target) -> None:
        """The CPU gives it its instructions."""


KIND = ToyAcceleratorKind()

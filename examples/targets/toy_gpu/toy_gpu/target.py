"""What the target is called, its flags, and its machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.target import PROTOCOL_VERSION, Target
from toy_gpu.kernels import ToyGpuKernels


@frozen
class ToyGpu(Target):
    """`toy_gpu -threads=64`: how many threads a block has at most."""

    kind: ClassVar[str] = "toy_gpu"
    threads: int = 64

    def __str__(self) -> str:
        return f"toy_gpu -threads={self.threads}"


@dataclass(frozen=True)
class ToyGpuKind:
    name: str = "toy_gpu"
    protocol_version: int = PROTOCOL_VERSION

    def parse(self, flags: Sequence[str]) -> ToyGpu:
        target = ToyGpu()
        for flag in flags:
            name, _, value = flag.partition("=")
            if name != "-threads" or value not in ("16", "64", "256"):
                raise RelayError(
                    rule="toy-gpu-flag",
                    message="the toy GPU does not know this flag",
                    expected="-threads=16, 64 or 256",
                    found=flag,
                )
            target = ToyGpu(int(value))
        return target

    def resolve(self, target: Target) -> Target:
        return target

    def kernel_target(self, target: Target) -> ToyGpuKernels:
        assert isinstance(target, ToyGpu)
        return ToyGpuKernels(target, target.threads)

    def host_target(self, target: Target) -> None:
        """The CPU launches its kernels."""


KIND = ToyGpuKind()

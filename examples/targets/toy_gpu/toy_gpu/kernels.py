"""What the compiler asks of the toy GPU."""

from __future__ import annotations

from typing import ClassVar

from relay.base.frozen import frozen
from relay.base.target import Target
from relay.lower.kernels.group import Group
from relay.lower.kernels.launching import launched
from relay.lower.program.launch import KernelModule
from relay.lower.targets import LoopTarget
from relay.te.schedule.step import Step
from relay.tir.buffer import Scope
from relay.tir.hierarchy import Hierarchy, ThreadAxis
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc
from toy_gpu.schedules import schedule

MACHINE = Hierarchy(
    levels=("device", "block", "subgroup", "thread"),
    scopes=(Scope("shared", level="block", capacity_bytes=16 * 1024, word_bytes=4),),
    threads=(
        ThreadAxis("threadIdx.x", "thread"),
        ThreadAxis("threadIdx.y", "thread"),
        ThreadAxis("subgroup", "subgroup"),
        ThreadAxis("blockIdx.x", "block"),
        ThreadAxis("blockIdx.y", "block"),
    ),
    barriers=("block", "subgroup"),
    lanes=("threadIdx.x",),
)
FORMAT = "toy-gpu-1"
"""Functions of relay's loop language, one after another, with a line of dashes between."""
SEPARATOR = "\n----\n"


@frozen
class ToyGpuKernels(LoopTarget):
    """Kernels for blocks of at most `threads` threads."""

    target: Target
    threads: int

    device_kind: ClassVar[str] = "toy_gpu"
    hierarchy: ClassVar[Hierarchy] = MACHINE

    def schedule(self, group: Group) -> tuple[Step, ...]:
        return schedule(group, MACHINE, self.threads)

    def module(self, function: PrimFunc) -> KernelModule:
        return launched(function, FORMAT, _module)


def _module(functions: tuple[PrimFunc, ...]) -> bytes:
    return SEPARATOR.join(map(print_primfunc, functions)).encode()

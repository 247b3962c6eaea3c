"""What the compiler asks of the toy GPU."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.stopwatch import Stopwatch
from relay.base.target import Target
from relay.ir.expr import Function
from relay.lower.kernels.group import Group, make_group
from relay.lower.kernels.launching import launched
from relay.lower.program.launch import KernelModule
from relay.lower.targets import Answer, KernelSource, Refused, Report, Supported
from relay.te.lower import lower as lower_to_loops
from relay.te.schedule.step import Step
from relay.tir.buffer import Scope
from relay.tir.hierarchy import Hierarchy, ThreadAxis
from relay.tir.passes.simplify import simplify
from relay.tir.printer import print_primfunc
from relay.tir.stmt import PrimFunc
from relay.tir.thread_nests import thread_nests
from relay.tir.verifier import verify
from relay.transform.framework.context import LayoutPreferences
from toy_gpu.schedules import schedule

MACHINE = Hierarchy(
    levels=("device", "block", "subgroup", "thread"),
    scopes=(Scope("shared", level="block", capacity_bytes=16 * 1024, word_bytes=4),),
    threads=(
        ThreadAxis("threadIdx.x", "thread"),
        ThreadAxis("threadIdx.y", "thread"),
        ThreadAxis("blockIdx.x", "block"),
        ThreadAxis("blockIdx.y", "block"),
    ),
    barriers=("block",),
)
FORMAT = "toy-gpu-1"
"""Functions of relay's loop language, one after another, with a line of dashes between."""
SEPARATOR = "\n----\n"


@frozen
class ToyGpuKernels:
    """Kernels for blocks of at most `threads` threads."""

    target: Target
    threads: int

    device_kind = "toy_gpu"
    layouts = LayoutPreferences()
    rates = None
    rules = ()
    hierarchy = MACHINE
    intrinsics = ()

    def supports(self, group: Function) -> Answer:
        """It says so by trying: what cannot be scheduled, or is not proved to be sound, is refused."""
        try:
            tensors = make_group(group)
            steps = self.schedule(tensors)
            loops = lower_to_loops(tensors.outputs, tensors.inputs, steps, "tried", hierarchy=MACHINE)
            thread_nests(self.lower(loops))
        except RelayError as error:
            return Refused(error.message)
        wrong = verify(loops)
        return Refused(f"{wrong[0].rule}: {wrong[0].message}") if wrong else Supported()

    def schedule(self, group: Group) -> tuple[Step, ...]:
        return schedule(group, MACHINE, self.threads)

    def lower(self, function: PrimFunc) -> PrimFunc:
        return simplify(function)

    def text(self, function: PrimFunc) -> str:
        return print_primfunc(function)

    def assembly(self, function: PrimFunc) -> str:
        return self.text(function)

    def emit(
        self,
        kernels: Sequence[KernelSource],
        report: Report,
        watch: Stopwatch | None = None,  # noqa: ARG002
    ) -> list[KernelModule]:
        made: list[KernelModule] = []
        for kernel in kernels:
            report(len(made), len(kernels))
            made.append(launched(kernel.loops(), FORMAT, _module))
        report(len(made), len(kernels))
        return made


def _module(functions: tuple[PrimFunc, ...]) -> bytes:
    return SEPARATOR.join(map(print_primfunc, functions)).encode()

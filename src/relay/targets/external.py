"""Another compiler as a kernel target: it takes the regions that were partitioned for it, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.plugin import plugin
from relay.base.stopwatch import Stopwatch, part_of
from relay.base.target import Target
from relay.ir.expr import Function
from relay.lower.kernels.external import COMPILER, external_function
from relay.lower.kernels.group import Group
from relay.lower.program.launch import KernelModule
from relay.lower.targets import Answer, HostTarget, KernelSource, Refused, Report, Supported
from relay.te.schedule.choice import Choice
from relay.te.schedule.step import Step
from relay.te.tensorize import AnyIntrinsic
from relay.tir.hierarchy import Hierarchy
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc
from relay.transform.framework.context import LayoutPreferences
from relay.transform.framework.external import ExternalCompiler
from relay.transform.framework.passes import Pass


@frozen
class ExternalTarget:
    """The compiler that regions know by `name`. Its objects are linked with those of the host, which calls them."""

    name: str
    compiler: ExternalCompiler
    host: HostTarget

    @property
    def target(self) -> Target:
        return self.host.target

    @property
    def device_kind(self) -> str:
        return self.host.kernels.device_kind

    @property
    def layouts(self) -> LayoutPreferences:
        return LayoutPreferences()

    @property
    def rates(self) -> None:
        return None

    @property
    def rules(self) -> tuple[Pass, ...]:
        return ()

    @property
    def hierarchy(self) -> Hierarchy:
        return self.host.kernels.hierarchy

    @property
    def intrinsics(self) -> tuple[AnyIntrinsic, ...]:
        return ()

    def supports(self, group: Function) -> Answer:
        if group.attrs.get(COMPILER) == self.name:
            return Supported()
        return Refused(f"it was not partitioned for the compiler `{self.name}`")

    def schedule(self, group: Group) -> tuple[Step, ...]:  # noqa: ARG002
        return ()

    def choice(self, group: Group, given: Choice | None = None) -> Choice:  # noqa: ARG002
        return Choice(self.name, (), "its compiler schedules it")

    def steps(self, group: Group, choice: Choice) -> tuple[Step, ...]:  # noqa: ARG002
        return ()

    def lower(self, function: PrimFunc) -> PrimFunc:
        return function

    def text(self, function: PrimFunc) -> str:
        return print_primfunc(function)

    def assembly(self, function: PrimFunc) -> str:
        return self.text(function)

    def emit(
        self, kernels: Sequence[KernelSource], report: Report, watch: Stopwatch | None = None
    ) -> list[KernelModule]:
        """The objects that the compiler makes of all its regions.

        Raises `RelayError`: `plugin-failed`, `external-compiler` when it gives anything but objects.
        """
        report(0, len(kernels))
        symbols = ", ".join(kernel.name for kernel in kernels)
        asked = plugin(self.compiler, f"the compiler `{self.name}`", lambda _: symbols)
        with part_of(watch, f"compiler {self.name}"):
            made: Any = asked.compile(
                tuple(external_function(each.function) for each in kernels if each.function is not None), self.target
            )
        objects = list(made) if isinstance(made, (list, tuple)) else [made]
        if not objects or not all(isinstance(each, bytes) and each for each in objects):
            raise RelayError(
                rule="external-compiler",
                message=f"the compiler `{self.name}` gave no object code for {symbols}",
                expected="a list of relocatable objects, each of type bytes",
                found=", ".join(type(each).__name__ for each in objects) or "an empty list",
            )
        report(len(kernels), len(kernels))
        return [KernelModule(self.host.object_format, image) for image in objects]

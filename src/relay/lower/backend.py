"""What a target offers to the rest of the compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from relay.base.stopwatch import Stopwatch
from relay.base.target import Target
from relay.lower.kernels.group import Group
from relay.lower.program.program import Program
from relay.runtime.artefact.artefact import Artefact
from relay.te.schedule.step import Step
from relay.te.tensorize import AnyIntrinsic
from relay.tir.stmt import PrimFunc
from relay.transform.framework.context import LayoutPreferences, Rates


class Backend(Protocol):
    """One target: how it wants data laid out, how it schedules a group, and how it makes native code."""

    @property
    def target(self) -> Target: ...

    @property
    def device_kind(self) -> str:
        """The kind of device that its code runs on, as `on_device` names it."""
        ...

    @property
    def layouts(self) -> LayoutPreferences: ...

    @property
    def rates(self) -> Rates:
        """What the machine does in a nanosecond, for passes that choose by a cost."""
        ...

    @property
    def intrinsics(self) -> tuple[AnyIntrinsic, ...]:
        """What `Tensorize` steps of its schedules name."""
        ...

    def schedule(self, group: Group) -> tuple[Step, ...]:
        """The steps that make a group's loops fast on this target."""
        ...

    def kernel_text(self, function: PrimFunc) -> str:
        """The target's source of one kernel."""
        ...

    def program_text(self, program: Program) -> str:
        """The target's source of a program's entries; kernels are external."""
        ...

    def build_kernels(
        self,
        keys: Sequence[str],
        source: Callable[[int], str],
        report: Callable[[int, int], None],
        watch: Stopwatch | None = None,
    ) -> list[bytes]:
        """An object for each key. `source(i)` is asked for the text of kernel i only when no object of that key is
        kept; `report(done, total)` is told of progress, `watch` how long each step took."""
        ...

    def compile_program(self, program: Program) -> bytes:
        """The object of a program's entries and procedures."""
        ...

    def support_object(self) -> bytes:
        """The object of the library that kernels call: allocator and thread pool."""
        ...

    def assembly(self, text: str) -> str:
        """The assembly of one source, for people."""
        ...

    def link(self, artefact: Artefact, path: Path) -> None:
        """Write a self-contained shared library."""
        ...

"""What the compiler asks of targets: one makes the code of kernels, another the program that launches them.

A *kernel target* is asked of each group of operators whether it takes it, how it is scheduled, and for its code. What
it refuses runs on the host. A *host target* makes the program, and has a kernel target of its own for what the program
runs by itself. Most targets of devices derive theirs from `LoopTarget`: `docs/writing_a_target.md` makes one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias, TypeVar

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.names.loading import when_called
from relay.base.stopwatch import Stopwatch
from relay.base.target import Target
from relay.ir.expr import Function
from relay.lower.kernels.group import Group, make_group
from relay.lower.program.launch import KernelModule
from relay.lower.program.program import Program
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.machine import RequiredMachine
from relay.te.lowering.lower import lower as lower_to_loops
from relay.te.schedule.choice import Choice
from relay.te.schedule.step import Step
from relay.te.tensorize import AnyIntrinsic
from relay.tir.hierarchy import PLAIN, Hierarchy
from relay.tir.passes.simplify import simplify
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc
from relay.transform.framework.context import LayoutPreferences, Rates
from relay.transform.framework.external import Answer as Answer
from relay.transform.framework.external import Refused as Refused
from relay.transform.framework.external import Supported as Supported
from relay.transform.framework.passes import Pass
from relay.transform.pipelines import RULES

_verify = when_called("relay.tir.verification.verifier", "verify")

Code = TypeVar("Code")


class Emitted(Protocol):
    """Gives what `emit` makes of a kernel's loops, as `KernelTarget.lower` leaves them. What is refused on the way is
    told as the fault of the kernel's schedule. It takes its time."""

    def __call__(self, emit: Callable[[PrimFunc], Code], /) -> Code: ...


@frozen(eq=False)
class KernelSource:
    """A kernel that code is made of. `key` tells it from others, whatever the target and the compiler: where code of
    that key is kept, `emitted` need not be called. `function` is None where it is loops written by hand."""

    name: str
    key: str
    function: Function | None
    emitted: Emitted


Report: TypeAlias = Callable[[int, int], None]
"""Told how many kernels are done, and of how many."""


class KernelTarget(Protocol):
    """What makes the code of kernels."""

    @property
    def target(self) -> Target:
        """What code is made for, with nothing left open."""
        ...

    @property
    def device_kind(self) -> str:
        """The kind of device that its code runs on, as `on_device` names it."""
        ...

    @property
    def layouts(self) -> LayoutPreferences:
        """The layouts in which its kernels work best."""
        ...

    @property
    def rates(self) -> Rates | None:
        """What the machine does in a nanosecond, for passes that choose by a cost; None: nobody knows."""
        ...

    @property
    def rules(self) -> tuple[Pass, ...]:
        """Passes that rewrite operators as others that the target does better, in the order in which they run.
        `AlterOpLayout` is one of them where `layouts` are to be: those before it choose operators in any layout, those
        behind it find each in the one that it got."""
        ...

    @property
    def hierarchy(self) -> Hierarchy:
        """The threads and memories that schedules name."""
        ...

    @property
    def intrinsics(self) -> tuple[AnyIntrinsic, ...]:
        """What `Tensorize` steps of its schedules name."""
        ...

    def supports(self, group: Function) -> Answer:
        """Whether it makes code of a primitive function."""
        ...

    def schedule(self, group: Group) -> tuple[Step, ...]:
        """The steps that make a group's loops fast on this target."""
        ...

    def choice(self, group: Group, given: Choice | None = None) -> Choice:
        """What is decided about a group's schedule before a step is made: `schedule` gives the steps of it. Where
        something is `given`, that, with the target's decisions for what it leaves open.

        Raises `RelayError` (`schedule-choice`) for what is not possible."""
        ...

    def steps(self, group: Group, choice: Choice) -> tuple[Step, ...]:
        """The steps that a choice means; what it leaves open is decided by the target.

        Raises `RelayError` (`schedule-choice`) for what is not possible."""
        ...

    def lower(self, function: PrimFunc) -> PrimFunc:
        """Scheduled loops as `text` takes them: the target's pipeline of passes over loops."""
        ...

    def text(self, function: PrimFunc) -> str:
        """The target's source of a kernel, lowered."""
        ...

    def assembly(self, function: PrimFunc) -> str:
        """What the machine will run of a kernel, lowered, for people; its source where there is nothing else."""
        ...

    def emit(
        self, kernels: Sequence[KernelSource], report: Report, watch: Stopwatch | None = None
    ) -> Sequence[KernelModule]:
        """The module of each kernel, in their order; those that the host links may be any number. `report` is told of
        progress, `watch` how long each step took."""
        ...


class LoopTarget(ABC):
    """A kernel target whose kernels are loops that a schedule, a pipeline of passes and a writer of modules make: what
    such targets do alike. A subclass says `target`, `device_kind`, `schedule` and `module`, and what it does otherwise.
    """

    __slots__ = ()
    layouts: ClassVar[LayoutPreferences] = LayoutPreferences()
    rates: ClassVar[None] = None
    rules: ClassVar[tuple[Pass, ...]] = RULES
    hierarchy: ClassVar[Hierarchy] = PLAIN
    intrinsics: ClassVar[tuple[AnyIntrinsic, ...]] = ()

    @abstractmethod
    def schedule(self, group: Group) -> tuple[Step, ...]:
        """The steps for a group. Raises `RelayError`, whose message says why there are none (`Refused`)."""

    def choice(self, group: Group, given: Choice | None = None) -> Choice:  # noqa: ARG002
        own = Choice("schedule", (), "decided while its steps are made")
        if given is not None and (given.family, given.values) != (own.family, own.values):
            raise RelayError(
                rule="schedule-choice",
                message="its target decides while it makes steps, and takes no choices",
                expected="steps",
                found=f"a choice of the family {given.family}",
                remedy="write the steps",
            )
        return own

    def steps(self, group: Group, choice: Choice) -> tuple[Step, ...]:
        self.choice(group, choice)
        return self.schedule(group)

    @abstractmethod
    def module(self, function: PrimFunc) -> KernelModule:
        """The module of a kernel, lowered. Raises `RelayError` as `schedule` does."""

    def supports(self, group: Function) -> Answer:
        """It says so by trying: what cannot be scheduled or written, or is not proved to be sound, is refused."""
        try:
            tensors = make_group(group)
            loops = lower_to_loops(
                tensors.outputs, tensors.inputs, self.schedule(tensors), tensors.name, self.intrinsics, self.hierarchy
            )
            self.module(self.lower(loops))
        except RelayError as error:
            return Refused(error.message)
        wrong = _verify(loops)
        return Refused(f"{wrong[0].rule}: {wrong[0].message}") if wrong else Supported()

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
            made.append(kernel.emitted(self.module))
        report(len(made), len(kernels))
        return made


class HostTarget(Protocol):
    """What makes the program that launches kernels."""

    @property
    def target(self) -> Target:
        """What code is made for, with nothing left open."""
        ...

    @property
    def kernels(self) -> KernelTarget:
        """What makes the kernels that the program calls by itself."""
        ...

    @property
    def object_format(self) -> str:
        """The format of the modules that it links with its programs."""
        ...

    @property
    def machine(self) -> RequiredMachine:
        """What a machine must have for the program to run on it."""
        ...

    @property
    def checks_heap(self) -> bool:
        """Whether heaps of its programs find who uses what was freed."""
        ...

    def program_text(self, program: Program) -> str:
        """The target's source of a program's entries and procedures; kernels are external."""
        ...

    def compile_program(self, program: Program) -> bytes:
        """The object of a program's entries and procedures."""
        ...

    def support_object(self) -> bytes:
        """The object of the library that programs and kernels call: memory, threads."""
        ...

    def link(self, artefact: Artefact, path: Path, name: str) -> None:
        """Write a self-contained library, of the kind that the suffix of `path` says, whose symbols begin with `name`.
        Raises `RelayError`."""
        ...

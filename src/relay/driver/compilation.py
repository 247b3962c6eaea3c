"""The way of a program, stage by stage: each is a value that can be shown, and the last is an artefact."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.names.loading import when_called
from relay.base.plugin import Plugin, name_of_plugin
from relay.base.stopwatch import Stopwatch, TimedPart
from relay.base.version import VERSION
from relay.driver.device_kernels import device_specs, with_modules
from relay.driver.donation import warn_of_unused
from relay.driver.kernels import Kernel, KernelTable
from relay.driver.parameters import bind_params
from relay.driver.progress import Progress, silent, users_errors
from relay.driver.region_specs import region_specs
from relay.driver.targets import Targets
from relay.driver.unmatched_records import warn_of_unmatched
from relay.infer.infer_type import infer_type
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.lower.devices import on_devices, on_one_device, wanted_devices
from relay.lower.kernels.external import is_external, with_external_kernels
from relay.lower.module import entry_checks, lower_module
from relay.lower.planning.scratch import Scratch
from relay.lower.planning.scratch_places import with_scratch
from relay.lower.program.launch import KernelModule
from relay.lower.program.program import (
    Entry,
    Parameter,
    Program,
    ValueParameter,
    called_kernels,
    scalar_kernels,
)
from relay.lower.targets import KernelSource, KernelTarget, Supported
from relay.lower.work import kernel_uses, kernel_work
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.manifest import EntrySpec, HeapResult, InputSpec, Manifest, TensorSpec, ValueSpec
from relay.runtime.artefact.value_types import is_plain_data
from relay.runtime.artefact.work import KernelWork
from relay.runtime.cpython.workspaces import aligned_bytes
from relay.targets.external import ExternalTarget
from relay.tir.stmt import PrimFunc
from relay.transform.framework.context import LayoutPreferences, PassContext
from relay.transform.framework.external import checked_answer
from relay.transform.framework.instruments.timing import TimedPass, Timing
from relay.transform.framework.passes import Pass, brought
from relay.transform.pipelines import optimization_pipeline
from relay.transform.regions.regions_of_targets import regions_put_in_place

Result = TypeVar("Result")

_offload = when_called("relay.transform.devices.offload", "offload")
_keep_on_devices = when_called("relay.transform.devices.residency", "keep_on_devices")


@dataclass(eq=False)
class Compilation:
    """A program on its way to native code. Stages are computed when first asked for, and kept.

    `surroundings` is the user's `PassContext`, to which the level and the layouts of the target are added.
    `constants_room` is where constants are to be packed (`program.constant_bytes` bytes); None for new memory. `donate`
    are the inputs of `@main` whose memory its results take.
    """

    source: IRModule
    targets: Targets
    opt_level: int = 2
    params: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress = silent
    watch: Stopwatch = field(default_factory=Stopwatch)
    surroundings: PassContext = field(default_factory=PassContext.current)
    constants_room: NDArray[np.uint8] | None = None
    donate: Sequence[str] = ()
    _scratch: dict[str, Scratch] = field(default_factory=dict, init=False)
    values_apart: ClassVar[bool] = False
    """Whether each value has memory that is part of no other's."""

    @property
    def seconds(self) -> dict[str, float]:
        """The seconds of each stage so far; `watch` has their parts."""
        return {name: part.seconds for name, part in self.watch.root.parts.items()}

    @cached_property
    def context(self) -> PassContext:
        """What the optimizer runs under. Layouts that the user chose are kept, and records for this machine."""
        chosen = self.surroundings.layouts
        target = self.targets.kernels
        tile = chosen.winograd_tile or target.layouts.winograd_tile
        layouts = target.layouts if chosen == LayoutPreferences() else replace(chosen, winograd_tile=tile)
        schedules = self.surroundings.schedules.on(target.target)
        rates = self.surroundings.rates or target.rates
        return replace(self.surroundings, opt_level=self.opt_level, layouts=layouts, rates=rates, schedules=schedules)

    @cached_property
    def kernel_targets(self) -> tuple[KernelTarget, ...]:
        """What is asked for each group of operators: the targets, then the user's other compilers."""
        others = self.context.external_compilers.items()
        host = self.targets.host
        return (*self.targets.in_order, *(ExternalTarget(name, compiler, host) for name, compiler in others))

    @cached_property
    def typed(self) -> IRModule:
        """The program as given, parameters bound, with types."""
        with self._stage("infer types"):
            return infer_type(bind_params(self.source, self.params))

    @cached_property
    def optimized(self) -> IRModule:
        """Fused, and in A-normal form. Regions of other compilers stand where they are called, as kernels do.

        Raises `RelayError`: `no-such-compiler`, `external-region`, `no-back-end`, `device-conflict`."""
        module = self.typed
        timing = Timing()
        context = replace(self.context, instruments=(*self.context.instruments, timing))
        with self._stage("optimize") as stage, context:
            kind, host = self.targets.kernels.device_kind, self.targets.host.kernels.device_kind
            has_device, default = self.targets.has_device, f"{kind}:0"
            module = regions_put_in_place(module, self.targets.devices)
            module = on_devices(module, default, host) if has_device else on_one_device(module, kind)
            optimized = optimization_pipeline(module, self._rules)
            _add_passes(stage, timing.passes)
            called = with_external_kernels(optimized, self.context.external_compilers)
            if not has_device:
                return called
            planned, wanted = wanted_devices(called, default, host)
            return _keep_on_devices(_offload(planned, lambda group: wanted(group) if self._takes(group) else None))

    @property
    def _rules(self) -> tuple[Pass, ...]:
        """The passes of the target, which fail as those of who brings it."""
        kernels = self.targets.kernels
        called = name_of_plugin(kernels)
        return brought(kernels.rules, called) if called else kernels.rules

    def _takes(self, group: Function) -> bool:
        """Whether the device's target takes a group."""
        kind = self.targets.kernels.device_kind
        answer = checked_answer(self.targets.kernels.supports(group), f"the target `{kind}`")
        return isinstance(answer, Supported)

    @cached_property
    def _lowered(self) -> tuple[Program, KernelTable]:
        table = KernelTable(self.kernel_targets, self.targets.host.kernels, self.context.schedules)
        module = self.optimized
        with self._stage("lower"):
            functions = {name: each for name, each in self.typed.functions.items() if name in module}
            checks = {name: entry_checks(each, self.typed) for name, each in functions.items()}
            program = lower_module(module, checks, table.kernel_of, self.values_apart, self.donate)
            warn_of_unused(self.donate, program.entries)
            in_place = [table.by_name(name).lowered() for name in scalar_kernels(program)]
            warn_of_unmatched(self.surroundings.schedules, self.targets.kernels.target, table.kernels)
            return replace(program, scalar_kernels=tuple(in_place)), table

    @property
    def constant_bytes(self) -> int:
        """The room that constants take."""
        return self._lowered[0].constant_bytes

    @cached_property
    def program(self) -> Program:
        """What the machine will do. What kernels work in is told by their modules where these are made; else by their
        loops."""
        return with_scratch(self._lowered[0], self.scratch_of)

    def scratch_of(self, kernel: str) -> Scratch:
        """What a kernel works in, by its name."""
        if kernel not in self._scratch:
            self._scratch[kernel] = self._kernels_by_name[kernel].scratch()
        return self._scratch[kernel]

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self._lowered[1].kernels

    @property
    def called_kernels(self) -> tuple[Kernel, ...]:
        """The kernels that need code of their own: all but those that are computed in place."""
        called = called_kernels(self._lowered[0])
        return tuple(kernel for kernel in self.kernels if kernel.info.name in called)

    def kernel(self, name: str) -> Kernel:
        """The kernel whose name begins with `name`. Raises `RelayError` (rule `unknown-kernel`)."""
        for kernel in self.kernels:
            if kernel.info.name.startswith(name):
                return kernel
        raise RelayError(
            rule="unknown-kernel",
            message="there is no such kernel",
            expected="one of " + ", ".join(kernel.info.name for kernel in self.kernels),
            found=name,
        )

    @cached_property
    def artefact(self) -> Artefact:
        """Objects, constants and manifest. Constants are packed, and the support library is compiled, by threads: most
        of the time neither holds up Python, which makes the text of kernels meanwhile."""
        lowered = self._lowered[0]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            support = threads.submit(self.targets.host.support_object)
            room = self.constants_room
            constants = aligned_bytes(lowered.constant_bytes) if room is None else room
            packed = _start_packing(lowered, constants, threads)
            objects = self.kernel_objects
            program = self._with_device_code
            with self._stage("generate code"):
                with self.watch.part("entries and procedures"):
                    entry = self.targets.host.compile_program(program)
                with self.watch.part("wait for the support library"):
                    library = support.result()
            with self._stage("describe"):
                manifest = self.manifest
            with self._stage("wait for constants"):
                for each in packed:
                    each.result()
        return Artefact(manifest, library, (*objects, entry), constants)

    @cached_property
    def _with_device_code(self) -> Program:
        """The program, with the modules that its devices load."""
        program, table = self.program, self._lowered[1]
        if not program.device_regions:
            return program
        with self._stage("generate code"):
            made = with_modules(
                program.device_regions,
                self.targets.kernels,
                table.by_name,
                self._kernel_source,
                self.progress,
                self.watch,
            )
        return replace(program, device_regions=made)

    @cached_property
    def kernel_objects(self) -> tuple[bytes, ...]:
        """The native code of each kernel that is called."""
        objects: list[bytes] = []
        with self._stage("generate code"):
            for target in self.kernel_targets:
                kernels = [self._kernel_source(each) for each in self.called_kernels if each.target == target]
                if kernels:
                    modules = target.emit(kernels, partial(self.progress, "kernels"), self.watch)
                    objects += [module.data for module in modules]
                    self._note_scratch(kernels, modules)
        return tuple(objects)

    def _note_scratch(self, kernels: Sequence[KernelSource], modules: Sequence[KernelModule]) -> None:
        """What kernels work in, by their modules; those of other compilers, however many these are, know of none."""
        if not any(each.function is not None and is_external(each.function) for each in kernels):
            told = (Scratch(each.symbols, each.scratch_bytes) for each in modules)
            self._scratch.update(zip((each.name for each in kernels), told, strict=True))

    def _kernel_source(self, kernel: Kernel) -> KernelSource:
        def emitted(emit: Callable[[PrimFunc], Result], /) -> Result:
            """Schedules that are ours: what is refused here is not the user's fault. A plug-in is taken at its word."""
            try:
                return kernel.emitted(emit, self.watch)
            except RelayError as error:
                if kernel.recorded is not None or isinstance(kernel.target, Plugin):
                    raise
                raise CompilerBug("generate code", f"{kernel.info.name}: {error}") from error

        return KernelSource(kernel.info.name, kernel.key, kernel.function, emitted)

    @property
    def manifest(self) -> Manifest:
        program = self.program
        flat_first = sorted(program.entries, key=lambda entry: not entry.is_flat)
        arities = tuple(len(entry.inputs) - 1 for entry in program.applying)
        return Manifest(
            tuple(_entry_spec(entry, program) for entry in flat_first),
            self.provenance,
            self.targets.host.machine,
            program.labels,
            program.data,
            arities,
            self._kernel_works,
            self.targets.host.checks_heap,
            device_specs(self._with_device_code.device_regions),
        )

    @property
    def _kernel_works(self) -> tuple[KernelWork, ...]:
        uses = kernel_uses(self.program)
        kernels = [self._kernels_by_name[name] for name in uses]
        return tuple(
            kernel_work(each.info.name, each.function, each.info.symbols, uses[each.info.name]) for each in kernels
        )

    @cached_property
    def _kernels_by_name(self) -> dict[str, Kernel]:
        return {kernel.info.name: kernel for kernel in self.kernels}

    @property
    def provenance(self) -> dict[str, str]:
        """What makes the artefact, for people."""
        return {"compiler": f"relay {VERSION}", "target": str(self.targets), "opt": str(self.opt_level)}

    @contextmanager
    def _stage(self, name: str) -> Generator[TimedPart]:
        """Times a stage; what breaks in it, other than by the user's fault, is a `CompilerBug` that names it."""
        with users_errors():
            try:
                with self.watch.part(name) as part:
                    yield part
            except (RelayError, CompilerBug, MemoryError):
                raise
            except Exception as error:
                raise CompilerBug(name, f"{type(error).__name__}: {error}") from error


def _add_passes(stage: TimedPart, passes: Sequence[TimedPass]) -> None:
    """The passes that ran, as parts of a stage; those of a sequence are parts of it."""
    waiting = [(stage, each) for each in passes]
    while waiting:
        around, timed = waiting.pop(0)
        part = around.part(timed.name)
        part.seconds += timed.seconds
        part.count += 1
        waiting += [(part, each) for each in timed.parts]


def _start_packing(program: Program, room: NDArray[np.uint8], threads: Executor) -> list[Future[None]]:
    """Have threads copy each constant to its place in `room`."""
    constants = sorted(program.constants, key=lambda each: each.offset_bytes)
    ends = [*(each.offset_bytes for each in constants), program.constant_bytes][1:]
    return [
        threads.submit(_pack, each.array, room[each.offset_bytes : end])
        for each, end in zip(constants, ends, strict=True)
    ]


def _pack(array: NDArray[np.generic], room: NDArray[np.uint8]) -> None:
    """Copy an array, in the order of its axes, and set what is left to zero: equal programs are equal bytes."""
    np.copyto(room[: array.nbytes].view(array.dtype).reshape(array.shape), array)
    room[array.nbytes :] = 0


def _entry_spec(entry: Entry, program: Program) -> EntrySpec:
    given = entry.result
    has_functions = given is not None and not is_plain_data(given, {each.name: each for each in program.data})
    spec = EntrySpec(
        name=entry.name,
        inputs=tuple(map(_input_spec, entry.inputs)),
        outputs=tuple(map(_tensor_spec, entry.outputs)),
        result=HeapResult(given, entry.copied, has_functions),
        symbols=entry.symbols,
        workspace_bytes=program.arena_offset_bytes + program.arena_bytes,
        failures=program.failures,
        regions=region_specs(entry, program),
        donations=entry.donations,
    )
    if not entry.is_flat or entry.copied is None:
        return spec
    (region,) = spec.regions
    return replace(spec, result=entry.copied, workspace_bytes=region.arena_bytes)


def _input_spec(parameter: Parameter | ValueParameter) -> InputSpec:
    if isinstance(parameter, ValueParameter):
        return ValueSpec(parameter.name, parameter.type)
    return _tensor_spec(parameter)


def _tensor_spec(parameter: Parameter) -> TensorSpec:
    return TensorSpec(parameter.name, parameter.type.shape, parameter.type.dtype)

"""The CPU as a host target: programs that call kernels, run procedures and keep a heap, by LLVM."""

from __future__ import annotations

from pathlib import Path

from relay.base.frozen import frozen
from relay.lower.program.program import Program
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.machine import RequiredMachine
from relay.targets.cpu.codegen import emit_object, kept_object
from relay.targets.cpu.emit.programs.program import emit_program
from relay.targets.cpu.emit.programs.shared_entry import (
    CONSTANTS_SYMBOL,
    MANIFEST_SYMBOL,
    emit_library_table,
    emit_shared_entry,
    exported_names,
)
from relay.targets.cpu.kernel_target import CpuKernelTarget
from relay.targets.cpu.link.library import link_library
from relay.targets.cpu.support import serial_support_object, support_object
from relay.targets.cpu.target import CpuTarget


@frozen
class CpuHostTarget:
    """Programs for one resolved target; `kernels` are what they call."""

    kernels: CpuKernelTarget

    @staticmethod
    def of(target: CpuTarget) -> CpuHostTarget:
        """For a resolved target. Raises `RelayError` for one that LLVM does not serve."""
        return CpuHostTarget(CpuKernelTarget.of(target))

    @property
    def target(self) -> CpuTarget:
        return self.kernels.target

    @property
    def object_format(self) -> str:
        return self.target.object_format

    @property
    def machine(self) -> RequiredMachine:
        return self.target.machine

    @property
    def checks_heap(self) -> bool:
        return self.target.heap == "checked"

    def program_text(self, program: Program) -> str:
        return emit_program(program, self.target)

    def compile_program(self, program: Program) -> bytes:
        opt = 0 if program.is_straight else 2  # calls only: nothing to optimize, and there may be thousands
        return kept_object(self.program_text(program), self.target, opt)

    def support_object(self) -> bytes:
        return support_object(self.target)

    def link(self, artefact: Artefact, path: Path, name: str) -> None:
        target, manifest = self.target, artefact.manifest
        support = serial_support_object(target) if target.num_threads == 1 else artefact.support
        objects = [support, *artefact.objects, emit_object(emit_shared_entry(manifest, target), target)]
        data = {CONSTANTS_SYMBOL: artefact.constants.tobytes() or b"\0"}
        if path.suffix == ".so":
            objects.append(emit_object(emit_library_table(manifest), target))
            data[MANIFEST_SYMBOL] = manifest.to_json().encode()
        link_library(objects, path, name, target, exported_names(name), data)

"""The CPU backend: what the compiler asks of a target, answered for LLVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.stopwatch import Stopwatch, part_of
from relay.base.target import Target
from relay.base.version import compiler_fingerprint
from relay.lower.kernels.group import Group
from relay.lower.program.program import Program
from relay.runtime.artefact.artefact import Artefact
from relay.targets.cpu.cache import KernelCache, cache_key
from relay.targets.cpu.codegen import emit_assembly, emit_object, kept_object
from relay.targets.cpu.emit.kernel import emit_kernel
from relay.targets.cpu.emit.program import emit_program
from relay.targets.cpu.emit.shared_entry import emit_shared_entry
from relay.targets.cpu.host import resolve
from relay.targets.cpu.intrinsics.product_by_tiles import PRODUCT_BY_TILES
from relay.targets.cpu.link import link_shared
from relay.targets.cpu.probe import check_machine
from relay.targets.cpu.rates import rates_of
from relay.targets.cpu.schedules.choose import schedule_group
from relay.targets.cpu.schedules.conv_planar import planar_channels
from relay.targets.cpu.schedules.reduction import LARGEST_PLANAR_WINDOW
from relay.targets.cpu.schedules.tiles import CONVOLUTION, FEW_ROWS_TO_WIDEN, PRODUCT, tile_widths, word_preferences
from relay.targets.cpu.support import serial_support_object, support_object
from relay.targets.cpu.winograd_model import WinogradModel
from relay.targets.cpu.workers import KernelCompiler
from relay.te.schedule.step import Step
from relay.te.tensorize import AnyIntrinsic
from relay.tir.stmt import PrimFunc
from relay.transform.framework.context import LayoutPreferences, Rates


@frozen
class CpuBackend:
    """LLVM for one resolved target."""

    target: Target

    @staticmethod
    def for_target(target: Target) -> CpuBackend:
        """The backend for a target, with what it leaves open filled in from this machine."""
        resolved = resolve(target)
        check_machine(resolved)
        return CpuBackend(resolved)

    @property
    def device_kind(self) -> str:
        return "cpu"

    @property
    def layouts(self) -> LayoutPreferences:
        """Channels last, weights in panels as wide as the register tiles of the schedules, in words where an
        instruction adds up products of such numbers. Convolutions by minimal filtering as a model of the caches has
        it."""
        words = word_preferences(self.target)
        return LayoutPreferences(
            "NHWC",
            tile_widths(self.target, CONVOLUTION),
            tile_widths(self.target, PRODUCT),
            words,
            None if words is not None and DType.BFLOAT16 in words.dtypes else FEW_ROWS_TO_WIDEN,
            LARGEST_PLANAR_WINDOW,
            planar_channels(self.target),
            WinogradModel(self.target),
        )

    @property
    def rates(self) -> Rates:
        return rates_of(self.target)

    @property
    def intrinsics(self) -> tuple[AnyIntrinsic, ...]:
        return (PRODUCT_BY_TILES,)

    def schedule(self, group: Group) -> tuple[Step, ...]:
        return schedule_group(group, self.target)

    def kernel_text(self, function: PrimFunc) -> str:
        return emit_kernel(function, self.target)

    def program_text(self, program: Program) -> str:
        return emit_program(program, self.target)

    def build_kernels(
        self,
        keys: Sequence[str],
        source: Callable[[int], str],
        report: Callable[[int, int], None],
        watch: Stopwatch | None = None,
    ) -> list[bytes]:
        cache = KernelCache.from_environment()
        with part_of(watch, "look up in the cache") as looked_up:
            machine = replace(self.target, heap="reused")  # kernels know no heap
            names = [cache_key(f"{compiler_fingerprint()}\n{machine}\n{key}", machine) for key in keys]
            found = [None if cache is None else cache.get(name) for name in names]
            missing = [position for position, image in enumerate(found) if image is None]
            looked_up.note = f"{len(keys) - len(missing)} of {len(keys)} kernels found"
        with KernelCompiler(self.target) as compiler:
            for done, position in enumerate(missing):
                report(len(keys) - len(missing) + done, len(keys))
                compiler.submit(source(position), keys[position])
            with part_of(watch, "wait for LLVM"):
                made = compiler.results() if missing else []
        if watch is not None and missing:
            watch.beside(f"LLVM, {compiler.worker_count} workers", compiler.busy_seconds, len(missing))
        for position, image in zip(missing, made, strict=True):
            found[position] = image
            if cache is not None:
                cache.put(names[position], image)
        if cache is not None and missing:
            cache.trim()
        report(len(keys), len(keys))
        return [image for image in found if image is not None]

    def compile_program(self, program: Program) -> bytes:
        opt = 2 if program.procedures else 1  # straight-line entries are calls only: nothing to optimize
        return kept_object(self.program_text(program), self.target, opt)

    def support_object(self) -> bytes:
        return support_object(self.target)

    def assembly(self, text: str) -> str:
        return emit_assembly(text, self.target)

    def link(self, artefact: Artefact, path: Path) -> None:
        glue = emit_object(emit_shared_entry(artefact.manifest, self.target), self.target)
        data = {
            "relay_constants": artefact.constants.tobytes() or b"\0",
            "relay_manifest": artefact.manifest.to_json().encode(),
        }
        support = serial_support_object(self.target) if self.target.num_threads == 1 else artefact.support
        link_shared((support, *artefact.objects, glue), path, self.target, data)

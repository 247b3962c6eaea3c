"""The CPU as a kernel target: what the compiler asks of one, answered for LLVM."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.stopwatch import Stopwatch, part_of
from relay.base.version import compiler_fingerprint
from relay.ir.expr import Function
from relay.lower.kernels.external import COMPILER, is_external
from relay.lower.kernels.group import Group
from relay.lower.planning.scratch import Scratch, kernel_scratch
from relay.lower.program.launch import KernelModule
from relay.lower.targets import Answer, KernelSource, Refused, Report, Supported
from relay.runtime.artefact.extent_json import extent_from_json, extent_to_json
from relay.targets.cpu.cache import KernelCache, cache_key
from relay.targets.cpu.codegen import emit_assembly
from relay.targets.cpu.core import core_of
from relay.targets.cpu.emit.kernels.kernel import emit_kernel
from relay.targets.cpu.emit.text import LlvmModule
from relay.targets.cpu.intrinsics.product_by_tiles import PRODUCT_BY_TILES
from relay.targets.cpu.rates import rates_of
from relay.targets.cpu.schedules.choose import choose, schedule_group, steps_of
from relay.targets.cpu.schedules.convolution.conv_nchw import ChannelsFirst
from relay.targets.cpu.schedules.register_tiles import packed_dot_products
from relay.targets.cpu.served_machines import check_machine
from relay.targets.cpu.target import CpuTarget
from relay.targets.cpu.winograd_model import WinogradModel
from relay.targets.cpu.workers import KernelCompiler
from relay.te.schedule.choice import Choice
from relay.te.schedule.step import Step
from relay.te.tensorize import AnyIntrinsic
from relay.tir.hierarchy import PLAIN, Hierarchy
from relay.tir.pipeline import lower
from relay.tir.stmt import PrimFunc
from relay.transform.algorithms.accumulate_in_float32 import AccumulateInFloat32
from relay.transform.algorithms.conv2d_to_winograd import Conv2DToWinograd
from relay.transform.algorithms.decompose_conv_transpose import DecomposeConvTranspose
from relay.transform.algorithms.pack_dot_products import PackDotProducts
from relay.transform.framework.context import LayoutPreferences, Rates
from relay.transform.framework.passes import Pass
from relay.transform.layout.alter_op_layout import AlterOpLayout


@frozen
class CpuKernelTarget:
    """LLVM for one resolved target."""

    target: CpuTarget

    @staticmethod
    def of(target: CpuTarget) -> CpuKernelTarget:
        """For a resolved target. Raises `RelayError` for one that LLVM does not serve."""
        check_machine(target)
        return CpuKernelTarget(target)

    @property
    def device_kind(self) -> str:
        return "cpu"

    @property
    def layouts(self) -> LayoutPreferences:
        """Channels last, weights in panels as wide as the register tiles of the schedules."""
        core = core_of(self.target)
        return LayoutPreferences(
            "NHWC",
            core.widths(core.convolution_vectors),
            core.widths(core.product_vectors),
            ChannelsFirst(self.target),
            WinogradModel(self.target),
        )

    @property
    def rates(self) -> Rates:
        return rates_of(self.target)

    @property
    def rules(self) -> tuple[Pass, ...]:
        packed = packed_dot_products(self.target)
        multiplies_bfloat16 = packed is not None and DType.BFLOAT16 in packed.dtypes
        return (
            AccumulateInFloat32(None if multiplies_bfloat16 else core_of(self.target).rows_worth_widening),
            *(() if packed is None else (PackDotProducts(packed),)),
            DecomposeConvTranspose,
            AlterOpLayout,
            Conv2DToWinograd,
        )

    @property
    def hierarchy(self) -> Hierarchy:
        return PLAIN

    @property
    def intrinsics(self) -> tuple[AnyIntrinsic, ...]:
        return (PRODUCT_BY_TILES,)

    def supports(self, group: Function) -> Answer:
        if is_external(group):
            return Refused(f"it was partitioned for the compiler `{group.attrs[COMPILER]}`")
        return Supported()

    def schedule(self, group: Group) -> tuple[Step, ...]:
        return schedule_group(group, self.target)

    def choice(self, group: Group, given: Choice | None = None) -> Choice:
        return choose(group, self.target, given)

    def steps(self, group: Group, choice: Choice) -> tuple[Step, ...]:
        return steps_of(group, self.target, choice)

    def lower(self, function: PrimFunc) -> PrimFunc:
        return lower(function)

    def text(self, function: PrimFunc) -> str:
        return self._module(function).text

    def assembly(self, function: PrimFunc) -> str:
        module = self._module(function)
        return emit_assembly(module.text, self.target, module.optimization_level)

    def _module(self, function: PrimFunc) -> LlvmModule:
        return emit_kernel(function, self.target)

    def _with_scratch(self, function: PrimFunc) -> tuple[LlvmModule, Scratch]:
        return self._module(function), kernel_scratch(function)

    def emit(
        self, kernels: Sequence[KernelSource], report: Report, watch: Stopwatch | None = None
    ) -> list[KernelModule]:
        """Objects from the cache, and of the others by LLVM, which runs in workers while texts are made here."""
        keys = [kernel.key for kernel in kernels]
        cache = KernelCache.from_environment()
        with part_of(watch, "look up in the cache") as looked_up:
            machine = replace(self.target, heap="reused")  # kernels know no heap
            names = [cache_key(f"{compiler_fingerprint()}\n{machine}\n{key}", machine) for key in keys]
            kept = [None if cache is None else cache.get(name) for name in names]
            found = [None if each is None else self._read(each) for each in kept]
            missing = [position for position, module in enumerate(found) if module is None]
            looked_up.note = f"{len(keys) - len(missing)} of {len(keys)} kernels found"
        scratch: list[Scratch] = []
        with KernelCompiler(self.target) as compiler:
            for done, position in enumerate(missing):
                report(len(keys) - len(missing) + done, len(keys))
                module, works_in = kernels[position].emitted(self._with_scratch)
                compiler.submit(module, keys[position])
                scratch.append(works_in)
            with part_of(watch, "wait for LLVM"):
                images = compiler.results() if missing else []
        if watch is not None and missing:
            watch.beside(f"LLVM, {compiler.worker_count} workers", compiler.busy_seconds, len(missing))
        for position, image, works_in in zip(missing, images, scratch, strict=True):
            made = _packed(image, works_in)
            found[position] = self._read(made)
            if cache is not None:
                cache.put(names[position], made)
        if cache is not None and missing:
            cache.trim()
        report(len(keys), len(keys))
        return [module for module in found if module is not None]

    def _read(self, kept: bytes) -> KernelModule:
        """The module of what `_packed` made."""
        head, _, image = kept.partition(b"\n")
        count, *scratch = json.loads(head)
        symbols = {each.name: each for each in _positions(count)}
        sizes = tuple(extent_from_json(each, symbols) for each in scratch)
        return KernelModule(self.target.object_format, image, (), tuple(symbols.values()), sizes)


def _packed(image: bytes, scratch: Scratch) -> bytes:
    """A kernel's object behind a line that says how many extents it takes, and what it works in."""
    sizes = scratch.of_call(_positions(len(scratch.symbols)))
    return json.dumps([len(scratch.symbols), *map(extent_to_json, sizes)]).encode() + b"\n" + image


def _positions(count: int) -> list[Symbol]:
    """The extents of a kernel, whatever its program calls them."""
    return [Symbol(f"s{position}") for position in range(count)]

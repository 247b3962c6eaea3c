"""Machines that the host is not, played by it: kernels for them run here, in which the few instructions that the host
lacks are calls of functions of the same meaning (`played_instructions.ll`). All else is the kernels' own code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

import relay
from relay.base.frozen import frozen
from relay.base.stopwatch import Stopwatch
from relay.base.target import Target
from relay.driver.compilation import Compilation
from relay.driver.targets import Targets
from relay.lower.planning.scratch import kernel_scratch
from relay.lower.targets import KernelModule, KernelSource, Report
from relay.runtime.executable import Executable, instantiate
from relay.targets.cpu.codegen import kept_object
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.host import resolve, supports
from relay.targets.cpu.host_target import CpuHostTarget
from relay.targets.cpu.kernel_target import CpuKernelTarget
from relay.targets.cpu.target import CpuTarget
from relay.tir.stmt import PrimFunc

AVX512 = "+avx,+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512dq,+avx512bw,+avx512vnni"
_INSTRUCTION = re.compile(r"@(llvm\.x86\.(?:avx512bf16|ldtilecfg|tile|tdp)[\w.]*)")
_FUNCTION = re.compile(r"^define [^@]*@([\w.]+)\(.*?^}\n", re.MULTILINE | re.DOTALL)
_DECLARATION = re.compile(r"^declare [^@]*@([\w.]+)\(.*$", re.MULTILINE)
_USED = re.compile(r"@([\w.]+)")


@cache
def _instructions() -> tuple[str, dict[str, str], dict[str, str]]:
    """Types and variables; functions by name; declarations by name."""
    text = (Path(__file__).parent / "played_instructions.ll").read_text()
    functions = {match.group(1): match.group(0) for match in _FUNCTION.finditer(text)}
    declarations = {match.group(1): match.group(0) for match in _DECLARATION.finditer(text)}
    return text[: text.index("\ndefine ")], functions, declarations


def played(text: str) -> str:
    """A module in which instructions are calls of functions of its own. These take bfloat16 by their bits: LLVM passes
    no vectors of them on machines that do not multiply them."""
    names = set(_INSTRUCTION.findall(text))
    if not names:
        return text
    head, functions, declarations = _instructions()
    kept = [line for line in text.splitlines() if not (line.startswith("declare") and _INSTRUCTION.search(line))]
    changed = _INSTRUCTION.sub(lambda match: f"@played.{match.group(1)}", "\n".join(kept)).replace(
        " x bfloat>", " x i16>"
    )
    used, waiting = dict[str, str](), [f"played.{name}" for name in sorted(names)]
    while waiting:
        name = waiting.pop()
        if name not in used and name in functions | declarations:
            used[name] = (functions | declarations)[name]
            waiting += _USED.findall(used[name])
    parts = [part for part in used.values() if part.strip() not in changed]
    return "\n".join([changed, head, *parts])


@frozen
class PlayedKernels(CpuKernelTarget):
    """Kernels for `target`, played by `host`."""

    host: CpuTarget

    def emit(
        self, kernels: Sequence[KernelSource], report: Report, watch: Stopwatch | None = None
    ) -> list[KernelModule]:
        return [kernel.emitted(self._played) for kernel in kernels]

    def _played(self, function: PrimFunc) -> KernelModule:
        module, scratch = emit_kernel(function, self.target), kernel_scratch(function)
        image = kept_object(played(module.text), self.host, module.optimization_level)
        return KernelModule(self.host.object_format, image, (), scratch.symbols, scratch.sizes_bytes)


def build_played(function: relay.Function, features: str, num_threads: int = 1) -> Executable:
    """A program for a machine with more `features` than AVX-512, to run on a host that has that: played where the host
    has no more."""
    text = f"llvm -mtriple={resolve(CpuTarget()).triple} -num-threads={num_threads}"
    host = resolve(Target.parse(f"{text} -mattr={AVX512}"))
    machine = resolve(Target.parse(f"{text} -mattr={AVX512},{features}"))
    if supports(machine):
        return relay.build(function, machine)
    targets = Targets(PlayedKernels(machine, host), CpuHostTarget(CpuKernelTarget(host)))
    return instantiate(Compilation(relay.IRModule.from_expr(function), targets, 2).artefact)


def run_played(
    bodies: list[relay.Expr], features: str, arguments: dict[str, np.ndarray], num_threads: int = 1
) -> list[np.ndarray]:
    """The values of some expressions, compiled as one program."""
    body = relay.Tuple(tuple(bodies))
    parameters = relay.analysis.free_vars(body)
    compiled = build_played(relay.Function(parameters, body), features, num_threads)
    return [np.asarray(value) for value in compiled(*(arguments[each.name_hint] for each in parameters))]

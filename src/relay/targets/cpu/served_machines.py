"""Which machines are served: said when one is named, since LLVM takes any, and a linker refuses late.

Processors and features are LLVM's. It only prints a warning about those that it does not know, and lists those it does
when it is asked for the processor `help`: both are read in another process.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.runtime.artefact.machine import RequiredMachine
from relay.targets.cpu import object_code
from relay.targets.cpu.processors import BASELINE
from relay.targets.cpu.target import CpuTarget

PROCESSORS = ("x86_64", "aarch64", "riscv64")
SYSTEM = "linux"
C_LIBRARIES = ("", "gnu", "musl")
PROBE_TIMEOUT_SECONDS = 60
_UNKNOWN = re.compile(r"'([^']*)' is not a recognized (processor|feature)")
_LISTED = re.compile(r"^ +(\S+) +- ", re.MULTILINE)
_CPUS, _FEATURES = "Available CPUs for this target:", "Available features for this target:"


def check_machine(target: CpuTarget) -> None:
    """Raises `RelayError` (rule `unsupported-target`) for a resolved target that is not served, or whose processor or
    features LLVM does not know. Those of this machine's kind are known; anything else is tried in another process.
    """
    _check_triple(target.triple)
    _check_baseline(target)
    known = llvm.get_host_cpu_features()
    same_machine = target.triple == llvm.get_process_triple()
    if same_machine and not target.cpu and all(feature[1:] in known for feature in target.features):
        return
    code, said = _probe(target.words)
    unknown = [(kind, name.lstrip("+-")) for name, kind in dict.fromkeys(_UNKNOWN.findall(said))]
    if _CPUS in said:
        unknown.append(("processor", "help"))
    processors = [each for each in unknown if each[0] == "processor"]
    if unknown or code:  # the features of a processor of another kind are not what is wrong
        raise _refusal(target, processors or unknown, said)


def _check_triple(triple: str) -> None:
    machine = RequiredMachine.from_triple(triple)
    library = triple.partition(f"-{SYSTEM}")[2].removeprefix("-")
    if machine.processor in PROCESSORS and machine.system == SYSTEM and library in C_LIBRARIES:
        return
    near = "" if machine.processor in PROCESSORS else near_names(machine.processor, PROCESSORS)
    raise RelayError(
        rule="unsupported-target",
        message="no code is made for machines of this kind",
        expected=f"{', '.join(PROCESSORS)} with {SYSTEM} and the C library gnu or musl, "
        f"such as {PROCESSORS[0]}-unknown-{SYSTEM}-gnu",
        found=triple,
        remedy=near,
    )


def _check_baseline(target: CpuTarget) -> None:
    baseline = BASELINE.get(target.machine.processor, ())
    denied = [f"-{feature[1:]}" for feature in baseline if f"-{feature[1:]}" in target.features]
    if denied:
        raise RelayError(
            rule="unsupported-target",
            message=f"{SYSTEM} on {target.machine.processor} asks for more of a processor",
            expected=",".join(baseline),
            found=",".join(denied),
        )


def _refusal(target: CpuTarget, unknown: list[tuple[str, str]], said: str) -> RelayError:
    processor = target.machine.processor
    cpus, features = known_names(target.triple)
    remedies = [near_names(name, cpus if kind == "processor" else features) for kind, name in unknown]
    return RelayError(
        rule="unsupported-target",
        message="LLVM has no code generator for this target",
        expected=f"a CPU and features of {processor} that LLVM knows"
        + (", such as -mcpu=skylake -mattr=+avx2,+fma" if processor == PROCESSORS[0] else ""),
        found=", ".join(f"the {kind} `{name}`" for kind, name in unknown) or said.strip()[-200:],
        remedy=" ".join(filter(None, remedies)),
    )


@cache
def known_names(triple: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The processors and features that LLVM knows of a kind of machine."""
    _, said = _probe((triple, "help", ""))
    cpus, _, features = said.partition(_FEATURES)
    return tuple(dict.fromkeys(_LISTED.findall(cpus))), tuple(dict.fromkeys(_LISTED.findall(features)))


@cache
def _probe(words: tuple[str, str, str]) -> tuple[int, str]:
    """The return code of a process in which LLVM compiles an empty function for a machine, and what it says of that."""
    parts = (*words, "0", "define void @probe() {\n  ret void\n}\n")
    request = b"".join(len(part.encode()).to_bytes(8, "little") + part.encode() for part in parts)
    command = (sys.executable, "-P", str(Path(object_code.__file__)))
    done = subprocess.run(command, input=request, capture_output=True, check=False, timeout=PROBE_TIMEOUT_SECONDS)
    return done.returncode, done.stderr.decode(errors="replace")

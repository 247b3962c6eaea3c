"""Whether LLVM knows a CPU and its features. LLVM itself only prints a warning, and may end the process later."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.targets.cpu import object_code
from relay.targets.cpu.codegen import machine_words

PROBE_TIMEOUT_SECONDS = 60
_UNKNOWN = re.compile(r"'([^']*)' is not a recognized (processor|feature)")


def check_machine(target: Target) -> None:
    """Raises `RelayError` (rule `unsupported-target`) for a resolved target whose CPU or features LLVM does not know.

    The features of this machine's kind are known; anything else is tried in another process.
    """
    words = machine_words(target)
    known = llvm.get_host_cpu_features()
    same_machine = target.triple == llvm.get_process_triple()
    if same_machine and not target.cpu and all(feature[1:] in known for feature in target.features):
        return
    complaint = _complaint(words)
    if complaint:
        raise RelayError(
            rule="unsupported-target",
            message="LLVM has no code generator for this target",
            expected="a CPU and features that LLVM knows, such as -mcpu=skylake -mattr=+avx2,+fma",
            found=complaint,
        )


@cache
def _complaint(words: tuple[str, str, str]) -> str:
    """What LLVM says against this machine when it compiles an empty function for it; nothing when all is well."""
    parts = (*words, "0", "define void @probe() {\n  ret void\n}\n")
    request = b"".join(len(part.encode()).to_bytes(8, "little") + part.encode() for part in parts)
    command = (sys.executable, "-P", str(Path(object_code.__file__)))
    done = subprocess.run(command, input=request, capture_output=True, check=False, timeout=PROBE_TIMEOUT_SECONDS)
    said = done.stderr.decode(errors="replace")
    unknown = dict.fromkeys(f"the {kind} `{name.lstrip('+-')}`" for name, kind in _UNKNOWN.findall(said))
    if unknown:
        return ", ".join(unknown)
    return said.strip().splitlines()[-1] if done.returncode and said.strip() else ""

"""The linker: that of the system where it serves the target, LLVM's, or the one that the `ziglang` package brings."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence

import llvmlite.binding as llvm

from relay.base.diagnostics import RelayError
from relay.targets.cpu.target import CpuTarget

LINK_TIMEOUT_SECONDS = 300


def linker_command(target: CpuTarget) -> tuple[str, ...]:
    """How the linker for a target is called. Raises `RelayError` (rule `no-linker`)."""
    if _machine(target.triple) == _machine(llvm.get_process_triple()) and shutil.which("ld"):
        return ("ld",)
    if shutil.which("ld.lld"):
        return ("ld.lld",)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "ld.lld")
    raise RelayError(
        rule="no-linker",
        message=f"no linker for {target.triple} was found",
        expected="`ld` (for this machine), `ld.lld`, or the package `ziglang`",
        remedy='pip install "relay-ir[export]"',
    )


def run_linker(command: Sequence[str]) -> None:
    """Raises `RelayError` (rule `link-failed`)."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=LINK_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RelayError(rule="link-failed", message="the linker could not be run", found=str(error)) from None
    if done.returncode:
        raise RelayError(
            rule="link-failed",
            message="the linker refused the object files",
            found=done.stderr.strip()[-2000:] or f"exit code {done.returncode}",
        )


def _machine(triple: str) -> tuple[str, bool]:
    """The processor, and whether the system is Linux.

    >>> _machine("x86_64-unknown-linux-gnu")
    ('x86_64', True)
    """
    return triple.partition("-")[0], "linux" in triple

"""Whether code made for some target may run on this machine: an instruction that it lacks would end the process."""

from __future__ import annotations

import llvmlite.binding as llvm

from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.runtime.memory.tiles import check_tiles


def check_runs_here(target: Target) -> None:
    """Raises `RelayError` when this machine is of another kind, or lacks a feature (rule `wrong-machine`), or does not
    permit its use (rule `no-tiles`): the first call for a target with tiles asks for them."""
    here = llvm.get_process_triple()
    wrong_kind = bool(target.triple) and _kind(target.triple) != _kind(here)
    have = llvm.get_host_cpu_features()
    missing = [name[1:] for name in target.features if name.startswith("+") and not have.get(name[1:], False)]
    if wrong_kind or missing:
        raise RelayError(
            rule="wrong-machine",
            message="this program was compiled for another machine",
            expected=_kind(here) if wrong_kind else "features of this machine's CPU",
            found=_kind(target.triple) if wrong_kind else ", ".join(missing),
            remedy="run it there, or compile the model again for this one",
        )
    check_tiles(target)


def runs_here(target: Target) -> bool:
    """Whether `check_runs_here` has nothing against a target.

    >>> runs_here(Target()), runs_here(Target.parse("llvm -mtriple=riscv64-unknown-linux-gnu"))
    (True, False)
    """
    try:
        check_runs_here(target)
    except RelayError:
        return False
    return True


def _kind(triple: str) -> str:
    """Processor and system of a triple, without vendor and C library."""
    parts = triple.split("-")
    return f"{parts[0]}-{parts[2]}" if len(parts) > 2 else triple

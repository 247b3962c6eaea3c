"""Whether code made for some machine may run on this one: an instruction that it lacks would end the process."""

from __future__ import annotations

import llvmlite.binding as llvm

from relay.base.diagnostics import RelayError
from relay.runtime.artefact.machine import RequiredMachine
from relay.runtime.memory.tiles import check_tiles


def check_runs_here(machine: RequiredMachine) -> None:
    """Raises `RelayError` when this machine is of another kind, or lacks a feature (rule `wrong-machine`), or does not
    permit its use (rule `no-tiles`): the first call for a machine with tiles asks for them."""
    here = RequiredMachine.from_triple(llvm.get_process_triple())
    wrong_kind = bool(machine.processor) and machine.kind != here.kind
    have = llvm.get_host_cpu_features()
    missing = [name for name in machine.features if not have.get(name, False)]
    if wrong_kind or missing:
        raise RelayError(
            rule="wrong-machine",
            message="this program was compiled for another machine",
            expected=here.kind if wrong_kind else "features of this machine's CPU",
            found=machine.kind if wrong_kind else ", ".join(missing),
            remedy="run it there, or compile the model again for this one",
        )
    check_tiles(machine)


def runs_here(machine: RequiredMachine) -> bool:
    """Whether `check_runs_here` has nothing against a machine.

    >>> runs_here(RequiredMachine()), runs_here(RequiredMachine("riscv64", "linux"))
    (True, False)
    """
    try:
        check_runs_here(machine)
    except RelayError:
        return False
    return True

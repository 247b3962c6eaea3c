"""The tiles of AMX: 8 KiB of registers that a process on Linux may use only after it asked for them, once."""

from __future__ import annotations

import ctypes
import platform
import sys
from functools import cache

from relay.base.diagnostics import RelayError
from relay.runtime.artefact.machine import RequiredMachine

TILES = "amx-tile"
"""LLVM's name of the feature."""

_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18
"""Numbers of Linux on x86-64: a system call, its command ARCH_REQ_XCOMP_PERM, and the state XFEATURE_XTILEDATA."""


@cache
def ask_for_tiles() -> bool:
    """Ask the system for the tiles; whether this process, with all its threads, may use them from now on.

    False on machines without them. Other systems than Linux give no answer, and so no tiles.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return ctypes.CDLL(None).syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0


def check_tiles(machine: RequiredMachine) -> None:
    """Raises `RelayError` (rule `no-tiles`) when code for `machine` uses tiles, and the system does not permit that."""
    if TILES in machine.features and not ask_for_tiles():
        raise RelayError(
            rule="no-tiles",
            message="this program uses the tiles of AMX, which the system does not permit this process to use",
            expected="Linux 5.16 or later on x86-64, which grants them (arch_prctl ARCH_REQ_XCOMP_PERM)",
            found=f"{platform.system()} {platform.release()} on {platform.machine()}, which refuses",
            remedy="compile the model without them: -mattr=-amx-tile behind -mcpu=native",
        )

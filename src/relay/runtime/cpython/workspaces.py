"""Memory that one call works in."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from relay.base.frozen import frozen, mutable
from relay.runtime.cpython.array_layout import data_address

_ALIGNMENT_BYTES = 64
_HEAD_BYTES = 1024  # of a heap: what is not set when it is opened must be 0


@frozen(eq=False)
class Workspace:
    memory: NDArray[np.uint8]
    address: int


@mutable
class Workspaces:
    """Those that no call has at the moment. Any number of threads may take and give back: appending and popping are
    atomic."""

    free: list[Workspace] = field(default_factory=list)

    def take(self, size_bytes: int) -> Workspace:
        try:
            workspace = self.free.pop()
        except IndexError:
            return _workspace(size_bytes)
        return workspace if workspace.memory.nbytes >= size_bytes else _workspace(size_bytes)

    def give_back(self, workspace: Workspace) -> None:
        self.free.append(workspace)


def _workspace(size_bytes: int) -> Workspace:
    memory = aligned_bytes(size_bytes)
    memory[:_HEAD_BYTES] = 0
    return Workspace(memory, data_address(memory))


def aligned_bytes(size: int) -> NDArray[np.uint8]:
    """`size` uninitialised bytes whose address is a multiple of the cache line."""
    padded = np.empty(size + _ALIGNMENT_BYTES, np.uint8)
    start = -padded.ctypes.data % _ALIGNMENT_BYTES
    return padded[start : start + size]

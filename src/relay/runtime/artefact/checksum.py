"""The checksum of constants, which are too large to be read again each time.

A file that was found whole, or written here, is remembered by what the system says of it: device, number, size and
time of the last write. Only when one of these changes is it looked at again, and once after each start of the machine:
one that lost its power may have lost what was not yet on the disk, under the same time.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.kept_files import KeptFiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROW_BYTES = 32 << 10
_PART_BYTES = 16 * _ROW_BYTES
"""A part stays in the cache of a processor while it is summed twice."""
_REMEMBERED_BYTES = 1 << 12
_SETTLED_SECONDS = 2


def checksum(size_bytes: int, read: Callable[[int, int], NDArray[np.uint8]]) -> str:
    """The SHA-256 of the sums of rows and of columns of the content's 64-bit words, 4096 to a row: at the speed of
    memory it finds what disks and copies do to files (bits that changed, pages that are missing or elsewhere).

    `read(start, size)` gives a part of the content.

    >>> content = np.arange(100_000, dtype=np.uint32).astype(np.uint8)
    >>> checksum(100_000, lambda start, size: content[start : start + size])[:8]
    '89eb4db5'
    """
    state = hashlib.sha256()
    columns = np.zeros(_ROW_BYTES // 8, np.uint64)
    for start in range(0, size_bytes, _PART_BYTES):
        part = read(start, min(_PART_BYTES, size_bytes - start))
        whole = part.nbytes // _ROW_BYTES * _ROW_BYTES
        rows = part[:whole].view("<u8").reshape(-1, _ROW_BYTES // 8)
        state.update(rows.sum(axis=1, dtype=np.uint64).data)
        state.update(part[whole:].data)
        columns += rows.sum(axis=0, dtype=np.uint64)
    state.update(columns.data)
    return state.hexdigest()


def file_checksum(file: BinaryIO, start: int, size_bytes: int) -> str:
    """That of a part of a file; read, and not mapped: what is cut short meanwhile is found out. Raises EOFError."""
    buffer = np.empty(min(size_bytes, _PART_BYTES), np.uint8)

    def read(offset: int, size: int) -> NDArray[np.uint8]:
        part = buffer[:size]
        if os.preadv(file.fileno(), [part.data], start + offset) < size:
            raise EOFError
        return part

    return checksum(size_bytes, read)


def was_whole(file: BinaryIO) -> bool:
    """Whether this file was found whole before, and is as it was then."""
    remembered = _remembered()
    return remembered is not None and remembered.path(_identity(file)).exists()


def remember_whole(file: BinaryIO) -> None:
    """Remember that this file was found whole; not of one that was just written: clocks of file systems are coarse, and
    the next write could have the same time."""
    remembered = _remembered()
    if remembered is not None and time.time() - os.fstat(file.fileno()).st_mtime > _SETTLED_SECONDS:
        _remember(file, remembered)


def remember_written(file: BinaryIO) -> None:
    """Remember a file that is open for writing, and has all that it will have: it is what this process wrote.

    It is given the time of this moment, which no later write will give it: file systems take their times from a clock
    that stands still for milliseconds at a time. Where they keep no such moments, it is read when it is first loaded.
    """
    remembered = _remembered()
    if remembered is None:
        return
    file.flush()
    now_ns = time.time_ns()
    with suppress(OSError):  # of file systems that take no times
        os.utime(file.fileno(), ns=(now_ns, now_ns))
    if os.fstat(file.fileno()).st_mtime_ns == now_ns and _start_of_machine():
        _remember(file, remembered)


def _remember(file: BinaryIO, remembered: KeptFiles) -> None:
    remembered.put(_identity(file), [b"\n"])
    remembered.trim()


def _remembered() -> KeptFiles | None:
    """A file of one byte for each file that was found whole; None where nothing is kept."""
    try:
        return KeptFiles.from_environment("whole", "", "RELAY_WHOLE_BYTES", _REMEMBERED_BYTES, os.environ)
    except RelayError:
        return None


def _identity(file: BinaryIO) -> str:
    state = os.fstat(file.fileno())
    text = f"{_start_of_machine()} {state.st_dev} {state.st_ino} {state.st_size} {state.st_mtime_ns}"
    return hashlib.sha256(text.encode()).hexdigest()


def _start_of_machine() -> str:
    """What tells one start of the machine from another; nothing where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""

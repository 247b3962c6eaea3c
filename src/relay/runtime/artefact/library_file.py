"""Shared libraries as files: behind what a linker wrote stands a checksum of it.

The system's loader goes by what the start of the file says, and does not look behind that. It trusts what it maps: of a
file that was cut short or changed since, it runs what is there.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from relay.base.files import atomic_file
from relay.runtime.artefact.checksum import checksum, file_checksum, remember_whole, remember_written, was_whole

ELF_MAGIC = b"\x7fELF"
_SEAL = struct.Struct("<32s8s")
_SEAL_MAGIC = b"RELAYSO1"
_MODE = 0o755


def write_library(path: Path, image: bytes) -> None:
    """Write a shared library whole or not at all. Raises `RelayError` (rule `cannot-write`)."""
    content = np.frombuffer(image, np.uint8)
    digest = checksum(content.size, lambda start, size: content[start : start + size])
    with atomic_file(path, _MODE) as file:
        file.writelines([image, _SEAL.pack(bytes.fromhex(digest), _SEAL_MAGIC)])
        remember_written(file)


def what_is_wrong(path: Path) -> str:
    """Why a shared library is not one as `write_library` wrote it; nothing when it is. Raises OSError."""
    with path.open("rb") as file:
        if was_whole(file):
            return ""
        found = _broken(file, os.fstat(file.fileno()).st_size - _SEAL.size)
        if not found:
            remember_whole(file)
        return found


def _broken(file: BinaryIO, size_bytes: int) -> str:
    file.seek(max(0, size_bytes))
    seal = file.read(_SEAL.size)
    if len(seal) < _SEAL.size or not seal.endswith(_SEAL_MAGIC):
        return "it does not end with its checksum: it was cut short, or changed (by `strip`, say)"
    try:
        digest = file_checksum(file, 0, size_bytes)
    except EOFError:
        return "it became shorter while it was read"
    return "" if digest == _SEAL.unpack(seal)[0].hex() else "it has another checksum than it was written with"

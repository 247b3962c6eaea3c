"""The file that a compiled model is kept in: native objects, constants and a manifest. Reading it needs no compiler.

    magic (8 bytes) · offset and length of the table (u64, little endian) · constants · other sections · table (JSON)

The table names each section with its offset (from the start of the file, a multiple of 4096, so that constants
can be mapped), its size and its SHA-256; that of constants is taken of sums (`checksum.py`). Constants always begin
at the same offset: they can be packed where they will be read, in the file, before anything else is known.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.files import atomic_file, open_regular
from relay.base.frozen import frozen
from relay.runtime.artefact.checksum import checksum, file_checksum, remember_whole, remember_written, was_whole
from relay.runtime.artefact.manifest import Manifest

MAGIC = b"RELAYAR3"
_HEAD = struct.Struct("<8sQQ")
_ALIGNMENT_BYTES = 4096
_CONSTANTS_OFFSET = _ALIGNMENT_BYTES
_MAX_TABLE_BYTES = 64 << 20


@frozen(eq=False)
class Artefact:
    """What a build makes. `support` is the object of the support library (allocator, thread pool) that `objects` call;
    `constants` is one array of bytes in which native code finds each constant by its offset."""

    manifest: Manifest
    support: bytes
    objects: tuple[bytes, ...]
    constants: NDArray[np.uint8]
    is_mapped: bool = False
    """Whether the constants are pages of a file, which somebody may cut short."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file whole or not at all."""
        with atomic_file(Path(path)) as file:
            file.writelines(self.chunks())
            remember_written(file)

    def chunks(self) -> list[bytes | memoryview]:
        """What the file is made of."""
        head, rest = self._around_constants()
        return [head, np.ascontiguousarray(self.constants).data, *rest]

    def complete(self, file: BinaryIO) -> None:
        """Write everything but the constants, which `file` has already: they were packed in `constants_room` of it."""
        head, rest = self._around_constants()
        file.seek(0)
        file.write(head)
        file.seek(len(head) + self.constants.nbytes)
        file.writelines(rest)
        remember_written(file)

    def _around_constants(self) -> tuple[bytes, list[bytes]]:
        """What stands before the constants in the file, and after them."""
        sections = [("manifest", self.manifest.to_json().encode()), ("support", self.support)]
        sections += [(f"object{i}", data) for i, data in enumerate(self.objects)]
        end = _CONSTANTS_OFFSET + self.constants.nbytes
        content = np.ascontiguousarray(self.constants)
        digest = checksum(content.nbytes, lambda start, size: content[start : start + size])
        table = [{"name": "constants", "offset": _CONSTANTS_OFFSET, "size": self.constants.nbytes, "sha256": digest}]
        rest: list[bytes] = []
        for name, data in sections:
            offset = -(-end // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
            table.append(
                {"name": name, "offset": offset, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            )
            rest += [b"\0" * (offset - end), data]
            end = offset + len(data)
        text = json.dumps({"sections": table}, sort_keys=True, separators=(",", ":")).encode()
        return _HEAD.pack(MAGIC, end, len(text)).ljust(_CONSTANTS_OFFSET, b"\0"), [*rest, text]

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Artefact:
        """Open a file that `save` wrote; constants are mapped, and read when a file of others is first seen.

        Raises `RelayError` (rule `bad-artefact`) when it is not one, is cut short or is damaged.
        """
        with open_regular(path) as file:
            sections = _read_table(path, file)
            missing = [name for name in ("manifest", "support", "constants") if name not in sections]
            if missing:
                raise _damaged(path, f"section `{missing[0]}` is missing")
            constants = _mapped(path, file, sections.pop("constants"))
            data = {name: _read_section(path, file, section) for name, section in sections.items()}
        objects = tuple(data[name] for name in data if name.startswith("object"))
        return Artefact(Manifest.from_json(data["manifest"]), data["support"], objects, constants, is_mapped=True)


@frozen
class _Section:
    """Where a section is, and its hash."""

    name: str
    offset: int
    size_bytes: int
    sha256: str


def constants_room(file: BinaryIO, size_bytes: int) -> NDArray[np.uint8]:
    """The memory of an empty file in which constants of so many bytes will stand when it is an artefact.

    Raises OSError where the disk has no room for them."""
    if not size_bytes:
        return np.empty(0, np.uint8)
    end = _CONSTANTS_OFFSET + size_bytes
    os.posix_fallocate(file.fileno(), 0, end)  # a disk that is full is told now, and not by a signal later
    return np.frombuffer(mmap.mmap(file.fileno(), end), np.uint8, size_bytes, _CONSTANTS_OFFSET)


def _read_table(path: str | os.PathLike[str], file: BinaryIO) -> dict[str, _Section]:
    """The sections of a file by their names: all of them lie in it."""
    size_bytes = os.fstat(file.fileno()).st_size
    if size_bytes < _CONSTANTS_OFFSET:
        raise _damaged(path, "the file is too short")
    magic, start, table_bytes = _HEAD.unpack(file.read(_HEAD.size))
    if magic != MAGIC:
        raise _damaged(path, "it does not begin as an artefact does")
    if start > size_bytes or table_bytes > min(size_bytes - start, _MAX_TABLE_BYTES):
        raise _damaged(path, "the table of its sections is cut short")
    file.seek(start)
    sections: dict[str, _Section] = {}
    try:
        for entry in json.loads(file.read(table_bytes))["sections"]:
            section = _Section(str(entry["name"]), int(entry["offset"]), int(entry["size"]), str(entry["sha256"]))
            end = section.offset + section.size_bytes
            if section.offset < _CONSTANTS_OFFSET or section.size_bytes < 0 or end > size_bytes:
                raise _damaged(path, f"section `{section.name}` is cut short")
            sections[section.name] = section
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(path, "the table of its sections cannot be read") from error
    return sections


def _read_section(path: str | os.PathLike[str], file: BinaryIO, section: _Section) -> bytes:
    """Read, and not mapped: what is cut short meanwhile is found out."""
    file.seek(section.offset)
    data = file.read(section.size_bytes)
    _check(path, section, hashlib.sha256(data).hexdigest())
    return data


def _check(path: str | os.PathLike[str], section: _Section, digest: str) -> None:
    if digest != section.sha256:
        raise _damaged(path, f"section `{section.name}` has another checksum than it was written with")


def _mapped(path: str | os.PathLike[str], file: BinaryIO, section: _Section) -> NDArray[np.uint8]:
    try:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        constants = np.frombuffer(mapped, np.uint8, section.size_bytes, section.offset)
    except (OSError, ValueError) as error:
        raise _damaged(path, f"section `{section.name}` cannot be mapped: {error}") from error
    if not was_whole(file):
        _check(path, section, _file_checksum(path, file, section))
        remember_whole(file)
    return constants


def _file_checksum(path: str | os.PathLike[str], file: BinaryIO, section: _Section) -> str:
    try:
        return file_checksum(file, section.offset, section.size_bytes)
    except EOFError:
        raise _damaged(path, f"section `{section.name}` became shorter while it was read") from None


def _damaged(path: str | os.PathLike[str], what: str) -> RelayError:
    return RelayError(
        rule="bad-artefact",
        message=f"{path} is not a whole artefact of relay",
        found=what,
        remedy="compile the model again",
    )

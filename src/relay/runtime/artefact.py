"""The file that a compiled model is kept in: native objects, constants and a manifest. Reading it needs no compiler.

    magic (8 bytes) · offset and length of the table (u64, little endian) · constants · other sections · table (JSON)

The table names each section with its offset (from the start of the file, a multiple of 4096, so that constants
can be mapped), its size and, for everything but the constants, its SHA-256. Constants always begin at the same offset:
they can be packed where they will be read, in the file, before anything else is known.
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
from relay.base.files import open_regular, write_atomically
from relay.base.frozen import frozen
from relay.runtime.manifest import Manifest

MAGIC = b"RELAYAR2"
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file whole or not at all."""
        write_atomically(Path(path), self.chunks())

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

    def _around_constants(self) -> tuple[bytes, list[bytes]]:
        """What stands before the constants in the file, and after them."""
        sections = [("manifest", self.manifest.to_json().encode()), ("support", self.support)]
        sections += [(f"object{i}", data) for i, data in enumerate(self.objects)]
        end = _CONSTANTS_OFFSET + self.constants.nbytes
        table = [{"name": "constants", "offset": _CONSTANTS_OFFSET, "size": self.constants.nbytes, "sha256": ""}]
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
        """Open a file that `save` wrote; constants are mapped, not read.

        Raises `RelayError` (rule `bad-artefact`) when it is not one, is cut short or is damaged.
        """
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size < _CONSTANTS_OFFSET:
                raise _damaged(path, "the file is too short")
            try:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (OSError, ValueError) as error:
                raise RelayError(rule="cannot-read", message=f"cannot map {path}", found=str(error)) from error
        sections = _decode(path, np.frombuffer(mapped, dtype=np.uint8))
        objects = [sections[name].tobytes() for name in sections if name.startswith("object")]
        missing = [name for name in ("manifest", "support", "constants") if name not in sections]
        if missing:
            raise _damaged(path, f"section `{missing[0]}` is missing")
        manifest = Manifest.from_json(sections["manifest"].tobytes())
        return Artefact(manifest, sections["support"].tobytes(), tuple(objects), sections["constants"])


def constants_room(file: BinaryIO, size_bytes: int) -> NDArray[np.uint8]:
    """The memory of an empty file in which constants of so many bytes will stand when it is an artefact.

    Raises OSError where the disk has no room for them."""
    if not size_bytes:
        return np.empty(0, np.uint8)
    end = _CONSTANTS_OFFSET + size_bytes
    os.posix_fallocate(file.fileno(), 0, end)  # a disk that is full is told now, and not by a signal later
    return np.frombuffer(mmap.mmap(file.fileno(), end), np.uint8, size_bytes, _CONSTANTS_OFFSET)


def _decode(path: str | os.PathLike[str], data: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
    magic, start, table_bytes = _HEAD.unpack(data[: _HEAD.size].tobytes())
    if magic != MAGIC:
        raise _damaged(path, "it does not begin as an artefact does")
    if start > len(data) or table_bytes > min(len(data) - start, _MAX_TABLE_BYTES):
        raise _damaged(path, "the table of its sections is cut short")
    sections: dict[str, NDArray[np.uint8]] = {}
    try:
        for entry in json.loads(data[start : start + table_bytes].tobytes())["sections"]:
            offset, size = int(entry["offset"]), int(entry["size"])
            if offset < _CONSTANTS_OFFSET or size < 0 or offset + size > len(data):
                raise _damaged(path, f"section `{entry['name']}` is cut short")
            section = data[offset : offset + size]
            if entry["name"] != "constants" and hashlib.sha256(section.data).hexdigest() != entry["sha256"]:
                raise _damaged(path, f"section `{entry['name']}` has another checksum than it was written with")
            sections[str(entry["name"])] = section
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(path, "the table of its sections cannot be read") from error
    return sections


def _damaged(path: str | os.PathLike[str], what: str) -> RelayError:
    return RelayError(
        rule="bad-artefact",
        message=f"{path} is not a whole artefact of relay",
        found=what,
        remedy="compile the model again",
    )

"""The file that a compiled model is kept in: native objects, constants and a manifest. Reading it needs no compiler.

    magic (8 bytes) · length of the header (u64, little endian) · header (JSON) · sections

The header names each section with its offset (from the start of the file, a multiple of 4096, so that constants
can be mapped), its size and, for everything but the constants, its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.runtime.files import write_atomically
from relay.runtime.manifest import Manifest

MAGIC = b"RELAYART"
_ALIGNMENT_BYTES = 4096
_MAX_HEADER_BYTES = 64 << 20


@dataclass(frozen=True, slots=True, eq=False)
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
        sections: list[tuple[str, bytes | memoryview]] = [("manifest", self.manifest.to_json().encode())]
        sections.append(("support", self.support))
        sections += [(f"object{i}", data) for i, data in enumerate(self.objects)]
        sections.append(("constants", np.ascontiguousarray(self.constants).data))
        return _encode(sections)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Artefact:
        """Open a file that `save` wrote; constants are mapped, not read.

        Raises `RelayError` (rule `bad-artefact`) when it is not one, is cut short or is damaged.
        """
        try:
            with Path(path).open("rb") as file:
                if os.fstat(file.fileno()).st_size < len(MAGIC) + 8:
                    raise _damaged(path, "the file is too short")
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise RelayError(
                rule="cannot-read", message=f"cannot read the artefact {path}", found=str(error.strerror)
            ) from error
        sections = _decode(path, np.frombuffer(mapped, dtype=np.uint8))
        objects = [sections[name].tobytes() for name in sections if name.startswith("object")]
        missing = [name for name in ("manifest", "support", "constants") if name not in sections]
        if missing:
            raise _damaged(path, f"section `{missing[0]}` is missing")
        manifest = Manifest.from_json(sections["manifest"].tobytes())
        return Artefact(manifest, sections["support"].tobytes(), tuple(objects), sections["constants"])


def _encode(sections: list[tuple[str, bytes | memoryview]]) -> list[bytes | memoryview]:
    sizes = [len(data) if isinstance(data, bytes) else data.nbytes for _, data in sections]
    header_bytes = 0
    while True:  # offsets depend on the header's length, which depends on the digits of the offsets
        offset = len(MAGIC) + 8 + header_bytes
        table: list[dict[str, Any]] = []
        for (name, data), size in zip(sections, sizes, strict=True):
            offset = -(-offset // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
            digest = "" if name == "constants" else hashlib.sha256(data).hexdigest()
            table.append({"name": name, "offset": offset, "size": size, "sha256": digest})
            offset += size
        header = json.dumps({"sections": table}, sort_keys=True, separators=(",", ":")).encode()
        if len(header) == header_bytes:
            break
        header_bytes = len(header)
    chunks: list[bytes | memoryview] = [MAGIC, struct.pack("<Q", len(header)), header]
    position = len(MAGIC) + 8 + len(header)
    for entry, (_, data) in zip(table, sections, strict=True):
        chunks += [b"\0" * (entry["offset"] - position), data]
        position = entry["offset"] + entry["size"]
    return chunks


def _decode(path: str | os.PathLike[str], data: NDArray[np.uint8]) -> dict[str, NDArray[np.uint8]]:
    if data[: len(MAGIC)].tobytes() != MAGIC:
        raise _damaged(path, "it does not begin as an artefact does")
    start = len(MAGIC) + 8
    (header_bytes,) = struct.unpack("<Q", data[len(MAGIC) : start].tobytes())
    if header_bytes > min(len(data) - start, _MAX_HEADER_BYTES):
        raise _damaged(path, "the header is cut short")
    sections: dict[str, NDArray[np.uint8]] = {}
    try:
        for entry in json.loads(data[start : start + header_bytes].tobytes())["sections"]:
            offset, size = int(entry["offset"]), int(entry["size"])
            if offset < start or size < 0 or offset + size > len(data):
                raise _damaged(path, f"section `{entry['name']}` is cut short")
            section = data[offset : offset + size]
            if entry["name"] != "constants" and hashlib.sha256(section.data).hexdigest() != entry["sha256"]:
                raise _damaged(path, f"section `{entry['name']}` has another checksum than it was written with")
            sections[str(entry["name"])] = section
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise _damaged(path, "the header cannot be read") from error
    return sections


def _damaged(path: str | os.PathLike[str], what: str) -> RelayError:
    return RelayError(
        rule="bad-artefact",
        message=f"{path} is not a whole artefact of relay",
        found=what,
        remedy="compile the model again",
    )

"""Shared libraries looked at before the system maps them: a file cut short would end the process with a bus error.

The layout is that of the System V ABI, 64 bits, little endian: `Elf64_Ehdr` and `Elf64_Phdr`.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

ELF_MAGIC = b"\x7fELF"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_CLASS_64_LITTLE = b"\x02\x01"
_MOST_SEGMENTS = 64


def what_is_missing(path: Path) -> str:
    """What of the file of a shared library is not there, in words; nothing when all of it is. Raises OSError."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size or head[:4] != ELF_MAGIC or head[4:6] != _CLASS_64_LITTLE:
            return "the header of a 64-bit library"
        fields = _HEADER.unpack(head)
        table, sections, entry_bytes, entries, section_bytes, section_count = (*fields[5:7], *fields[9:13])
        if entry_bytes != _SEGMENT.size or not 0 < entries <= _MOST_SEGMENTS or table + entries * entry_bytes > size:
            return "the table of its segments"
        file.seek(table)
        for number in range(entries):
            _, _, offset, _, _, file_bytes, _, _ = _SEGMENT.unpack(file.read(_SEGMENT.size))
            if offset + file_bytes > size:
                return f"the end of segment {number}: the file has {size} of {offset + file_bytes} bytes"
    whole = sections + section_count * section_bytes  # what a linker writes last
    return f"its end: the file has {size} of {whole} bytes" if whole > size else ""

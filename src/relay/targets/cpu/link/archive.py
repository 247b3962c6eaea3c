"""Static libraries (`NAME.a`): an object behind an index of its symbols, in the format of System V and GNU."""

from __future__ import annotations

import struct
from collections.abc import Collection

_MAGIC = b"!<arch>\n"


def archive(name: str, image: bytes, symbols: Collection[str]) -> bytes:
    """An archive of one object, which defines these symbols.

    >>> archive("model.o", b"object", ["run"])[:8]
    b'!<arch>\\n'
    """
    texts = b"".join(each.encode() + b"\0" for each in sorted(symbols))
    index_bytes = 4 + 4 * len(symbols) + len(texts)
    name_table = name.encode() + b"/\n"
    members = _member("//", name_table)
    place = len(_MAGIC) + _HEADER_BYTES + index_bytes + index_bytes % 2 + len(members)
    index = struct.pack(f">I{len(symbols)}I", len(symbols), *[place] * len(symbols)) + texts
    return _MAGIC + _member("/", index) + members + _member("/0", image)


_HEADER_BYTES = 60


def _member(name: str, content: bytes) -> bytes:
    """A part of an archive: without date, owner and rights, so that equal content is equal bytes."""
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) % 2)

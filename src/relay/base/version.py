"""The version of this package, and of its files: what compiled code depends on besides its source."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VERSION = "0.1.0"


@cache
def compiler_fingerprint() -> str:
    """A hash that changes whenever a file of this package does: part of the key of everything that is kept on disk.

    An installed package has a list of its files with a hash of each (`RECORD`, of the packaging specifications): that
    is one file to read. Files of a checkout are asked for their sizes and times; a thousand questions take some
    milliseconds.
    """
    root = Path(__file__).resolve().parent.parent
    try:
        record = (root.parent / f"relay_ir-{VERSION}.dist-info" / "RECORD").read_bytes()
    except OSError:
        record = "\n".join((VERSION, *sorted(_sizes_and_times(str(root))))).encode()
    return hashlib.sha256(record).hexdigest()


def _sizes_and_times(root: str) -> Iterator[str]:
    """Of each source file under a folder, behind its path from there."""
    folders = [root]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    folders.append(entry.path)
            elif entry.name.endswith((".py", ".ll")):
                status = entry.stat()
                yield f"{entry.path[len(root) :]} {status.st_size} {status.st_mtime_ns}"

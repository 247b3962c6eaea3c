"""The version of this package, and of its files: what compiled code depends on besides its source."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

VERSION = "0.1.0"


@cache
def compiler_fingerprint() -> str:
    """A hash that changes whenever a file of this package does: part of the key of everything that is kept on disk."""
    root = str(Path(__file__).resolve().parent.parent)
    found: list[str] = []
    folders = [root]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    folders.append(entry.path)
            elif entry.name.endswith((".py", ".ll")):
                status = entry.stat()
                found.append(f"{entry.path[len(root) :]} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join((VERSION, *sorted(found))).encode()).hexdigest()

"""The version of this package, and of its files: what compiled code depends on besides its source."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

VERSION = "0.1.0"


@cache
def compiler_fingerprint() -> str:
    """A hash that changes whenever a file of this package does: part of the key of everything that is kept on disk."""
    root = Path(__file__).resolve().parent.parent
    state = hashlib.sha256(VERSION.encode())
    for path in sorted(root.rglob("*")):
        if path.suffix in {".py", ".ll"}:
            status = path.stat()
            state.update(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return state.hexdigest()

"""Files that are written whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from relay.base.diagnostics import RelayError


def write_atomically(path: Path, chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file so that other processes, and those that come after a crash, see the old content or the new, and
    never half of it. Raises `RelayError` (rule `cannot-write`)."""
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.writelines(chunks)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RelayError(
            rule="cannot-write",
            message=f"cannot write {path}",
            found=str(error.strerror),
            remedy="name a file in a folder that exists and may be written to",
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_file(path: Path) -> bytes:
    """A whole file. Raises `RelayError` (rule `cannot-read`)."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RelayError(rule="cannot-read", message=f"cannot read {path}", found=str(error.strerror)) from error

"""Files that are read to their end, and written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from relay.base.diagnostics import RelayError

PICKLE_SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".pkl")
"""Of files that are pickles, as a rule: reading one runs what its writer wants, so none is read."""


def write_atomically(path: Path, chunks: Iterable[bytes | memoryview], mode: int = 0o666) -> None:
    """Write a file so that other processes, and those that come after a crash, see the old content or the new, and
    never half of it. `mode`: its rights, less those that the process withholds. Raises `RelayError` (rule
    `cannot-write`)."""
    with atomic_file(path, mode) as file:
        file.writelines(chunks)


@contextmanager
def atomic_file(path: Path, mode: int = 0o666) -> Generator[BinaryIO]:
    """A file to be written in the `with` block, which has the name when the block has ended, and its content on the
    disk before that; an error leaves what was there. Raises `RelayError` (rule `cannot-write`)."""
    temporary = path.parent / f".{path.name}.{os.urandom(8).hex()}"
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file
            sync(file)
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


def sync(file: BinaryIO) -> None:
    """Have the content of a file on the disk, whatever happens to the machine after. Raises OSError."""
    file.flush()
    os.fsync(file.fileno())


def read_file(path: str | os.PathLike[str]) -> bytes:
    """A whole file. Raises `RelayError` (rule `cannot-read`)."""
    with open_regular(path) as file:
        return file.read()


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file that has an end: devices and pipes may have none, and whoever reads them to it waits for ever.

    Raises `RelayError` (rule `cannot-read`).

    >>> open_regular("/dev/zero")
    Traceback (most recent call last):
    ...
    relay.base.diagnostics.RelayError: error[cannot-read]: cannot read /dev/zero
      expected: a file
      found:    a character device
    """
    try:
        number = os.open(path, os.O_RDONLY | _AT_ONCE)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise RelayError(rule="cannot-read", message=f"cannot read {os.fspath(path)}", found=found) from error
    kind = stat.S_IFMT(os.fstat(number).st_mode)
    if kind != stat.S_IFREG:
        os.close(number)
        raise RelayError(
            rule="cannot-read",
            message=f"cannot read {os.fspath(path)}",
            expected="a file",
            found=_KINDS.get(kind, "something else"),
        )
    return os.fdopen(number, "rb")


_AT_ONCE: int = getattr(os, "O_NONBLOCK", 0)  # without it, a pipe is only open when somebody writes to it
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}

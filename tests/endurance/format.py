"""What a format is to the campaign of damaged inputs."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from relay.base.frozen import frozen


@frozen(eq=False)
class Format:
    """`content` is valid: `read` takes it from a file. It raises `RelayError` for what it refuses, and AssertionError
    where it reads what it should not."""

    name: str
    content: bytes
    read: Callable[[Path], object]


def called(file: Path, read: Callable[[Path], object]) -> Callable[[Path], object]:
    """A reader that goes by the name of the file, too. It is a new file each time: the one before may be mapped."""

    def reader(path: Path) -> object:
        file.unlink(missing_ok=True)
        file.write_bytes(path.read_bytes())
        return read(file)

    return reader


@contextmanager
def caches_in(folder: Path) -> Generator[None]:
    """Have relay keep files in a folder, and nowhere else, and log no damaged ones: there are thousands."""
    quiet = patch.object(logging.getLogger("relay.base.kept_files"), "disabled", new=True)
    with quiet, patch.dict(os.environ, RELAY_CACHE="1", RELAY_CACHE_DIR=str(folder)):
        yield

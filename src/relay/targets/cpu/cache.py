"""Object files kept on disk under the hash of what they were made from.

Entries are written beside their place and renamed into it, so that two writers, or one that is killed, leave either
nothing or a whole file. Each begins with the hash of its contents: a damaged one counts as missing and is removed.

    RELAY_CACHE=0           no cache
    RELAY_CACHE_DIR=path    where; else `relay/kernels` in the user's cache folder
    RELAY_CACHE_BYTES=n     how much to keep; the least recently used go first (512 MiB)
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import llvmlite.binding as llvm

from relay.base.cache_folder import cache_folder
from relay.base.diagnostics import RelayError
from relay.base.target import Target

FORMAT = b"relay-object-1\n"  # to be changed with what `object_code` does to the same text
DEFAULT_LIMIT_BYTES = 512 * 1024 * 1024
_DIGEST_BYTES = 32
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KernelCache:
    """Objects under `folder`, of which `limit_bytes` are kept."""

    folder: Path
    limit_bytes: int = DEFAULT_LIMIT_BYTES

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> KernelCache | None:
        """The cache that the environment asks for; None when it is switched off.

        >>> KernelCache.from_environment({"RELAY_CACHE": "0"}) is None
        True
        """
        folder = cache_folder(environment)
        if folder is None:
            return None
        limit = environment.get("RELAY_CACHE_BYTES", str(DEFAULT_LIMIT_BYTES))
        if not (limit.isascii() and limit.isdigit()):
            raise RelayError(
                rule="bad-setting",
                message="the setting RELAY_CACHE_BYTES is not a number",
                expected="a size in bytes, such as 536870912",
                found=limit,
            )
        return cls(folder, int(limit))

    def get(self, key: str) -> bytes | None:
        """The object under `key`, or None."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        head = len(FORMAT) + _DIGEST_BYTES
        image = data[head:]
        if not data.startswith(FORMAT) or hashlib.sha256(image).digest() != data[len(FORMAT) : head]:
            _LOG.warning("the kernel cache entry %s is damaged: it is made again", path)
            path.unlink(missing_ok=True)
            return None
        _touch(path)
        return image

    def put(self, key: str, image: bytes) -> None:
        """Keep `image` under `key`. A full or read-only disk is not an error: the kernel is only not kept."""
        path = self._path(key)
        temporary = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            with os.fdopen(handle, "wb") as file:
                file.write(FORMAT + hashlib.sha256(image).digest() + image)
            os.replace(temporary, path)
        except OSError as error:
            _LOG.warning("cannot keep a kernel in %s: %s", self.folder, error)
            if temporary:
                Path(temporary).unlink(missing_ok=True)

    def trim(self) -> None:
        """Remove the least recently used entries until the rest fits the limit, and what killed writers left."""
        entries: list[tuple[float, int, Path]] = []
        for path in self.folder.glob("??/*"):
            try:
                status = path.stat()
            except OSError:
                continue  # another process removed it
            entries.append((status.st_mtime, status.st_size, path))
        excess = sum(size for _, size, _ in entries) - self.limit_bytes
        for _, size, path in sorted(entries):
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= size

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.o"


def cache_key(text: str, target: Target, opt: int | None = None) -> str:
    """The name of the object of this text: a hash of everything it depends on. `opt` is LLVM's level, None where the
    text alone decides it."""
    words = (target.triple, target.cpu, ",".join(target.features), str(opt), str(llvm.llvm_version_info))
    return hashlib.sha256("\0".join((FORMAT.decode(), *words, text)).encode()).hexdigest()


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except OSError:
        return  # a read-only cache: entries just keep their age

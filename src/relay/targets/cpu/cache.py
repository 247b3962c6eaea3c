"""Object files kept on disk under the hash of what they were made from.

Each begins with the hash of its contents: a damaged one counts as missing and is removed.

    RELAY_CACHE_BYTES=n     how much to keep; the least recently used go first (512 MiB)
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

import llvmlite.binding as llvm

from relay.base.frozen import frozen
from relay.base.kept_files import KeptFiles
from relay.targets.cpu.target import CpuTarget

FORMAT = b"relay-object-1\n"  # to be changed with what `object_code` does to the same text
DEFAULT_LIMIT_BYTES = 512 * 1024 * 1024
_DIGEST_BYTES = 32


@frozen
class KernelCache:
    """Objects in a folder."""

    files: KeptFiles

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> KernelCache | None:
        """The cache that the environment asks for; None when it is switched off.

        >>> KernelCache.from_environment({"RELAY_CACHE": "0"}) is None
        True
        """
        files = KeptFiles.from_environment("kernels", ".o", "RELAY_CACHE_BYTES", DEFAULT_LIMIT_BYTES, environment)
        return None if files is None else cls(files)

    def get(self, key: str) -> bytes | None:
        """The object under `key`, or None. Raises `RelayError` (rule `unsafe-cache`)."""
        path = self.files.find(key)
        if path is None:
            return None
        try:
            data = path.read_bytes()
        except OSError:
            return None  # another process removed it
        head = len(FORMAT) + _DIGEST_BYTES
        image = data[head:]
        if not data.startswith(FORMAT) or hashlib.sha256(image).digest() != data[len(FORMAT) : head]:
            self.files.forget(key)
            return None
        self.files.use(key)
        return image

    def put(self, key: str, image: bytes) -> None:
        """Keep `image` under `key`."""
        self.files.put(key, (FORMAT, hashlib.sha256(image).digest(), image))

    def trim(self) -> None:
        """Remove the least recently used objects until the rest fits the limit."""
        self.files.trim()


def cache_key(text: str, target: CpuTarget, opt: int | None = None) -> str:
    """The name of the object of this text: a hash of everything it depends on. `opt` is LLVM's level, None where the
    text alone decides it."""
    words = (*target.words, str(opt), str(llvm.llvm_version_info))
    return hashlib.sha256("\0".join((FORMAT.decode(), *words, text)).encode()).hexdigest()

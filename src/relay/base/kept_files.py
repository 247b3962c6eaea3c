"""Folders of files that are kept between runs, each under a key, as long as they fit a limit.

Files are put in whole or not at all: two writers, or one that is killed, leave either nothing or a whole file. The disk
is not waited for: what a machine that lost its power leaves has another checksum, and readers make it again.

How many bytes there are is written down beside the files: a line for what the last count found, then a line for each
file that was put in since. The files are counted, and the least recently used removed, only when that says that the
limit is passed: a folder of kernels may have hundreds of thousands.

    RELAY_CACHE=0           nothing is kept
    RELAY_CACHE_DIR=path    where; else `relay` in the user's cache folder
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen

_OWN = 0o700
_FOLDER_LETTERS = 2
_OTHERS_WRITE = 0o022
_BYTES = ".bytes"
_LONGEST_ACCOUNT_BYTES = 1 << 14
_KEPT_SHARE = 15 / 16
"""What is left of the limit when it was passed, so that the next count is far."""
_LOG = logging.getLogger(__name__)


def kept_folder(environment: Mapping[str, str]) -> Path | None:
    """Where files of all kinds are kept; None when nothing is to be kept.

    >>> kept_folder({"RELAY_CACHE": "0"}) is None
    True
    """
    if environment.get("RELAY_CACHE", "1") == "0":
        return None
    stated, user = environment.get("RELAY_CACHE_DIR"), environment.get("XDG_CACHE_HOME")
    return Path(stated) if stated else (Path(user) if user else Path.home() / ".cache") / "relay"


@frozen(eq=False)
class Draft:
    """A file that is being written. Unless it is kept before the `with` block ends, it is removed."""

    temporary: Path
    file: BinaryIO

    def __enter__(self) -> Draft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.file.close()
        finally:
            self.temporary.unlink(missing_ok=True)

    def keep(self, path: Path) -> None:
        """Close it and give it its place. Raises OSError."""
        self.file.close()
        size = self.temporary.stat().st_size
        path.parent.mkdir(mode=_OWN, exist_ok=True)
        self.temporary.replace(path)
        with suppress(FileNotFoundError):  # then nothing was counted yet
            account = os.open(self.temporary.with_name(_BYTES), os.O_WRONLY | os.O_APPEND)
            try:
                os.write(account, b"%d\n" % size)
            finally:
                os.close(account)


@frozen
class KeptFiles:
    """Files under `folder` whose names end in `suffix`, of which `limit_bytes` are kept."""

    folder: Path
    suffix: str
    limit_bytes: int

    @classmethod
    def from_environment(
        cls, kind: str, suffix: str, limit_setting: str, limit_bytes: int, environment: Mapping[str, str]
    ) -> KeptFiles | None:
        """The folder of one kind of files that the environment asks for; None when nothing is to be kept.

        `limit_setting` names the variable that states another limit. Raises `RelayError` (rule `bad-setting`).
        """
        folder = kept_folder(environment)
        if folder is None:
            return None
        limit = environment.get(limit_setting, str(limit_bytes))
        if not (limit.isascii() and limit.isdigit()):
            raise RelayError(
                rule="bad-setting",
                message=f"the setting {limit_setting} is not a number",
                expected="a size in bytes, such as 536870912",
                found=limit,
            )
        return cls(folder / kind, suffix, int(limit))

    def path(self, key: str) -> Path:
        """Where the file under `key` is, or would be."""
        return self.folder / key[:_FOLDER_LETTERS] / f"{key[_FOLDER_LETTERS:]}{self.suffix}"

    def find(self, key: str) -> Path | None:
        """Where the file under `key` is, if there is one. Raises `RelayError` (rule `unsafe-cache`) where somebody else
        could have put it there: what is kept is run."""
        path = self.path(key)
        for each in (self.folder, path.parent, path):
            try:
                state = each.stat()
            except OSError:
                return None
            if state.st_uid not in (0, os.geteuid()) or state.st_mode & _OTHERS_WRITE:
                raise RelayError(
                    rule="unsafe-cache",
                    message=f"{each} may be written by others, and native code that is kept there is run",
                    expected="files and folders of your own, that nobody else may write",
                    found=f"owner {state.st_uid}, rights {stat.filemode(state.st_mode)}",
                    remedy=f"chmod -R go-w {self.folder}, if it is yours; else name another folder: RELAY_CACHE_DIR",
                )
        return path

    def use(self, key: str) -> None:
        """Remember that the file was of use just now: it was read, and is as it was written."""
        path = self.path(key)
        try:
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))
        except OSError:
            return  # a folder that cannot be written: its files just keep their age

    def has_any(self, prefix: str) -> bool:
        """Whether a file is kept under a key that begins so (with two characters or more)."""
        return any((self.folder / prefix[:2]).glob(f"{prefix[2:]}*{self.suffix}"))

    def put(self, key: str, chunks: Iterable[bytes | memoryview]) -> None:
        """Keep a file. A full or read-only disk is no error: the file is only not kept."""
        with self.trying(), self.draft() as draft:
            draft.file.writelines(chunks)
            draft.keep(self.path(key))

    def draft(self) -> Draft:
        """A file to be written. Raises OSError."""
        self.folder.mkdir(mode=_OWN, parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=self.folder, prefix=".new-")
        return Draft(Path(path), os.fdopen(handle, "w+b"))

    @contextmanager
    def trying(self) -> Generator[None]:
        """A full or read-only disk ends the `with` block, and is no error."""
        try:
            yield
        except OSError as error:
            _LOG.warning("cannot keep a file in %s: %s", self.folder, error)

    def forget(self, key: str) -> None:
        """Remove a damaged file, and say so."""
        path = self.path(key)
        _LOG.warning("the kept file %s is damaged: it is made again", path)
        path.unlink(missing_ok=True)

    def trim(self) -> None:
        """Remove the least recently used files if all together pass the limit, and what killed writers left."""
        known = self._bytes_by_account()
        if known is not None and known <= self.limit_bytes:
            return
        entries: list[tuple[float, int, str]] = []
        for entry in self._entries():
            try:
                status = entry.stat()
            except OSError:
                continue  # another process removed it
            entries.append((status.st_atime, status.st_size, entry.path))
        left = sum(size for _, size, _ in entries)
        wanted = self.limit_bytes * _KEPT_SHARE if left > self.limit_bytes else left
        for _, size, path in sorted(entries):
            if left <= wanted:
                break
            Path(path).unlink(missing_ok=True)
            left -= size
        self._begin_account(left)

    def _bytes_by_account(self) -> int | None:
        """How many bytes are kept, as it was written down; None where it was not, or not by us."""
        try:
            content = (self.folder / _BYTES).read_bytes()
            found = sum(map(int, content.split()))
        except (OSError, ValueError):
            return None
        if not content:
            return None
        if len(content) > _LONGEST_ACCOUNT_BYTES:
            self._begin_account(found)
        return found

    def _begin_account(self, size_bytes: int) -> None:
        with self.trying(), self.draft() as draft:
            draft.file.write(b"%d\n" % size_bytes)
            draft.file.close()
            draft.temporary.replace(self.folder / _BYTES)

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        """All that is kept, and what is being written."""
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.startswith(".new-"):
                    yield entry
                elif len(entry.name) == _FOLDER_LETTERS:
                    with suppress(OSError), os.scandir(entry.path) as inner:
                        yield from inner

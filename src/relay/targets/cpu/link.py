"""A shared library from object files, by the linker that comes with the `ziglang` package."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from relay.base.diagnostics import RelayError
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.target import CpuTarget

LINK_TIMEOUT_SECONDS = 300
LOCKED_WITHIN_SECONDS = 60
"""A folder may be so young without being locked yet."""
_FOLDER, _LOCK = "relay-link-", "lock"
_ZIG = (sys.executable, "-m", "ziglang")
_C_LIBRARIES = {"gnu": ("libm.so.6", "libc.so.6"), "musl": ("libc.so",)}


def link_shared(
    objects: Sequence[bytes],
    path: str | os.PathLike[str],
    target: CpuTarget,
    data: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write the shared library of `objects` to `path`, whole or not at all. `data` are bytes by the symbol under which
    they are exported, read-only, at a multiple of 64 bytes.

    It needs nothing but the C library, and stays loaded once it is (its threads live as long as the process).
    Raises `RelayError`: `no-linker`, `link-failed`, `cannot-write`.
    """
    if importlib.util.find_spec("ziglang") is None:
        raise RelayError(
            rule="no-linker",
            message="a shared library is made with the linker of the package `ziglang`, which is not installed",
            remedy="pip install relay[export]",
        )
    goal = Path(path)
    _remove_left_behind()
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder, Path(folder, _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        names: list[str] = []
        for number, image in enumerate(objects):
            name = Path(folder, f"{number:04}.o")
            name.write_bytes(image)
            names.append(str(name))
        if data:
            names.append(str(_data_object(Path(folder), data, target)))
        library = Path(folder, goal.name)
        if "linux" in target.triple:
            _link_elf(names, library, target)
        else:
            _run([*_ZIG, "cc", "-target", zig_triple(target.triple), "-shared", "-s", "-o", str(library), *names])
        _place(library, goal)


def _remove_left_behind() -> None:
    """Remove folders of processes that were ended while they linked: those that nobody holds the lock of."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        try:
            if time.time() - folder.stat().st_mtime < LOCKED_WITHIN_SECONDS:
                continue
            with Path(folder, _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # it is in use, or somebody else's


def _link_elf(names: Sequence[str], library: Path, target: CpuTarget) -> None:
    """Link with lld alone, which takes milliseconds: no start files are needed, and what the library asks of the C
    library is only named, by stand-ins that have the right names and nothing inside."""
    needed: list[str] = []
    empty = Path(library.parent, "empty.o")
    empty.write_bytes(emit_object("", target))
    for soname in _C_LIBRARIES["musl" if "musl" in target.triple else "gnu"]:
        stand_in = library.parent / soname
        _run([*_ZIG, "ld.lld", "-shared", "-soname", soname, "-o", str(stand_in), str(empty)])
        needed.append(str(stand_in))
    options = ["-shared", "-s", "-Bsymbolic", "--build-id=none", "--no-as-needed"]
    options += ["-z", "nodelete", "-z", "noexecstack"]
    _run([*_ZIG, "ld.lld", *options, "-soname", library.name, "-o", str(library), *names, *needed])


def _data_object(folder: Path, data: Mapping[str, bytes], target: CpuTarget) -> Path:
    """An object whose bytes are taken from files by the assembler: weights are too large to be written as text."""
    lines = [".section .rodata"]
    for number, (symbol, content) in enumerate(data.items()):
        file = folder / f"data{number}.bin"
        file.write_bytes(content)
        lines += [".balign 64", f".globl {symbol}", f"{symbol}:", f'.incbin "{file}"']
    source, result = folder / "data.s", folder / "data.o"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _run([*_ZIG, "cc", "-target", zig_triple(target.triple), "-c", "-o", str(result), str(source)])
    return result


def zig_triple(triple: str) -> str:
    """LLVM's name of a machine as zig writes it, without the vendor.

    >>> zig_triple("x86_64-unknown-linux-gnu")
    'x86_64-linux-gnu'
    """
    parts = triple.split("-")
    return "-".join(parts if len(parts) < 4 else (parts[0], *parts[2:]))


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=LINK_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RelayError(rule="link-failed", message="the linker could not be run", found=str(error)) from None
    if done.returncode:
        raise RelayError(
            rule="link-failed",
            message="the linker refused the object files",
            found=done.stderr.strip()[-2000:] or f"exit code {done.returncode}",
        )


def _place(library: Path, goal: Path) -> None:
    """Move a file to where it is wanted, by renaming within one folder."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=goal.parent, prefix=".new-", suffix=".so")
        with os.fdopen(handle, "wb") as file:
            file.write(library.read_bytes())
        os.chmod(temporary, 0o755)
        os.replace(temporary, goal)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise RelayError(
            rule="cannot-write",
            message="the shared library cannot be written",
            found=f"{goal}: {error.strerror}",
            remedy="name a file in a folder that exists and may be written to",
        ) from None

"""A library from object files. Its symbols are the library's own: programs may use any number of libraries."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.runtime.artefact.library_file import write_library
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.link.archive import archive
from relay.targets.cpu.link.elf import ElfObject, write_data_object
from relay.targets.cpu.link.linker import linker_command, run_linker
from relay.targets.cpu.target import CpuTarget

LIBRARY_SUFFIXES = (".so", ".o", ".a")
LOCKED_WITHIN_SECONDS = 60
"""A folder may be so young without being locked yet."""
_FOLDER, _LOCK = "relay-link-", "lock"
_MODE = 0o644
_C_LIBRARIES = {"gnu": ("libm.so.6", "libc.so.6"), "musl": ("libc.so",)}


def link_library(
    objects: Sequence[bytes],
    path: Path,
    name: str,
    target: CpuTarget,
    exports: Mapping[str, str],
    data: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Write a library to `path`, whole or not at all: a shared one (`.so`), an object (`.o`), or an archive (`.a`).

    `exports` gives the names under which symbols of the objects are seen. No other symbol of theirs is, and it has the
    `name` of the library before its own. `data` are bytes by their symbols, read-only, at a multiple of 64 bytes.

    It needs nothing but the C library; a shared one stays loaded once it is (its threads live as long as the process).
    Raises `RelayError`: `no-linker`, `link-failed`, `cannot-write`.
    """
    linker = linker_command(target)
    _remove_left_behind()
    names = _names(name, objects, data, exports)
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as made, Path(made, _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = Path(made)
        files = _objects_in(folder, objects, target, names, exports, data)
        result = folder / path.name
        if path.suffix == ".so":
            _link_shared(linker, files, result, target)
        else:
            run_linker([*linker, "-r", "-o", str(result), *files])
        image = result.read_bytes()
        match path.suffix:
            case ".so":
                write_library(path, image)
            case ".a":
                seen = ElfObject(image).defined() & set(exports.values())
                write_atomically(path, [archive(f"{path.stem}.o", image, seen)], _MODE)
            case _:
                write_atomically(path, [image], _MODE)


def _names(
    name: str, objects: Sequence[bytes], data: Mapping[str, bytes], exports: Mapping[str, str]
) -> dict[str, str]:
    """The new name of each symbol. What the objects only use is the C library's, and stays."""
    try:
        defined = set(data).union(*(ElfObject(each).defined() for each in objects))
    except ValueError as error:
        raise RelayError(rule="link-failed", message="the linker refused the object files", found=str(error)) from None
    return {each: exports.get(each, f"{name}.{each}") for each in sorted(defined)}


def _objects_in(
    folder: Path,
    objects: Sequence[bytes],
    target: CpuTarget,
    names: Mapping[str, str],
    exports: Mapping[str, str],
    data: Mapping[str, bytes],
) -> list[str]:
    """Files of the objects, with their new names."""
    seen = frozenset(exports.values())
    files = [folder / f"{number:04}.o" for number in range(len(objects))]
    for file, image in zip(files, objects, strict=True):
        file.write_bytes(ElfObject(image).renamed(names, seen))
    if data:
        files.append(folder / "data.o")
        hidden = {names[each]: content for each, content in data.items()}
        write_data_object(files[-1], hidden, emit_object("", target))
    return list(map(str, files))


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


def _link_shared(linker: Sequence[str], objects: Sequence[str], library: Path, target: CpuTarget) -> None:
    """Link with the linker alone, which takes milliseconds: no start files are needed, and what the library asks of the
    C library is only named, by stand-ins that have the right names and nothing inside."""
    needed: list[str] = []
    empty = library.parent / "empty.o"
    empty.write_bytes(emit_object("", target))
    for soname in _C_LIBRARIES["musl" if "musl" in target.triple else "gnu"]:
        stand_in = library.parent / f"stand-in-{soname}"
        run_linker([*linker, "-shared", "-soname", soname, "-o", str(stand_in), str(empty)])
        needed.append(str(stand_in))
    options = ["-shared", "-s", "-Bsymbolic", "--build-id=none", "--hash-style=both", "--no-as-needed"]
    options += ["-z", "nodelete", "-z", "noexecstack"]
    run_linker([*linker, *options, "-soname", library.name, "-o", str(library), *objects, *needed])

"""Shared libraries that `export` wrote, loaded into Python.

They show what programs in C call, and `relay_library`: a table of what Python needs of them.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Mapping
from pathlib import Path

from relay.base.diagnostics import RelayError
from relay.runtime.artefact.library_file import what_is_wrong
from relay.runtime.artefact.manifest import Manifest
from relay.runtime.call.native import NativeCode, exported_symbols
from relay.runtime.cpython.quick_build import BUILD_SYMBOL
from relay.runtime.cpython.quick_call import CALL_SYMBOL
from relay.runtime.devices.connected import connect
from relay.runtime.memory.mapped import Constants
from relay.runtime.memory.stopping import LIMIT_SYMBOLS, STOP_SYMBOLS, add_stops
from relay.runtime.memory.threads import POOL_SYMBOLS, add_pool

TABLE_SYMBOL = "relay_library"


class _Table(ctypes.Structure):
    """What stands at `relay_library`: the addresses of `library_symbols` follow it."""

    _fields_ = (
        ("manifest", ctypes.c_void_p),
        ("manifest_bytes", ctypes.c_uint64),
        ("constants", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
    )


def library_symbols(manifest: Manifest) -> tuple[str, ...]:
    """What Python calls of a library, in the order of its table."""
    return (*exported_symbols(manifest), CALL_SYMBOL, BUILD_SYMBOL, *POOL_SYMBOLS, *STOP_SYMBOLS, *LIMIT_SYMBOLS)


def load_shared_library(path: Path) -> tuple[NativeCode, Manifest]:
    """Open a shared library that `export` wrote. Raises `RelayError` (rule `bad-artefact`) for any other."""
    try:
        wrong = what_is_wrong(path)
        if wrong:
            raise ValueError(wrong)
        library = _open(path)
        table = _Table.in_dll(library, TABLE_SYMBOL)
    except (OSError, ValueError) as error:
        raise _refused(path, str(error)) from error
    manifest = Manifest.from_json(ctypes.string_at(table.manifest, table.manifest_bytes))
    addresses = _addresses(path, table, library_symbols(manifest))
    add_pool(addresses.__getitem__)
    add_stops(addresses.__getitem__)
    devices = connect(manifest.devices, addresses.__getitem__)
    return NativeCode(addresses.__getitem__, Constants(table.constants, library), library, devices), manifest


def _addresses(path: Path, table: _Table, symbols: tuple[str, ...]) -> Mapping[str, int]:
    if table.count != len(symbols):
        raise _refused(path, f"a table of {table.count} functions in place of {len(symbols)}")
    words = (ctypes.c_uint64 * table.count).from_address(ctypes.addressof(table) + ctypes.sizeof(_Table))
    return dict(zip(symbols, words, strict=True))


def _open(path: Path) -> ctypes.CDLL:
    """Opened under a name never used before: the loader knows libraries by their names, so under the old name a file
    that was written anew would go on being the old library."""
    with tempfile.TemporaryDirectory(prefix="relay-load-") as folder:
        alias = Path(folder, path.name)
        alias.symlink_to(path.resolve())
        return ctypes.CDLL(str(alias))


def _refused(path: Path, found: str) -> RelayError:
    return RelayError(
        rule="bad-artefact",
        message=f"{path} is not a shared library that relay exported for this machine",
        found=found,
        remedy="load the file that `export` or `relay compile` wrote, as it is",
    )

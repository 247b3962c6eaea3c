"""Native entries by name, whether they come from an artefact's objects or from a shared library.

Every entry has the signature

    int32 entry(void **buffers, const int64 *symbols, void *workspace, const void *constants)

where buffers are inputs then outputs. It gives a status: 0 is success, k > 0 the k-th failure of the manifest, -1 out
of memory.
"""

from __future__ import annotations

import ctypes
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.device_spec import CLOSE_SYMBOL, slot_symbol
from relay.runtime.artefact.elf import what_is_missing
from relay.runtime.artefact.manifest import Manifest, entry_symbol
from relay.runtime.cpython.quick_build import BUILD_SYMBOL
from relay.runtime.cpython.quick_call import CALL_SYMBOL
from relay.runtime.devices.connected import Connected, connect
from relay.runtime.memory.mapped import Constants
from relay.runtime.memory.objects import load_objects, load_support
from relay.runtime.memory.threads import add_pool

NativeEntry: TypeAlias = Callable[[Any, Any, int, int], int]
_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def apply_symbol(arity: int) -> str:
    """The entry that calls a function which crosses the boundary: its buffers are the closure, then the arguments."""
    return entry_symbol(f"apply${arity}")


def host_symbol(arity: int) -> str:
    """Where the code stands of closures that call Python."""
    return f"relay_host${arity}"


HEAP_SYMBOLS = ("relay_heap_drop_result", "relay_heap_close", "relay_heap_misuses")
"""What the objects of a program with a heap export beside its entries."""


@frozen(eq=False)
class NativeCode:
    """Where symbols are, what keeps them there (the library or the objects), the constants, and devices."""

    address: Callable[[str], int]
    constants: Constants
    owner: object
    devices: Connected = Connected()

    def entry(self, symbol: str) -> NativeEntry:
        """The entry as a Python function of four addresses that gives its status. It runs without Python's lock."""
        return _SIGNATURE(self.address(symbol))

    def heap_function(self, symbol: str) -> Callable[[int], int]:
        """A function of a heap's address."""
        return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self.address(symbol))


def exported_symbols(manifest: Manifest) -> list[str]:
    """What the objects of an artefact export that Python calls."""
    symbols = [entry.native_symbol for entry in manifest.entries]
    if manifest.labels:
        symbols += HEAP_SYMBOLS
    if manifest.devices:
        symbols += [CLOSE_SYMBOL, *map(slot_symbol, range(len(manifest.devices)))]
    return symbols + [symbol(arity) for arity in manifest.arities for symbol in (apply_symbol, host_symbol)]


def load_artefact_code(artefact: Artefact) -> NativeCode:
    """Load the objects of an artefact into this process."""
    support = load_support(artefact.support)
    objects = load_objects(artefact.objects, exported_symbols(artefact.manifest), support.addresses)
    library = {symbol: support.address(symbol) for symbol in (CALL_SYMBOL, BUILD_SYMBOL)}

    def address(symbol: str) -> int:
        return library[symbol] if symbol in library else objects.address(symbol)

    devices = connect(artefact.manifest.devices, address)
    if devices.close is not None:
        weakref.finalize(objects, devices.close).atexit = False  # before the objects are unloaded
    return NativeCode(address, Constants.of(artefact, support), objects, devices)


def load_shared_library(path: Path) -> tuple[NativeCode, Manifest]:
    """Open a shared library that `export` wrote. Raises `RelayError` (rule `bad-artefact`) for any other."""
    try:
        missing = what_is_missing(path)
        if missing:
            raise ValueError(f"it lacks {missing}")
        library = _open_library(path)
        manifest_bytes = ctypes.c_uint64.in_dll(library, "relay_manifest_bytes").value
        start = ctypes.addressof(ctypes.c_char.in_dll(library, "relay_manifest"))
        constants = ctypes.addressof(ctypes.c_char.in_dll(library, "relay_constants"))
    except (OSError, ValueError) as error:
        raise RelayError(
            rule="bad-artefact",
            message=f"{path} is not a shared library that relay exported for this machine",
            found=str(error),
            remedy="load what `export` or `relay compile` wrote",
        ) from error
    manifest = Manifest.from_json(ctypes.string_at(start, manifest_bytes))

    def address(symbol: str) -> int:
        try:
            return ctypes.cast(library[symbol], ctypes.c_void_p).value or 0
        except AttributeError as error:
            raise RelayError(
                rule="bad-artefact", message=f"{path} lacks the code of one of its functions", found=symbol
            ) from error

    add_pool(address)
    return NativeCode(address, Constants(constants, library), library, connect(manifest.devices, address)), manifest


def _open_library(path: Path) -> ctypes.CDLL:
    """Opened under a name never used before: the loader knows libraries by their names, so under the old name a file
    that was written anew would go on being the old library."""
    with tempfile.TemporaryDirectory(prefix="relay-load-") as folder:
        alias = Path(folder, path.name)
        alias.symlink_to(path.resolve())
        return ctypes.CDLL(str(alias))

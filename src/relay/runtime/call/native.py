"""Native entries by name, whether they come from an artefact's objects or from a shared library.

Every entry has the signature

    int32 entry(void **buffers, const int64 *symbols, void *workspace, const void *constants)

where buffers are inputs then outputs. It gives a status: 0 is success, k > 0 the k-th failure of the manifest, -1 out
of memory.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

from relay.base.frozen import frozen
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.device_spec import CLOSE_SYMBOL, slot_symbol
from relay.runtime.artefact.manifest import Manifest, entry_symbol
from relay.runtime.cpython.quick_build import BUILD_SYMBOL
from relay.runtime.cpython.quick_call import CALL_SYMBOL
from relay.runtime.devices.connected import Connected, connect
from relay.runtime.memory.mapped import Constants
from relay.runtime.memory.objects import load_objects, load_support
from relay.runtime.memory.stopping import LIMIT_SYMBOLS

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
    library = {symbol: support.address(symbol) for symbol in (CALL_SYMBOL, BUILD_SYMBOL, *LIMIT_SYMBOLS)}

    def address(symbol: str) -> int:
        return library[symbol] if symbol in library else objects.address(symbol)

    devices = connect(artefact.manifest.devices, address)
    if devices.close is not None:
        weakref.finalize(objects, devices.close).atexit = False  # before the objects are unloaded
    return NativeCode(address, Constants.of(artefact, support), objects, devices)

"""Object code loaded into this process.

Objects are linked in this process by LLVM's JITLink, which needs no compiler. What they call and do not define is
looked up in `imports`, then among the symbols of the process (the C library).

JITLink keeps the code and the data of an object together, and calls others through addresses. RuntimeDyld, before it,
asked the system for each section: in a process of gigabytes they could lie too far apart for the code, which ended it.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import llvmlite.binding as llvm

from relay.base.diagnostics import CompilerBug, RelayError
from relay.runtime.memory.stopping import LIMIT_SYMBOLS, STOP_SYMBOLS, add_stops, stop_on_interrupts
from relay.runtime.memory.threads import add_pool

SUPPORT_SYMBOLS = (
    "relay_alloc", "relay_free", "relay_parallel_for", "relay_set_num_threads", "relay_num_threads",
    "relay_limit_threads", "relay_set_pinning", "relay_call", "relay_build", "relay_watch", "relay_unwatch",
    "relay_stop_asked", "relay_stop_now", "relay_stop_step", "relay_stop_allows", "relay_stop_begin",
    "relay_stop_owner", *STOP_SYMBOLS, *LIMIT_SYMBOLS,
)  # fmt: skip
"""What the support library exports."""

NO_IMPORTS: Mapping[str, int] = MappingProxyType({})


class LoadedObjects:
    """Addresses of exported symbols. The code is unloaded when this is garbage: whoever keeps an address keeps this.

    Each has a linker of its own: one that many shared would keep 10 KB of every load, of symbols and of libraries,
    until the process ends.
    """

    __slots__ = ("__weakref__", "addresses")

    def __init__(
        self, linker: llvm.orcjit.LLJIT, tracker: llvm.orcjit.ResourceTracker, addresses: Mapping[str, int]
    ) -> None:
        self.addresses = addresses
        weakref.finalize(self, _unload, linker, tracker).atexit = False  # threads of the pool run to the end

    def address(self, name: str) -> int:
        """The address of an exported symbol. Raises `RelayError` (rule `no-such-symbol`)."""
        if name not in self.addresses:
            raise RelayError(
                rule="no-such-symbol",
                message="the loaded code does not export this symbol",
                expected="one of " + ", ".join(sorted(self.addresses)[:20]),
                found=name,
            )
        return self.addresses[name]


def _unload(linker: llvm.orcjit.LLJIT, tracker: llvm.orcjit.ResourceTracker) -> None:
    """The code first, then the linker that holds it."""
    tracker.close()
    linker.close()


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def load_objects(
    objects: Sequence[bytes], exports: Iterable[str], imports: Mapping[str, int] = NO_IMPORTS
) -> LoadedObjects:
    """Link `objects` with each other and into this process, and find the addresses of `exports`.

    Raises `RelayError` (rule `cannot-load-objects`) for damaged objects, those of another machine, missing symbols.
    """
    _initialize()
    names = sorted(exports)
    builder = llvm.JITLibraryBuilder()
    for image in objects:
        builder.add_object_img(image)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    builder.add_current_process()
    for name in names:
        builder.export_symbol(name)
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="small")
    linker = llvm.create_lljit_compiler(machine, use_jit_link=True)
    try:
        tracker = builder.link(linker, "relay")
    except RuntimeError as error:
        raise RelayError(
            rule="cannot-load-objects",
            message="the object code cannot be linked into this process",
            expected="objects for this machine that define " + ", ".join(names[:20]),
            found=str(error).strip(),
            remedy="build it again on this machine, or load the artefact with the version that made it",
        ) from None
    return LoadedObjects(linker, tracker, MappingProxyType({name: tracker[name] for name in names}))


class _Support:
    """The support library of the process. It is never unloaded: the threads of its pool run its code to the end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.loaded: LoadedObjects | None = None

    def load(self, image: bytes) -> LoadedObjects:
        with self._lock:
            if self.loaded is None:
                self.loaded = load_objects([image], SUPPORT_SYMBOLS)
                add_pool(self.loaded.address)
                add_stops(self.loaded.address)
            else:
                stop_on_interrupts()
        return self.loaded


@cache
def _support() -> _Support:
    return _Support()


def load_support(image: bytes) -> LoadedObjects:
    """The process's one support library (allocator, thread pool): `image` if it is the first, else the one there is."""
    return _support().load(image)


def pool_threads() -> int:
    """How many threads the process's pool uses, once a support library has been loaded."""
    loaded = _support().loaded
    if loaded is None:
        raise CompilerBug("runtime", "the thread pool is asked before it is loaded")
    return int(ctypes.CFUNCTYPE(ctypes.c_int32)(loaded.address("relay_num_threads"))())

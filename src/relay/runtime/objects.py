"""Object code loaded into this process.

Objects are linked by LLVM's in-process linker, which needs no compiler. What they call and do not define is looked up
in `imports`, then among the symbols of the process (the C library).
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import llvmlite.binding as llvm

from relay.base.diagnostics import CompilerBug, RelayError
from relay.runtime.threads import add_pool

SUPPORT_SYMBOLS = (
    "relay_alloc", "relay_free", "relay_parallel_for", "relay_set_num_threads", "relay_num_threads",
    "relay_limit_threads", "relay_set_pinning", "relay_allocation_failures", "relay_call", "relay_build",
)  # fmt: skip
"""What the support library exports."""

NO_IMPORTS: Mapping[str, int] = MappingProxyType({})


class LoadedObjects:
    """Addresses of exported symbols. The code is unloaded when this is garbage: whoever keeps an address keeps this."""

    __slots__ = ("__weakref__", "_tracker", "addresses")

    def __init__(self, tracker: llvm.orcjit.ResourceTracker, addresses: Mapping[str, int]) -> None:
        self._tracker = tracker
        self.addresses = addresses

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


class _Linker:
    """LLVM's in-process linker. There is one, and it is never disposed of: the threads of the support library's pool
    run code that it holds until the process ends."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="small")
        self._jit = llvm.create_lljit_compiler(machine)
        # so that llvmlite never disposes of it
        self._jit._owned = True  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._support: LoadedObjects | None = None

    def link(self, objects: Sequence[bytes], exports: Iterable[str], imports: Mapping[str, int]) -> LoadedObjects:
        names = sorted(exports)
        builder = llvm.JITLibraryBuilder()
        for image in objects:
            builder.add_object_img(image)
        for name, address in imports.items():
            builder.import_symbol(name, address)
        builder.add_current_process()
        for name in names:
            builder.export_symbol(name)
        with self._lock:
            try:
                tracker = builder.link(self._jit, f"relay{next(self._numbers)}")
            except RuntimeError as error:
                raise RelayError(
                    rule="cannot-load-objects",
                    message="the object code cannot be linked into this process",
                    expected="objects for this machine that define " + ", ".join(names[:20]),
                    found=str(error).strip(),
                    remedy="build it again on this machine, or load the artefact with the version that made it",
                ) from None
        return LoadedObjects(tracker, MappingProxyType({name: tracker[name] for name in names}))

    def support(self, image: bytes) -> LoadedObjects:
        if self._support is None:
            loaded = self.link([image], SUPPORT_SYMBOLS, NO_IMPORTS)
            with self._lock:
                self._support = self._support or loaded
            add_pool(self._support.address)
        return self._support

    def threads(self) -> int:
        if self._support is None:
            raise CompilerBug("runtime", "the thread pool is asked before it is loaded")
        return int(ctypes.CFUNCTYPE(ctypes.c_int32)(self._support.address("relay_num_threads"))())


@cache
def _linker() -> _Linker:
    return _Linker()


def load_objects(
    objects: Sequence[bytes], exports: Iterable[str], imports: Mapping[str, int] = NO_IMPORTS
) -> LoadedObjects:
    """Link `objects` with each other and into this process, and find the addresses of `exports`.

    Raises `RelayError` (rule `cannot-load-objects`) for damaged objects, those of another machine, missing symbols.
    """
    return _linker().link(objects, exports, imports)


def load_support(image: bytes) -> LoadedObjects:
    """The process's one support library (allocator, thread pool): `image` if it is the first, else the one there is."""
    return _linker().support(image)


def pool_threads() -> int:
    """How many threads the process's pool uses, once a support library has been loaded."""
    return _linker().threads()

"""Constants that lie in a mapped file. When somebody cuts that file short, calls end in an error, not in a signal."""

from __future__ import annotations

import ctypes
import weakref

from relay.base.diagnostics import RelayError
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.memory.objects import LoadedObjects

WATCH_SYMBOL, UNWATCH_SYMBOL = "relay_watch", "relay_unwatch"
_WATCH = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
_UNWATCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Constants:
    """The bytes in which native code finds its constants, and whether all of them are still there.

    `lost_address` is where native code looks for that: an int64, 0 as long as nothing was lost.
    """

    __slots__ = ("__weakref__", "_lost", "_owner", "address", "lost_address")

    def __init__(self, address: int, owner: object) -> None:
        self.address = address
        self._owner = owner
        self._lost = ctypes.c_int64(0)
        self.lost_address = ctypes.addressof(self._lost)

    @classmethod
    def of(cls, artefact: Artefact, support: LoadedObjects) -> Constants:
        """Those of an artefact, which are watched over where they are mapped."""
        array = artefact.constants
        made = cls(array.ctypes.data, array)
        watched = _WATCH(support.address(WATCH_SYMBOL))(made.address, array.nbytes) if artefact.is_mapped else None
        if watched is not None:
            made._lost, made.lost_address = ctypes.c_int64.from_address(watched), watched
            weakref.finalize(made, _UNWATCH(support.address(UNWATCH_SYMBOL)), watched).atexit = False
        return made

    def check(self) -> None:
        """Raises `RelayError` (rule `artefact-lost`) when a part of the file was not there when it was read."""
        if self._lost.value:
            raise RelayError(
                rule="artefact-lost",
                message="the file of this model was cut short while it was in use",
                found="constants that are no longer in it; what was computed from them is worth nothing",
                remedy="write models to a new file and rename it, as `save` does, and load the model again",
            )

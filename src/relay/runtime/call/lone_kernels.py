"""Kernels that Python calls one by one: they may be told to end, as whole programs are."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from relay.runtime.artefact.status import stopped


class LoneKernels:
    """What tells whether kernels were told to end; `address` gives symbols of their support library."""

    __slots__ = ("_asked", "_begin", "_now")

    def __init__(self, address: Callable[[str], int]) -> None:
        self._asked = ctypes.c_int32.from_address(address("relay_stop_asked"))
        self._begin = ctypes.CFUNCTYPE(None)(address("relay_stop_begin"))
        self._now = ctypes.CFUNCTYPE(ctypes.c_int32)(address("relay_stop_now"))

    def begin(self) -> None:
        """What was asked before is over. To be called before the first of some kernels."""
        self._begin()

    def check(self, name: str) -> None:
        """To be called after each kernel of `name`, which has not made its results if it was told to end.

        Raises `RelayError`: `interrupted`, `timed-out`.
        """
        if self._asked.value:
            error = stopped(name, self._now())
            if error is not None:
                raise error

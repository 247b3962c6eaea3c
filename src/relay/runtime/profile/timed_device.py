"""A device as a profile sees it: what its regions launch runs one after another, each timed by the device's own events,
and what goes there and back by the host's clock.

Native code is given this device's table in place of the other's. It is the same, but that a recording is one for each
launch, and a submission waits for each. The events before and behind a launch tell how long the device was at it;
where the device does not know, the host's clock does.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from relay.base.frozen import frozen
from relay.runtime.devices.device import OpenedDevice
from relay.runtime.devices.table import DONE, FUNCTIONS, NOT_YET, Command, DeviceTable

WAIT_NANOSECONDS = 100_000_000
Note: TypeAlias = Callable[[str, int, int], None]
"""Told what a device did, and when that began and ended, in nanoseconds of the monotonic clock."""

TRANSFERS = {"upload": "upload to", "download": "download from", "copy": "copy on"}
"""The functions of a table that move bytes, and what a profile calls that, before the device's name."""


@frozen
class _Parts:
    """A recording of nothing, and one for each launch of another."""

    empty: int
    launches: tuple[tuple[str, int], ...]


class TimedDevice:
    """`note` is told of every launch and every transfer that ends well, as of the device `name`."""

    def __init__(self, device: OpenedDevice, name: str, note: Note) -> None:
        self._device = device
        self._name = name
        self._note = note
        self._inner = DeviceTable.from_address(device.table_address)
        self._recordings: dict[int, _Parts] = {}
        self._table = DeviceTable.from_buffer_copy(self._inner)
        for name in ("record", "submit", "release"):
            setattr(self._table, name, FUNCTIONS[name](getattr(self, f"_{name}")))
        for function, told in TRANSFERS.items():
            setattr(self._table, function, FUNCTIONS[function](self._timed(function, f"{told} {self._name}")))

    @property
    def table_address(self) -> int:
        return ctypes.addressof(self._table)

    def _timed(self, function: str, what: str) -> Callable[..., int]:
        inner: Callable[..., int] = getattr(self._inner, function)

        def transfer(*given: Any) -> int:
            began = time.monotonic_ns()
            status = inner(*given)
            if not status:
                self._note(what, began, time.monotonic_ns())
            return status

        return transfer

    def _record(self, context: int | None, commands: Any, count: int) -> int:
        inner, size = self._inner, ctypes.sizeof(Command)
        whole = inner.record(context, commands, count)
        first = ctypes.addressof(commands[0]) if count else 0
        launches = tuple(
            (commands[i].entry.decode(), inner.record(context, ctypes.cast(first + i * size, type(commands)), 1))
            for i in range(count)
        )
        if whole and all(each for _, each in launches):
            self._recordings[whole] = _Parts(inner.record(context, commands, 0), launches)
        return whole

    def _submit(self, context: int | None, recording: int, *given: Any) -> int:
        """Gives the event of the last launch, or of the one that did not come to its end."""
        parts = self._recordings[recording]
        event = self._inner.submit(context, parts.empty, *given)
        for entry, launch in parts.launches:
            if not event or self._wait(context, event) != DONE:
                break
            began = time.monotonic_ns()
            before, event = event, self._inner.submit(context, launch, *given)
            if event and self._wait(context, event) == DONE:
                ended, taken = time.monotonic_ns(), self._inner.nanoseconds_between(context, before, event)
                self._note(f"{entry} on {self._name}", began if taken < 0 else ended - taken, ended)
            self._inner.release(context, before)
        return event

    def _wait(self, context: int | None, event: int) -> int:
        state = NOT_YET
        while state == NOT_YET and not self._inner.is_lost(context):
            state = self._inner.wait(context, event, WAIT_NANOSECONDS)
        return state

    def _release(self, context: int | None, handle: int) -> None:
        parts = self._recordings.pop(handle, None)
        for each in () if parts is None else (parts.empty, *(launch for _, launch in parts.launches)):
            self._inner.release(context, each)
        self._inner.release(context, handle)

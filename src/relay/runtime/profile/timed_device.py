"""A device as a profile sees it: what its regions launch runs one after another, each timed by the device's own events,
and the regions themselves, and what goes there and back, by the host's clock.

Native code is given this device's table in place of the other's. It is the same, but that a recording is one for each
launch, and a submission waits for each. The events before and behind a launch tell how long the device was at it;
where the device does not know, the host's clock does.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeAlias

from relay.base.frozen import frozen
from relay.runtime.devices.device import OpenedDevice
from relay.runtime.devices.table import DONE, FUNCTIONS, NOT_YET, Command, copy_of_table

WAIT_NANOSECONDS = 100_000_000


class DeviceWork(StrEnum):
    """What a device is asked for, as a profile says it before its name. Transfers are named after the functions
    of its table."""

    LAUNCH = "on"
    REGION = "region on"
    UPLOAD = "upload to"
    DOWNLOAD = "download from"
    COPY = "copy on"
    COPY_FROM = "copy from another device to"


TRANSFERS = DeviceWork.UPLOAD, DeviceWork.DOWNLOAD, DeviceWork.COPY, DeviceWork.COPY_FROM


@frozen
class OnDevice:
    """What a device does: `name` is that of the entry that is launched, or of the region; empty for transfers."""

    work: DeviceWork
    device: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.work} {self.device}".lstrip()


Note: TypeAlias = Callable[[OnDevice, int, int, int], None]
"""Told what a device did, when that began and ended, in nanoseconds of the monotonic clock, and how many bytes it
moved."""


@frozen
class _Parts:
    """A recording of nothing, and one for each launch of another."""

    empty: int
    launches: tuple[tuple[str, int], ...]


class TimedDevice:
    """`note` is told of every region, and every launch and every transfer that ends well, as of the device `name`."""

    def __init__(self, device: OpenedDevice, name: str, note: Note) -> None:
        self._device = device
        self._name = name
        self._note = note
        self._inner = copy_of_table(device.table_address)
        self._recordings: dict[int, _Parts] = {}
        self._region = ("", 0)
        self._table = copy_of_table(device.table_address)
        for function in ("record", "submit", "release", "begin_region", "end_region"):
            setattr(self._table, function, FUNCTIONS[function](getattr(self, f"_{function}")))
        for work in TRANSFERS:
            function = work.name.lower()
            if getattr(self._inner, function):
                setattr(self._table, function, FUNCTIONS[function](self._timed(function, OnDevice(work, name))))

    @property
    def table_address(self) -> int:
        return ctypes.addressof(self._table)

    def _begin_region(self, context: int | None, name: bytes) -> None:
        """Regions of a program run one at a time on a device."""
        if self._inner.begin_region:
            self._inner.begin_region(context, name)
        self._region = name.decode(), time.monotonic_ns()

    def _end_region(self, context: int | None) -> None:
        name, began = self._region
        self._note(OnDevice(DeviceWork.REGION, self._name, name), began, time.monotonic_ns(), 0)
        if self._inner.end_region:
            self._inner.end_region(context)

    def _timed(self, function: str, what: OnDevice) -> Callable[..., int]:
        inner: Callable[..., int] = getattr(self._inner, function)

        def transfer(*given: Any) -> int:
            began = time.monotonic_ns()
            status = inner(*given)
            if not status:
                self._note(what, began, time.monotonic_ns(), given[-1])
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
                launched = OnDevice(DeviceWork.LAUNCH, self._name, entry)
                self._note(launched, began if taken < 0 else ended - taken, ended, 0)
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

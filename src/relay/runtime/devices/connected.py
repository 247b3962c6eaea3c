"""Connecting the native code of a program to the devices that it uses."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from relay.base.diagnostics import RelayError
from relay.runtime.artefact.device_spec import CLOSE_SYMBOL, DeviceSpec, slot_symbol
from relay.runtime.artefact.status import DEVICE_FAILED, DEVICE_INTERRUPTED, DEVICE_MISSING
from relay.runtime.devices.device import OpenedDevice, PythonDevice
from relay.runtime.devices.registry import forget_after_fork, is_lost, last_error, open_device


class _Slot(ctypes.Structure):
    """How a `device_slot` begins (`support/device/slot.h`)."""

    _fields_ = (("table", ctypes.c_uint64), ("interrupted", ctypes.c_uint64))


class Connected:
    """The devices of a loaded program, and how it gives back what it has of them."""

    def __init__(
        self,
        devices: Sequence[tuple[DeviceSpec, OpenedDevice]] = (),
        slots: Sequence[_Slot] = (),
        close: Callable[[], None] | None = None,
    ) -> None:
        self.devices = tuple(devices)
        self.close = close
        self._slots = tuple(slots)
        self._is_forked = False

    def disconnect(self) -> None:
        """Use no device any more: this is another process than the one that has them open."""
        self._is_forked = True
        for slot in self._slots:
            slot.table = 0

    def failure(self, entry: str, status: int) -> RelayError | None:
        """What to raise for a status that speaks of devices; None for others. Raises what ended the call, where that is
        no fault of a device: Ctrl-C, or what a device that is written in Python did not want to catch."""
        if status == DEVICE_INTERRUPTED:
            signal.raise_signal(signal.SIGINT)  # who handles it may go on
            return _failed(entry, "device-interrupted", "did not wait for its device", "Ctrl-C", "call it again")
        if status == DEVICE_MISSING and self._is_forked:
            found = ", ".join(str(spec) for spec, _ in self.devices)
            what = "has devices that only the process before the fork can use"
            return _failed(entry, "device-forked", what, found, "load the program in the process that runs it")
        if status == DEVICE_MISSING:
            what = "has a part for a device, and none is connected"
            return _failed(entry, "device-failed", what, "", "load the program where its devices are known")
        return self._device_failure(entry) if status == DEVICE_FAILED else None

    def _device_failure(self, entry: str) -> RelayError:
        for _, device in self.devices:
            if isinstance(device, PythonDevice):
                device.raise_what_is_no_error()
        found = "; ".join(f"{spec}: {text}" for spec, device in self.devices if (text := last_error(device)))
        if not found:
            named = [str(spec) for spec, _ in self.devices]
            found = f"{named[0]} gives no reason" if len(named) == 1 else f"none of {', '.join(named)} gives a reason"
        lost = [str(spec) for spec, device in self.devices if is_lost(device)]
        if lost:
            remedy = "load the program again, which opens the device anew"
            return _failed(entry, "device-lost", f"has lost {', '.join(lost)}", found, remedy)
        remedy = "run the program again without the device, to see whether it is its fault"
        what = "could not run its part on a device"
        return _failed(entry, "device-failed", what, found, remedy)


def _failed(entry: str, rule: str, what: str, found: str, remedy: str) -> RelayError:
    return RelayError(rule=rule, message=f"`{entry}` {what}", found=found, remedy=remedy)


Around: TypeAlias = Callable[[DeviceSpec, OpenedDevice], OpenedDevice]
"""What a program is given in place of a device."""


def connect(
    specs: Sequence[DeviceSpec], address: Callable[[str], int], around: Around = lambda _, device: device
) -> Connected:
    """Open the devices and tell the program; `address` finds its symbols. Raises what `open_device` raises."""
    if not specs:
        return Connected()
    opened = tuple((each, around(each, open_device(each.kind, each.index))) for each in specs)
    slots = [_Slot.from_address(address(slot_symbol(position))) for position in range(len(specs))]
    for slot, (_, device) in zip(slots, opened, strict=True):
        slot.table = device.table_address
        slot.interrupted = ctypes.cast(_interrupted(), ctypes.c_void_p).value or 0
    connected = Connected(opened, slots, ctypes.CFUNCTYPE(None)(address(CLOSE_SYMBOL)))
    forget_after_fork(connected)
    return connected


@cache
def _interrupted() -> Any:
    """A C function that tells once that Ctrl-C was pressed, to the thread that would handle it. No Python runs for it,
    which would handle it there and then."""
    return ctypes.CFUNCTYPE(ctypes.c_int32)(ctypes.pythonapi.PyOS_InterruptOccurred)

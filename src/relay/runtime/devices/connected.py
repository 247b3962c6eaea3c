"""Connecting the native code of a program to the devices that it uses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.runtime.artefact.device_spec import CLOSE_SYMBOL, DeviceSpec, slot_symbol
from relay.runtime.artefact.status import DEVICE_FAILED, DEVICE_MISSING
from relay.runtime.devices.device import OpenedDevice
from relay.runtime.devices.registry import last_error, open_device


@frozen(eq=False)
class Connected:
    """The devices of a loaded program, and how it gives back what it has of them."""

    devices: tuple[tuple[DeviceSpec, OpenedDevice], ...] = ()
    close: Callable[[], None] | None = None

    def failure(self, entry: str, status: int) -> RelayError | None:
        """What to raise for a status that speaks of devices; None for others."""
        if status not in (DEVICE_FAILED, DEVICE_MISSING):
            return None
        found = [f"{spec}: {text}" for spec, device in self.devices if (text := last_error(device))]
        return RelayError(
            rule="device-failed",
            message=f"`{entry}` could not run its part on a device",
            found="; ".join(found) or "no device was connected" if status == DEVICE_MISSING else "; ".join(found),
            remedy="run the program again without the device, to see whether it is its fault",
        )


def connect(specs: Sequence[DeviceSpec], address: Callable[[str], int]) -> Connected:
    """Open the devices and tell the program; `address` finds its symbols. Raises what `open_device` raises."""
    opened = tuple((each, open_device(each.kind, each.index)) for each in specs)
    for position, (_, device) in enumerate(opened):
        ctypes.c_uint64.from_address(address(slot_symbol(position))).value = device.table_address
    close = ctypes.CFUNCTYPE(None)(address(CLOSE_SYMBOL)) if opened else None
    return Connected(opened, close)

"""The devices that a process can use: kinds by name, each device opened once.

Kinds come from the entry points of installed packages, group `relay.devices`, whose value is a function of an index
that opens a device; or a program registers one. Nothing is imported before a program needs a device of its kind.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, Protocol, TypeAlias
from weakref import WeakSet

from relay.base.arguments import CALLABLE, FLAG, TEXT, takes
from relay.base.diagnostics import RelayError
from relay.base.span import caller_span
from relay.runtime.devices.device import OpenedDevice
from relay.runtime.devices.table import DEVICE_VERSION, LEAST_BYTES, DeviceTable

GROUP = "relay.devices"
Opener: TypeAlias = Callable[[int], OpenedDevice]
"""Opens the device with an index, counted from 0. Raises what the user should read where there is none."""


class Disconnectable(Protocol):
    """What has devices of this process."""

    def disconnect(self) -> None:
        """Use them no more."""
        ...


class _Devices:
    def __init__(self) -> None:
        self._lock = Lock()
        self._registered: dict[str, Opener] = {}
        self._opened: dict[tuple[str, int], OpenedDevice] = {}
        self._users: WeakSet[Disconnectable] = WeakSet()
        os.register_at_fork(after_in_child=self._forget)

    def watch(self, user: Disconnectable) -> None:
        self._users.add(user)

    def _forget(self) -> None:
        """A child of this process has none of its devices."""
        self._lock = Lock()
        self._opened = {}
        for each in list(self._users):
            each.disconnect()

    def register(self, kind: str, opener: Opener, *, replace: bool) -> None:
        with self._lock:
            if kind in self._registered and not replace:
                raise RelayError(
                    rule="device-exists",
                    message=f"devices of the kind `{kind}` are registered already",
                    span=caller_span(),
                    remedy="give replace=True to put this one in their place",
                )
            self._registered[kind] = opener
            self._opened = {key: each for key, each in self._opened.items() if key[0] != kind}

    def open(self, kind: str, index: int) -> OpenedDevice:
        with self._lock:
            opened = self._opened.get((kind, index))
            if opened is None or is_lost(opened):
                opened = self._opened[kind, index] = _checked(kind, index, self._opener(kind))
            return opened

    def _opener(self, kind: str) -> Opener:
        if kind in self._registered:
            return self._registered[kind]
        from importlib.metadata import entry_points  # takes milliseconds, and programs of this processor do without

        installed = entry_points(group=GROUP)
        if kind not in installed.names:
            known = sorted({*self._registered, *installed.names})
            raise RelayError(
                rule="no-device",
                message=f"this process knows no devices of the kind `{kind}`",
                expected=", ".join(known) or "a kind: none is installed or registered",
                found=kind,
                remedy="install the package that brings it, or call relay.register_device",
            )
        try:
            return installed[kind].load()
        except Exception as error:
            raise _broken(kind, error) from error


def _checked(kind: str, index: int, opener: Opener) -> OpenedDevice:
    try:
        opened: Any = opener(index)
        table = DeviceTable.from_address(opened.table_address)
    except RelayError:
        raise
    except Exception as error:
        raise _broken(kind, error) from error
    if table.version != DEVICE_VERSION or table.table_bytes < LEAST_BYTES:
        raise RelayError(
            rule="device-version",
            message=f"the device {kind}:{index} speaks another version of the table than this relay",
            expected=f"version {DEVICE_VERSION}, at least {LEAST_BYTES} bytes",
            found=f"version {table.version}, {table.table_bytes} bytes",
            remedy="install versions that belong together",
        )
    return opened


def _broken(kind: str, error: Exception) -> RelayError:
    return RelayError(
        rule="broken-device",
        message=f"devices of the kind `{kind}` cannot be opened",
        found=f"{type(error).__name__}: {error}",
        remedy="this is a fault of what brings the device, not of the program",
    )


@cache
def _devices() -> _Devices:
    return _Devices()


@takes(kind=TEXT, opener=CALLABLE, replace=FLAG)
def register_device(kind: str, opener: Opener, *, replace: bool = False) -> None:
    """Let programs use devices of a kind: `opener(index)` opens one, when a program that needs it is loaded.

    Raises `RelayError` (rule `device-exists`) for a kind that was registered before, unless `replace` is given.
    """
    _devices().register(kind, opener, replace=replace)


def open_device(kind: str, index: int = 0) -> OpenedDevice:
    """The device, opened if this is the first time, or again if it was lost. Raises `RelayError`: `no-device`,
    `broken-device`, `device-version`, and what the kind's own opener raises."""
    return _devices().open(kind, index)


def forget_after_fork(user: Disconnectable) -> None:
    """Have somebody use no devices in processes that are forked from this one."""
    _devices().watch(user)


def is_lost(device: OpenedDevice) -> bool:
    """Whether no call of a device will ever succeed again."""
    table = DeviceTable.from_address(device.table_address)
    return bool(table.is_lost(table.context))


def last_error(device: OpenedDevice) -> str:
    """Why the last call of this thread failed; empty where the device does not say."""
    table = DeviceTable.from_address(device.table_address)
    address = table.last_error(table.context)
    return "" if address is None else ctypes.string_at(address).decode(errors="replace")

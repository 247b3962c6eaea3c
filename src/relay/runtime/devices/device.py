"""Devices: what opens as a table of functions, be it a driver's own or one that is written in Python."""

from __future__ import annotations

import ctypes
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Protocol

from relay.base.frozen import frozen
from relay.runtime.devices.table import (
    DEVICE_VERSION,
    DONE,
    FAILED,
    FUNCTIONS,
    NOT_YET,
    Argument,
    Buffer,
    Command,
    DeviceTable,
)


class OpenedDevice(Protocol):
    """A device that a process uses, for as long as this is kept."""

    @property
    def table_address(self) -> int:
        """Where its `relay_device` stands (`device.h`)."""
        ...


@frozen
class LaunchArgument:
    """A place in a buffer, counted from 0 among those of a submission (`offset` is the position, among its scalars, of
    the offset in bytes), or a number of `scalar_bytes` at position `scalar`."""

    is_written: bool
    buffer: int | None
    scalar: int
    scalar_bytes: int


@frozen
class RecordedLaunch:
    """A command of a recording. `grid`, `group` and `group_memory_bytes` are positions among the scalars."""

    module: int
    entry: str
    grid: tuple[int, ...]
    group: tuple[int, ...]
    group_memory_bytes: int
    arguments: tuple[LaunchArgument, ...]


@frozen(eq=False)
class StartedLaunch:
    """A launch as a device runs it. `buffers` are the memory from the place of each buffer argument on, which only what
    is written may change, `scalars` the numbers, both in the order of the arguments."""

    entry: str
    grid: tuple[int, ...]
    group: tuple[int, ...]
    group_memory_bytes: int
    buffers: tuple[memoryview, ...]
    scalars: tuple[int, ...]


class PythonDevice(ABC):
    """A device written in Python: subclasses say how modules are loaded and launches are run; memory is the host's.

    What a subclass raises is the error of the call that native code made; what is no `Exception` (Ctrl-C) ends the call
    of the program. Submissions run at once, one after another.
    """

    def __init__(self) -> None:
        self._handles = count(1)
        self._lock = threading.Lock()
        self._owned: dict[int, Any] = {}  # memory, modules, recordings, events
        self._errors = threading.local()
        self._kept = [kind(self._callback(name)) if hasattr(self, name) else kind() for name, kind in FUNCTIONS.items()]
        self._table = DeviceTable(DEVICE_VERSION, ctypes.sizeof(DeviceTable), id(self), *self._kept)

    @property
    def table_address(self) -> int:
        return ctypes.addressof(self._table)

    # ------------------------------------------------------------------------------------------- what subclasses say

    @abstractmethod
    def load_module(self, form: str, data: bytes) -> object:
        """What launches of a module are run by. Raises for a format that the device does not know."""

    @abstractmethod
    def run(self, module: Any, launch: StartedLaunch) -> None:
        """Run a launch of a module, as `load_module` gave it."""

    # --------------------------------------------------------------------------------------------------- the functions

    def allocate(self, size_bytes: int) -> int:
        return self._own(bytearray(size_bytes))

    def release(self, handle: int) -> None:
        self._owned.pop(handle, None)

    def upload(self, to: int, offset: int, source: int, size_bytes: int) -> int:
        self._bytes(to, offset, size_bytes)[:] = ctypes.string_at(source, size_bytes)
        return DONE

    def download(self, target: int, source: int, offset: int, size_bytes: int) -> int:
        ctypes.memmove(target, bytes(self._bytes(source, offset, size_bytes)), size_bytes)
        return DONE

    def copy(self, to: int, to_offset: int, source: int, offset: int, size_bytes: int) -> int:
        self._bytes(to, to_offset, size_bytes)[:] = bytes(self._bytes(source, offset, size_bytes))
        return DONE

    def copy_from(self, to: int, to_offset: int, device: int, source: int, offset: int, size_bytes: int) -> int:
        """`device` is the context of another device's table: where that object is."""
        other: PythonDevice = ctypes.cast(device, ctypes.py_object).value
        self._bytes(to, to_offset, size_bytes)[:] = bytes(other._bytes(source, offset, size_bytes))
        return DONE

    def load(self, form: bytes, data: int, size_bytes: int) -> int:
        return self._own(self.load_module(form.decode(), ctypes.string_at(data, size_bytes)))

    def record(self, commands: Any, command_count: int) -> int:
        return self._own(tuple(_recorded(commands[i]) for i in range(command_count)))

    def submit(
        self, recording: int, buffers: Any, buffer_count: int, scalars: Any, scalar_count: int
    ) -> int:  # fmt: skip
        given: list[Buffer] = [buffers[i] for i in range(buffer_count)]
        memory = [self._bytes(each.memory, 0, each.bytes) if each.memory else memoryview(b"") for each in given]
        numbers = [int(scalars[i]) for i in range(scalar_count)]
        for launch in self._find(recording):
            if all(numbers[position] > 0 for position in launch.grid):
                self.run(self._find(launch.module), _started(launch, memory, numbers))
        return self._own(time.monotonic_ns())

    def wait(self, event: int, timeout_nanoseconds: int) -> int:  # noqa: ARG002
        return DONE

    def nanoseconds_between(self, first: int, second: int) -> int:
        return self._find(second) - self._find(first)

    def is_lost(self) -> int:
        return 0

    def last_error(self) -> int:
        text: bytes = getattr(self._errors, "text", b"")
        self._errors.kept = ctypes.create_string_buffer(text)
        return ctypes.addressof(self._errors.kept)

    # -------------------------------------------------------------------------------------------------------- handles

    def _own(self, what: object) -> int:
        with self._lock:
            handle = next(self._handles)
        self._owned[handle] = what
        return handle

    def _find(self, handle: int) -> Any:
        if handle not in self._owned:
            raise ValueError(f"nothing of the device has the handle {handle}")
        return self._owned[handle]

    def _bytes(self, handle: int, offset: int, size_bytes: int) -> memoryview:
        memory: bytearray = self._find(handle)
        if offset + size_bytes > len(memory):
            raise ValueError(f"{size_bytes} bytes at {offset} of a buffer of {len(memory)} bytes")
        return memoryview(memory)[offset : offset + size_bytes]

    def raise_what_is_no_error(self) -> None:
        """Raise what a call of this thread caught that is no `Exception`, once."""
        caught: BaseException | None = getattr(self._errors, "caught", None)
        self._errors.caught = None
        if caught is not None:
            raise caught

    def _callback(self, name: str) -> Callable[..., Any]:
        """A function of the table; what it raises is kept as the error of this thread. What is caught where no error
        can be told is told by the next function that can."""
        statuses = {
            "wait": FAILED,
            "upload": FAILED,
            "download": FAILED,
            "copy": FAILED,
            "copy_from": FAILED,
            "is_lost": 1,
            "nanoseconds_between": -1,
        }
        failed, cannot_fail = statuses.get(name, 0), name in ("release", "last_error", "begin_region", "end_region")

        def called(_: object, *arguments: Any) -> Any:
            try:
                if not cannot_fail:
                    self.raise_what_is_no_error()
                return getattr(self, name)(*(each or 0 if not isinstance(each, bytes) else each for each in arguments))
            except BaseException as error:
                self._errors.text = f"{type(error).__name__}: {error}".encode()
                self._errors.caught = None if isinstance(error, Exception) else error
                return failed

        return called


def _recorded(command: Command) -> RecordedLaunch:
    given = [command.arguments[i] for i in range(command.argument_count)]
    return RecordedLaunch(
        command.module,
        command.entry.decode(),
        tuple(command.grid),
        tuple(command.group),
        command.group_memory_bytes,
        tuple(map(_argument, given)),
    )


def _started(launch: RecordedLaunch, memory: Sequence[memoryview], numbers: Sequence[int]) -> StartedLaunch:
    def place(argument: LaunchArgument, buffer: int) -> memoryview:
        part = memory[buffer][numbers[argument.scalar] :]
        return part if argument.is_written else part.toreadonly()

    return StartedLaunch(
        launch.entry,
        tuple(numbers[each] for each in launch.grid),
        tuple(numbers[each] for each in launch.group),
        numbers[launch.group_memory_bytes],
        tuple(place(each, each.buffer) for each in launch.arguments if each.buffer is not None),
        tuple(numbers[each.scalar] for each in launch.arguments if each.buffer is None),
    )


def _argument(argument: Argument) -> LaunchArgument:
    buffer = None if argument.kind else int(argument.buffer)
    return LaunchArgument(bool(argument.access & 2), buffer, argument.scalar, argument.scalar_bytes)


__all__ = ["NOT_YET", "OpenedDevice", "PythonDevice", "StartedLaunch"]

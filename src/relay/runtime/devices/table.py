"""The table of functions by which native code uses a device, as `targets/cpu/support/device/device.h` lays it out."""

from __future__ import annotations

import ctypes

DEVICE_VERSION = 1
AXES = 3
DONE, NOT_YET, FAILED = 0, 1, -1
"""What `wait` gives."""


class Buffer(ctypes.Structure):
    """Memory of a device, by its handle, and how large it is."""

    _fields_ = (("memory", ctypes.c_uint64), ("bytes", ctypes.c_uint64))


class Argument(ctypes.Structure):
    """What an entry is given: a place in a buffer (`kind` 0) or a number (1), by positions in a submission."""

    _fields_ = tuple((name, ctypes.c_uint32) for name in ("kind", "access", "buffer", "scalar", "scalar_bytes"))


class Command(ctypes.Structure):
    """A launch of an entry of a module."""

    _fields_ = (
        ("module", ctypes.c_uint64),
        ("entry", ctypes.c_char_p),
        ("grid", ctypes.c_uint32 * AXES),
        ("group", ctypes.c_uint32 * AXES),
        ("group_memory_bytes", ctypes.c_uint32),
        ("argument_count", ctypes.c_uint32),
        ("arguments", ctypes.POINTER(Argument)),
    )


_HANDLE, _STATUS, _SIZE, _ADDRESS = ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p

FUNCTIONS = {
    "allocate": ctypes.CFUNCTYPE(_HANDLE, _ADDRESS, _SIZE),
    "release": ctypes.CFUNCTYPE(None, _ADDRESS, _HANDLE),
    "upload": ctypes.CFUNCTYPE(_STATUS, _ADDRESS, _HANDLE, _SIZE, _ADDRESS, _SIZE),
    "download": ctypes.CFUNCTYPE(_STATUS, _ADDRESS, _ADDRESS, _HANDLE, _SIZE, _SIZE),
    "copy": ctypes.CFUNCTYPE(_STATUS, _ADDRESS, _HANDLE, _SIZE, _HANDLE, _SIZE, _SIZE),
    "load": ctypes.CFUNCTYPE(_HANDLE, _ADDRESS, ctypes.c_char_p, _ADDRESS, _SIZE),
    "record": ctypes.CFUNCTYPE(_HANDLE, _ADDRESS, ctypes.POINTER(Command), _SIZE),
    "submit": ctypes.CFUNCTYPE(
        _HANDLE, _ADDRESS, _HANDLE, ctypes.POINTER(Buffer), _SIZE, ctypes.POINTER(ctypes.c_int64), _SIZE
    ),
    "wait": ctypes.CFUNCTYPE(_STATUS, _ADDRESS, _HANDLE, ctypes.c_uint64),
    "nanoseconds_between": ctypes.CFUNCTYPE(ctypes.c_int64, _ADDRESS, _HANDLE, _HANDLE),
    "last_error": ctypes.CFUNCTYPE(_ADDRESS, _ADDRESS),
    "is_lost": ctypes.CFUNCTYPE(_STATUS, _ADDRESS),
    "copy_from": ctypes.CFUNCTYPE(_STATUS, _ADDRESS, _HANDLE, _SIZE, _ADDRESS, _HANDLE, _SIZE, _SIZE),
    "begin_region": ctypes.CFUNCTYPE(None, _ADDRESS, ctypes.c_char_p),
    "end_region": ctypes.CFUNCTYPE(None, _ADDRESS),
}
"""The functions of a table, in their order, and what each takes: the context first."""


class DeviceTable(ctypes.Structure):
    """The table itself."""

    _fields_ = (
        ("version", ctypes.c_uint32),
        ("table_bytes", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        *FUNCTIONS.items(),
    )


LEAST_BYTES = DeviceTable.copy_from.offset
"""How large a table is that has none of the functions that came later: what it may do without."""


def copy_of_table(address: int) -> DeviceTable:
    """A copy of the table at an address; functions that it does not have are null."""
    table = DeviceTable()
    size_bytes = min(DeviceTable.from_address(address).table_bytes, ctypes.sizeof(DeviceTable))
    ctypes.memmove(ctypes.byref(table), address, size_bytes)
    table.table_bytes = ctypes.sizeof(DeviceTable)
    return table

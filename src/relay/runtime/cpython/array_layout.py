"""Where this interpreter keeps the items of a tuple, and NumPy the parts of an array: found out once per process, by
looking at an array."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
from numpy.typing import NDArray

from relay.base.frozen import frozen

_CONTIGUOUS_AND_ALIGNED = 0x1 | 0x100  # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED
_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)


@frozen
class _Layout:
    """Where the items of a tuple and the parts of an array are, in bytes from their start."""

    items: int
    data: int
    rank: int
    extents: int
    element: int
    flags: int

    def words(self) -> tuple[int, ...]:
        """What native code compares arrays by: their type, where their parts are, and the flags that must be set."""
        parts = (self.data, self.rank, self.extents, self.element, self.flags)
        return (id(np.ndarray), *parts, _CONTIGUOUS_AND_ALIGNED)


@cache
def array_layout() -> _Layout | None:
    """Where this interpreter and this NumPy keep them; None when they are not where they are looked for."""
    head = object.__basicsize__
    layout = _Layout(tuple.__basicsize__, head, head + 8, head + 16, head + 40, head + 48)
    array = np.zeros((3, 5), np.float32)
    start, around = id(array), (array,)

    def word(offset: int) -> int:
        return ctypes.c_int64.from_address(start + offset).value

    try:
        agrees = (
            head == 2 * _POINTER_BYTES
            and ctypes.c_int64.from_address(start + _POINTER_BYTES).value == id(np.ndarray)
            and word(layout.data) == array.__array_interface__["data"][0]
            and ctypes.c_int32.from_address(start + layout.rank).value == 2
            and [ctypes.c_int64.from_address(word(layout.extents) + 8 * axis).value for axis in (0, 1)] == [3, 5]
            and word(layout.element) == id(array.dtype)
            and ctypes.c_int32.from_address(start + layout.flags).value == array.flags.num
            and ctypes.c_int64.from_address(id(around) + layout.items).value == start
        )
    except ValueError:
        return None
    return layout if agrees else None


def is_plain(array: NDArray[np.generic]) -> bool:
    """Whether native code can read an array as it is: contiguous and aligned."""
    return array.flags.num & _CONTIGUOUS_AND_ALIGNED == _CONTIGUOUS_AND_ALIGNED


def data_address(array: NDArray[np.generic]) -> int:
    """Where an array's data are: several times quicker than to ask for its interface, which is done where its parts
    are not where they are looked for."""
    layout = array_layout()
    if layout is None:
        address: int = array.__array_interface__["data"][0]
        return address
    return ctypes.c_int64.from_address(id(array) + layout.data).value

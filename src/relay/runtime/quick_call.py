"""Calls whose arrays fit as they are: one native function compares them with what the entry takes and runs it.

It reads arrays where NumPy keeps their parts. Where these are is found out once per process, by looking at an array; if
they are not where they are looked for, or an array does not fit, the caller takes the long way, which can say why.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.runtime.manifest import EntrySpec, TensorSpec

REFUSED = -(2**31)
CALL_SYMBOL = "relay_call"
_CONTIGUOUS_AND_ALIGNED = 0x1 | 0x100  # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED
_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)
_BUFFERS = 7  # where the buffers begin in a frame
_empty = np.empty
_PROTOTYPE = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.py_object, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
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


class Stopped(Exception):
    """A call did not end well: its status, `REFUSED` when an array does not fit."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class QuickCall:
    """Calls of one entry, from any number of threads: each running call has a frame of its own."""

    __slots__ = ("_call", "_dtype", "_dtypes", "_frames", "_make_frame", "_shape", "_shapes", "arity")

    def __init__(
        self,
        arity: int,
        call: Callable[[tuple[Any, ...], int], int],
        make_frame: Callable[[], _Frame],
        outputs: Sequence[tuple[tuple[int, ...], np.dtype[np.generic]]],
    ) -> None:
        self.arity = arity
        self._call = call
        self._make_frame = make_frame
        self._shapes = [shape for shape, _ in outputs]
        self._dtypes = [dtype for _, dtype in outputs]
        self._shape, self._dtype = outputs[0] if len(outputs) == 1 else (None, None)
        self._frames: list[_Frame] = []  # append and pop are atomic

    def __call__(self, arrays: tuple[Any, ...]) -> NDArray[np.generic] | tuple[NDArray[np.generic], ...]:
        """The output, or a tuple of them if there is not exactly one. Raises `Stopped`."""
        if self._shape is not None:  # most calls, and so the quickest
            output = _empty(self._shape, self._dtype)
            given = (*arrays, output)
        else:
            output = tuple(map(_empty, self._shapes, self._dtypes))
            given = arrays + output
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._make_frame()
        status = self._call(given, frame.address)
        self._frames.append(frame)
        if status:
            raise Stopped(status)
        return output


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    """The block of words that a call works in, and what its words speak of."""

    address: int
    kept: object


def quick_call(
    spec: EntrySpec,
    outputs: Sequence[tuple[tuple[int, ...], np.dtype[np.generic]]],
    address: Callable[[str], int],
    constants: int,
    workspace: Callable[[], tuple[int, object]],
) -> QuickCall | None:
    """Quick calls of an entry whose outputs are known; None where there are none. `workspace` makes one."""
    wanted = _wanted(spec)
    if wanted is None:
        return None
    entry, python = address(spec.native_symbol), ctypes.pythonapi
    give, take = (
        ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (python.PyEval_SaveThread, python.PyEval_RestoreThread)
    )

    def make_frame() -> _Frame:
        memory, kept = workspace()
        symbols = (ctypes.c_int64 * max(1, len(spec.symbols)))()
        words = (entry, constants, memory, ctypes.addressof(wanted), give, take, ctypes.addressof(symbols))
        frame = (ctypes.c_int64 * (_BUFFERS + len(spec.inputs) + len(spec.outputs)))(*words)
        return _Frame(ctypes.addressof(frame), (frame, symbols, wanted, kept))

    return QuickCall(len(spec.inputs), _PROTOTYPE(address(CALL_SYMBOL)), make_frame, outputs)


def _wanted(spec: EntrySpec) -> Any:
    """What the native function compares arrays with: see `targets/cpu/support/call.ll`."""
    layout = array_layout()
    if layout is None:
        return None
    arrays = (*spec.inputs, *spec.outputs)
    words = [len(arrays), layout.items, *layout.words(), len(spec.symbols)]
    numbers = {symbol: -1 - position for position, symbol in enumerate(spec.symbols)}
    for each in arrays:
        if not isinstance(each, TensorSpec):
            return None
        words += [id(each.dtype.numpy), len(each.shape)]
        for extent in each.shape:
            if isinstance(extent, int):
                words.append(extent)
            elif isinstance(extent, Symbol):
                words.append(numbers[extent])
            else:
                return None
    return (ctypes.c_int64 * len(words))(*words)

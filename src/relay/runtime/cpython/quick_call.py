"""Calls whose arrays fit as they are: one native function compares them with what the entry takes and runs it.

It reads arrays where NumPy keeps their parts. If they are not where they are looked for, or an array does not fit, the
caller takes the long way, which can say why.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.runtime.arguments.donation import DonatedArrays
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec
from relay.runtime.artefact.nesting import Nesting
from relay.runtime.cpython.array_layout import array_layout
from relay.runtime.cpython.workspaces import Workspaces
from relay.runtime.memory.mapped import Constants

REFUSED = -(2**31)
CALL_SYMBOL = "relay_call"
_BUFFERS = 7  # where the buffers begin in a frame
_empty = np.empty
_PROTOTYPE = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.py_object, ctypes.c_void_p)


@frozen(eq=False)
class Sizes:
    """What a call needs, once the shapes of its arrays are known: its outputs, and the bytes that it works in."""

    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype[np.generic], ...]
    workspace_bytes: int

    @property
    def bytes(self) -> int:
        """Of all that Python makes for a call."""
        items = map(math.prod, self.shapes)
        return self.workspace_bytes + sum(each * dtype.itemsize for each, dtype in zip(items, self.dtypes, strict=True))


@frozen(eq=False)
class Frame:
    """The block of words that a call works in, the address and size of its workspace, and what is there."""

    address: int
    workspace: int
    workspace_bytes: int
    kept: object


Finish: TypeAlias = Callable[[tuple[NDArray[np.generic], ...], int, int], Any]
"""Makes the result of outputs, the address of the workspace, and the status; of calls that went wrong too."""


Failure: TypeAlias = Callable[[int, tuple[Any, ...], int], Exception]
"""What is raised of a status, the arrays of a call, and the address of its workspace."""


class QuickCall:
    """Calls of one entry, from any number of threads: each running call has a frame of its own."""

    __slots__ = ("_call", "_donated", "_failure", "_finish", "_frames", "_make_frame", "_nested", "arity")

    def __init__(
        self,
        arity: int,
        call: Callable[[tuple[Any, ...], int], int],
        make_frame: Callable[[int], Frame],
        nested: Nesting,
        finish: Finish | None,
        failure: Failure,
        donated: DonatedArrays | None,
    ) -> None:
        self.arity = arity
        self._donated = donated
        self._call = call
        self._make_frame = make_frame
        self._nested = nested
        self._finish = finish
        self._failure = failure
        self._frames: list[Frame] = []  # append and pop are atomic

    def __call__(self, arrays: tuple[Any, ...], sizes: Sizes) -> Any | None:
        """The result of a call on arrays of shapes that fit; None when something else does not. Raises `failure`."""
        if self._donated is None:
            outputs = tuple(map(_empty, sizes.shapes, sizes.dtypes))
        elif self._donated.are_fit(arrays):
            outputs = self._donated.outputs(arrays, sizes.shapes, sizes.dtypes)
        else:
            return None
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._make_frame(sizes.workspace_bytes)
        if frame.workspace_bytes < sizes.workspace_bytes:
            frame = self._make_frame(sizes.workspace_bytes)
        status = self._call(arrays + outputs, frame.address)
        result = self._nested(outputs) if self._finish is None else self._finish(outputs, frame.workspace, status)
        if not status:
            self._frames.append(frame)
            return result
        del outputs, result  # what is raised holds on to this frame, and these may be large
        error = None if status == REFUSED else self._failure(status, arrays, frame.workspace)
        self._frames.append(frame)
        if error is None:
            return None
        raise error


def quick_call(
    spec: EntrySpec,
    address: Callable[[str], int],
    constants: Constants,
    workspaces: Workspaces,
    nested: Nesting,
    finish: Finish | None,
    failure: Failure,
    donated: DonatedArrays | None,
) -> QuickCall | None:
    """Quick calls of an entry, on arrays of shapes that agree with each other; None where there are none. Without
    `finish` the result is its outputs, `nested`; `failure` makes what is raised."""
    wanted = _wanted(spec)
    if wanted is None:
        return None
    words, slots = wanted
    entry, python = address(spec.native_symbol), ctypes.pythonapi
    give, take = (
        ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (python.PyEval_SaveThread, python.PyEval_RestoreThread)
    )

    def make_frame(workspace_bytes: int) -> Frame:
        workspace = workspaces.take(workspace_bytes)
        symbols = (ctypes.c_int64 * max(1, slots))()
        wanted, found = ctypes.addressof(words), ctypes.addressof(symbols)
        head = entry, constants.address, workspace.address, wanted, give, take, found
        count = _BUFFERS + len(spec.inputs) + len(spec.outputs)
        frame = (ctypes.c_int64 * (1 + count))(constants.lost_address, *head)
        kept = frame, symbols, words, workspace, constants
        start = ctypes.addressof(frame) + ctypes.sizeof(ctypes.c_int64)
        return Frame(start, workspace.address, workspace.memory.nbytes, kept)

    return QuickCall(len(spec.inputs), _PROTOTYPE(address(CALL_SYMBOL)), make_frame, nested, finish, failure, donated)


def _wanted(spec: EntrySpec) -> tuple[Any, int] | None:
    """What the native function compares arrays with (see `targets/cpu/support/cpython/call.c`), and how many symbols it
    finds meanwhile: those of the entry, and one for each extent that is computed of them, which it takes as it comes.
    """
    layout = array_layout()
    inputs = [each for each in spec.inputs if isinstance(each, TensorSpec)]
    plain = {extent for each in inputs for extent in each.shape if isinstance(extent, Symbol)}
    if layout is None or len(inputs) < len(spec.inputs) or not plain.issuperset(spec.symbols):
        return None
    numbers = {symbol: position for position, symbol in enumerate(spec.symbols)}
    slots = len(numbers)
    words: list[int] = []
    for each in (*inputs, *spec.outputs):
        words += [id(each.dtype.numpy), len(each.shape)]
        for extent in each.shape:
            if isinstance(extent, int):
                words.append(extent)
            else:
                number = numbers.get(extent, slots) if isinstance(extent, Symbol) else slots
                slots += number == slots
                words.append(-1 - number)
    words = [len(inputs) + len(spec.outputs), layout.items, *layout.words(), slots, *words]
    return (ctypes.c_int64 * len(words))(*words), slots

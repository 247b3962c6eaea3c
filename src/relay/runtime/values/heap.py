"""What a call left on its heap, as Python values. The layout is that of `targets/cpu/support/heap/object.h`.

word    the address of an object, or 2 * label + 1 for one without fields
object  count (i64) · label (i32) · number of words (i32) · class (i64) · words
tensor  an object with one word (the object that owns its data, or who does) · address of the data · extents
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.runtime.artefact.manifest import CellLabel, Label, TensorLabel
from relay.runtime.cpython.array_layout import data_address
from relay.runtime.values.values import DataValue

HEAP_BYTES = 1024 + (1 << 18)  # what a heap keeps of itself, and its first chunk
REGISTER_WORDS = 5  # of a procedure's arguments that it is given in registers; the others lie behind the first chunk
STACK_END_OFFSET_BYTES = 8
STATUS_OFFSET_BYTES = 48
RESULT_OFFSET_BYTES = 56
JUMP_OFFSET_BYTES = 448
OUTPUTS_OFFSET_BYTES = 952  # where callers have room for results
ONCE_OFFSET_BYTES = 960  # not 0: the call must not be run again
HOST_OFFSET_BYTES = 968  # what calls functions of the caller's
INDEX_OFFSET_BYTES = 976  # the index that the call refused, and how many entries its axis has
DEVICES_OFFSET_BYTES = 1016  # the tensors of the call that are on devices, of programs that have such
BLOCKS_OFFSET_BYTES = 1008  # how many blocks of memory objects and arenas have had
LABEL_OFFSET_BYTES = 8
FIELDS_OFFSET_BYTES = 24
DATA_OFFSET_BYTES = 32
EXTENTS_OFFSET_BYTES = 40
OWN_DATA, ANOTHERS_DATA = 1, 3  # the word of a tensor whose data no other object owns


def arena_offset_bytes(most_arguments: int) -> int:
    """Where the arena begins behind a heap whose procedures have so many words of arguments.

    >>> arena_offset_bytes(7) - arena_offset_bytes(0)
    64
    """
    return -(-(HEAP_BYTES + 8 * max(0, most_arguments - REGISTER_WORDS)) // 64) * 64


@frozen
class HeapUse:
    """What a call did with its heap: the objects that are still alive when its result has been released, and the blocks
    of memory that it took. One that is freed is used again by the next object that is about as large."""

    alive: int
    blocks: int


HeapValue: TypeAlias = Union[NDArray[np.generic], "tuple[HeapValue, ...]", DataValue]


Given: TypeAlias = Mapping[int, NDArray[np.generic]]
"""Arrays that callers gave away, by the addresses of their data."""


def read_result(heap_address: int, labels: Sequence[Label], given: Given) -> HeapValue:
    """The result on the heap of a call that has ended well. Its tensors are those arrays of `given` that they are, and
    else copies; what is shared there is shared here."""
    return read_value(read_word(heap_address + RESULT_OFFSET_BYTES), labels, given)


def read_value(word: int, labels: Sequence[Label], given: Given = MappingProxyType({})) -> HeapValue:
    """The value of a word, without recursion: lists may be long."""
    values: dict[int, HeapValue] = {}
    cells: dict[int, tuple[CellLabel, list[int]]] = {}  # whose fields are waited for
    stack = [word]
    while stack:
        each = stack.pop()
        if each in values:
            continue
        cell = cells.pop(each, None)
        if cell is None:
            label = labels[label_number(each)]
            if isinstance(label, TensorLabel):
                values[each] = read_tensor(each, label, given)
                continue
            cell = label, read_fields(each)
        label, words = cell
        waiting = [part for part in words if part not in values]
        if waiting:
            cells[each] = cell
            stack.append(each)
            stack += waiting
        else:
            values[each] = cell_value(label, tuple([values[part] for part in words]))
    return values[word]


def cell_value(label: CellLabel, fields: tuple[Any, ...]) -> Any:
    """A tuple, or a value of a data type."""
    if label.kind == "tuple":
        return fields
    if label.kind == "data":
        type_name, _, constructor = label.name.rpartition(".")
        return DataValue(type_name, constructor, fields)
    raise CompilerBug("runtime", f"a result holds a {label.kind}")


def read_tensor(address: int, label: TensorLabel, given: Given = MappingProxyType({})) -> NDArray[np.generic]:
    """The array that a tensor is, or a copy."""
    words = (ctypes.c_int64 * (1 + label.rank)).from_address(address + DATA_OFFSET_BYTES)[:]  # quicker than one by one
    own = given.get(words[0])
    if own is not None and own.shape == tuple(words[1:]) and own.dtype == label.dtype.numpy:
        return own
    array: NDArray[np.generic] = np.empty(words[1:], label.dtype.numpy)
    if array.nbytes:
        ctypes.memmove(data_address(array), words[0], array.nbytes)
    return array


def read_shape(address: int, label: TensorLabel) -> tuple[int, ...]:
    return tuple((ctypes.c_int64 * label.rank).from_address(address + EXTENTS_OFFSET_BYTES)[:])


def label_number(word: int) -> int:
    return word >> 1 if word & 1 else ctypes.c_int32.from_address(word + LABEL_OFFSET_BYTES).value


def read_fields(word: int) -> list[int]:
    """The words of an object that is no tensor."""
    if word & 1:
        return []
    count = ctypes.c_int32.from_address(word + LABEL_OFFSET_BYTES + 4).value
    return (ctypes.c_int64 * count).from_address(word + FIELDS_OFFSET_BYTES)[:]


def read_word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value

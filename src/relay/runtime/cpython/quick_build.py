"""Values whose classes keep their fields in slots, lists, and arrays that fit as they are: one native function makes
their objects. What it does not take is made the long way, which can say why it does not fit, if it does not.

Where a class has its fields is found out by looking at an instance. See `targets/cpu/support/cpython/build.c`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.frozen import frozen
from relay.runtime.cpython.array_layout import array_layout, data_address

BUILD_SYMBOL = "relay_build"
_PROTOTYPE = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
_REFUSED, _FULL = 0, -1
_IS_TENSOR = -1
_IS_LIST = -1
_SAMPLE_LENGTH = 3
_LARGEST_COUNT = 1 << 16
_TABLE_ENTRY_WORDS = 4
_SMALLEST_CELL_WORDS = 4


@frozen(eq=False)
class NativePlan:
    """What the native function is told of a type; `cells` holds what `words` speak of."""

    words: NDArray[np.int64]
    cells: list[object] = field(default_factory=list)

    @property
    def address(self) -> int:
        return data_address(self.words)


def tensor_plan(head: int, dtype: np.dtype[np.generic], shape: Sequence[int]) -> NativePlan:
    """Of a tensor, whose second word is `head`."""
    return NativePlan(np.array((_IS_TENSOR, head, id(dtype), len(shape), *shape), np.int64), [dtype])


def data_plan(class_count: int) -> NativePlan:
    """Of data that instances of at most so many classes stand for, none of which has been met."""
    return NativePlan(np.zeros(1 + 2 * class_count, np.int64))


def learn(plan: NativePlan, kind: type, head: int, names: Sequence[str], plans: Sequence[NativePlan]) -> None:
    """Instances of a class whose fields are in slots are cells whose second word is `head`."""
    known = int(plan.words[0])
    is_full = 2 * known + 2 >= len(plan.words)
    offsets = None if is_full or any(each is kind for each in plan.cells) else _slot_offsets(kind, names)
    if offsets is None:
        return
    fields = [word for offset, each in zip(offsets, plans, strict=True) for word in (offset, each.address)]
    _add(plan, kind, (head, len(names), *fields), plans)


def learn_list(plan: NativePlan, head: int, empty: int, item: NativePlan) -> None:
    """Python's lists are chains of links whose second word is `head`; the word `empty` is at their end."""
    sample: list[object] = [object() for _ in range(_SAMPLE_LENGTH)]
    words = {
        offset: ctypes.c_int64.from_address(id(sample) + offset).value
        for offset in range(object.__basicsize__, list.__basicsize__, ctypes.sizeof(ctypes.c_void_p))
    }
    lengths = [offset for offset, word in words.items() if word == _SAMPLE_LENGTH]
    items = [offset for offset, word in words.items() if _may_be_address(word) and _first_word(word) == id(sample[0])]
    if lengths and items:
        _add(plan, list, (head, _IS_LIST, empty, lengths[0], items[0], head, 1, 0, item.address), (item,))


def _may_be_address(word: int) -> bool:
    """Whether it is none of the small numbers that lists have in them too."""
    return word > _LARGEST_COUNT and word % ctypes.sizeof(ctypes.c_void_p) == 0


def _first_word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _add(plan: NativePlan, kind: type, words: Sequence[int], plans: Sequence[NativePlan]) -> None:
    """A further class of a plan, and what its cells are like."""
    known = int(plan.words[0])
    cell = np.array(words, np.int64)
    plan.cells.extend((kind, cell, plans))
    plan.words[1 + 2 * known : 3 + 2 * known] = id(kind), data_address(cell)
    plan.words[0] = known + 1


def _slot_offsets(kind: type, names: Sequence[str]) -> list[int] | None:
    """Where instances of a class have these fields, in bytes from their start; None when that is not where they are
    looked for."""
    instance = object.__new__(kind)
    marks = [object() for _ in names]
    for name, mark in zip(names, marks, strict=True):
        object.__setattr__(instance, name, mark)
    inside = range(object.__basicsize__, kind.__basicsize__, ctypes.sizeof(ctypes.c_void_p))
    words = {ctypes.c_int64.from_address(id(instance) + offset).value: offset for offset in inside}
    offsets = [words.get(id(mark)) for mark in marks]
    return [each for each in offsets if each is not None] if None not in offsets else None


class QuickBuild:
    """Makes the objects of values natively."""

    __slots__ = ("_arrays", "_build", "_words")

    def __init__(self, address: Callable[[str], int]) -> None:
        self._build = _PROTOTYPE(address(BUILD_SYMBOL))
        layout = array_layout()
        self._arrays = None if layout is None else layout.words()
        self._words = 256  # a power of two: room for what values have needed so far

    def __call__(self, value: Any, plan: NativePlan) -> tuple[int, object] | None:
        """The word of a value, and what must be kept while it is used; None when it must be made the long way."""
        if self._arrays is None:
            return None
        while True:
            room = self._words
            entries = 2 * room // _SMALLEST_CELL_WORDS
            objects, table = np.empty(room, np.int64), np.zeros(_TABLE_ENTRY_WORDS * entries, np.int64)
            start = data_address(objects)
            frame = (ctypes.c_int64 * 11)(start, start + 8 * room, data_address(table), entries - 1, *self._arrays)
            word = self._build(value, plan.address, ctypes.addressof(frame))
            if word == _REFUSED:
                return None
            if word != _FULL:
                return word, (objects, value)
            self._words = max(self._words, 2 * room)

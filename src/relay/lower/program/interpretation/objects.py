"""The heap of a program that is interpreted: counted objects, each use of which is checked."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import CompilerBug
from relay.base.frozen import mutable
from relay.lower.program.device import Device

Bytes: TypeAlias = NDArray[np.uint8]
"""Memory, from some byte on."""

POISON = 0xA5
"""What memory holds that nobody has written."""


@mutable
class Object:
    """A counted object: a tensor has data, on a device or not, and a shape; field 0 of a closure is the name of its
    procedure."""

    label: int
    fields: list[Word | str] = field(default_factory=list)
    data: Bytes | None = None
    shape: tuple[int, ...] = ()
    count: int = 1
    device: Device | None = None


Word: TypeAlias = Union[Object, int]
"""An object, or the label of one without fields."""


class Heap:
    """The objects of one call. Raises `CompilerBug` where one is used that is freed."""

    def __init__(self) -> None:
        self.alive: dict[Object, None] = {}

    def new(self, made: Object) -> Object:
        self.alive[made] = None
        return made

    def used(self, word: Word) -> Object:
        """The object of a word, which must be alive."""
        if not isinstance(word, Object):
            raise CompilerBug("interpret program", f"label{word} is used as an object with fields")
        if word not in self.alive:
            raise CompilerBug("interpret program", f"an object of label{word.label} is used after it was freed")
        return word

    def data(self, word: Word, device: Device | None = None) -> Bytes:
        """What a tensor holds, for who can reach it there."""
        found = self.used(word)
        if found.data is None:
            raise CompilerBug("interpret program", "the data of a cell are asked for")
        if found.device != device:
            where, wanted = (str(each or "the host") for each in (found.device, device))
            raise CompilerBug("interpret program", f"data on {where} are asked for on {wanted}")
        return found.data

    def label(self, word: Word) -> int:
        return self.used(word).label if isinstance(word, Object) else word

    def retain(self, word: Word) -> None:
        if isinstance(word, Object):
            self.used(word).count += 1

    def release(self, word: Word) -> None:
        """Give away a word; what nobody owns then is freed, and what it held is released."""
        waiting: list[Word | str] = [word]
        while waiting:
            each = waiting.pop()
            if isinstance(each, Object):
                self.used(each).count -= 1
                if each.count == 0:
                    del self.alive[each]
                    waiting += each.fields


def fresh_bytes(size: int) -> Bytes:
    """Memory that nobody has written."""
    return np.full(size, POISON, np.uint8)

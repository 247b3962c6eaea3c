"""Data layouts by their letters: `NCHW`, `NHWC`, `OHWI64o`.

A capital letter is an axis; a small letter with a number is a block of that axis, innermost: in `OHWI64o` the O axis
counts blocks of 64 output channels. An extent that is no multiple of its block is padded with zeros to whole blocks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from relay.arith.expr import IntExpr, ceil_divide
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.types import Dimension
from relay.ops.framework.dimensions import derived
from relay.ops.framework.rounding import Array


@frozen
class Layout:
    """`letters` in memory order, blocks as small letters; `blocks` gives the size of each small letter's block."""

    text: str
    letters: tuple[str, ...]
    blocks: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def rank(self) -> int:
        return len(self.letters)

    @property
    def axes(self) -> tuple[str, ...]:
        """The capital letters, in memory order."""
        return tuple(letter for letter in self.letters if letter.isupper())

    def block(self, axis: str) -> int:
        """The block size of an axis; 1 when it is not blocked."""
        if not self.blocks:
            return 1
        return dict(self.blocks).get(axis.lower(), 1)

    def position(self, letter: str) -> int:
        return self.letters.index(letter)

    def shape(self, extents: Mapping[str, Dimension]) -> tuple[Dimension, ...]:
        """The shape in memory of a tensor whose axes have these extents."""
        return tuple(self.extent(letter, extents) for letter in self.letters)

    def extent(self, letter: str, extents: Mapping[str, Dimension]) -> Dimension:
        """The extent in memory of one letter: that of a block, or how many blocks an axis has."""
        if letter.islower():
            return self.block(letter)
        block = self.block(letter)
        extent = extents[letter]
        return extent if block == 1 else derived(lambda e: ceil_divide(e, block), extent)

    def extents(self, shape: Sequence[Dimension]) -> dict[str, Dimension]:
        """The extent of each axis of a tensor of this shape in memory (that of whole blocks where blocked)."""
        found = dict(zip(self.letters, shape, strict=True))
        return {
            axis: derived(lambda outer, block: outer * block, found[axis], found[axis.lower()])
            if axis.lower() in found else found[axis]
            for axis in self.axes
        }  # fmt: skip

    def indices(self, at: Mapping[str, IntExpr]) -> tuple[IntExpr, ...]:
        """Where the element at these positions along the axes stands in memory."""
        return tuple(self._index(letter, at) for letter in self.letters)

    def _index(self, letter: str, at: Mapping[str, IntExpr]) -> IntExpr:
        if letter.islower():
            return at[letter.upper()] % self.block(letter)
        block = self.block(letter)
        return at[letter] if block == 1 else at[letter] // block

    def positions(self, indices: Sequence[IntExpr]) -> dict[str, IntExpr]:
        """The positions along the axes of the element at `indices` in memory."""
        found = dict(zip(self.letters, indices, strict=True))
        return {
            axis: found[axis] * self.block(axis) + found[axis.lower()] if axis.lower() in found else found[axis]
            for axis in self.axes
        }


@cache
def parse_layout(text: str) -> Layout:
    """The layout that a string names. Raises `RelayError` (rule `bad-layout`).

    >>> parse_layout("OHWI64o").shape({"O": 100, "H": 3, "W": 3, "I": 16})
    (2, 3, 3, 16, 64)
    """
    parts = re.findall(r"([A-Z])|([1-9][0-9]*)([a-z])", text)
    spelled = "".join(capital or factor + small for capital, factor, small in parts)
    letters = tuple(capital or small for capital, _, small in parts)
    capitals = {letter for letter in letters if letter.isupper()}
    smalls = [letter for letter in letters if letter.islower()]
    if (
        spelled != text
        or not text
        or len(set(letters)) != len(letters)
        or any(s.upper() not in capitals for s in smalls)
    ):
        raise RelayError(
            rule="bad-layout", message=f"`{text}` is not a layout",
            expected="distinct capital letters, and blocks of them as a number and the small letter: NCHW, OHWI64o",
            found=text or "(nothing)",
        )  # fmt: skip
    return Layout(text, letters, tuple((small, int(factor)) for _, factor, small in parts if small))


def relayout(array: Array, source: Layout, destination: Layout, extents: Mapping[str, int] | None = None) -> Array:
    """The array in another layout of the same axes. Blocks are padded with zeros; `extents` gives true extents where
    the source has padding that is to be cut off.

    >>> relayout(np.arange(3).reshape(3, 1), parse_layout("OI"), parse_layout("OI2o")).tolist()
    [[[0, 1]], [[2, 0]]]
    """
    plain = _unblocked(array, source)
    plain = plain.transpose([source.axes.index(axis) for axis in destination.axes])
    for position, axis in enumerate(destination.axes):
        extent = (extents or {}).get(axis, plain.shape[position])
        plain = plain[(slice(None),) * position + (slice(extent),)]
    return _blocked(plain, destination)


def _unblocked(array: Array, layout: Layout) -> Array:
    order: list[int] = []
    shape: list[int] = []
    for axis in layout.axes:
        parts = [layout.position(letter) for letter in (axis, axis.lower()) if letter in layout.letters]
        order += parts
        shape.append(int(np.prod([array.shape[part] for part in parts])))
    return array.transpose(order).reshape(shape)


def _blocked(array: Array, layout: Layout) -> Array:
    if not layout.blocks:
        return array
    blocks = [layout.block(axis) for axis in layout.axes]
    padding = [(0, -extent % block) for extent, block in zip(array.shape, blocks, strict=True)]
    split: list[int] = []
    found: list[str] = []
    for axis, extent, (_, after), block in zip(layout.axes, array.shape, padding, blocks, strict=True):
        split += [(extent + after) // block] + ([block] if axis.lower() in layout.letters else [])
        found += [axis] + ([axis.lower()] if axis.lower() in layout.letters else [])
    whole = array
    if any(after for _, after in padding):
        whole = np.zeros([e + after for e, (_, after) in zip(array.shape, padding, strict=True)], array.dtype)
        whole[tuple(slice(extent) for extent in array.shape)] = array
    return whole.reshape(split).transpose([found.index(letter) for letter in layout.letters])

"""Elements of an image around places that data compute: along an axis, which they are and what each counts.

One text for NumPy and for tensor expressions: `Numbers` are the functions of either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from relay import te
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ops.framework.interpolation import cubic_weights
from relay.ops.framework.rounding import Array, to_dtype
from relay.tir.expr import Value

METHODS = ("nearest", "linear", "cubic")
PADDINGS = ("zeros", "border", "reflection")
ALPHA = -0.75
"""Keys' parameter of cubic weights."""

Taps: TypeAlias = tuple[tuple[Any, Any], ...]
"""`(place, weight)` of each element that counts along an axis; a weight of None is 1."""
Shares: TypeAlias = Callable[[Any, Any], tuple[Any, ...]]


@frozen
class Numbers:
    """Functions of floats; `place` makes an index of one, from 0 to one that is `last` as a float."""

    floor: Callable[[Any], Any]
    minimum: Callable[[Any, Any], Any]
    maximum: Callable[[Any, Any], Any]
    modulo: Callable[[Any, Any], Any]
    select: Callable[[Any, Any, Any], Any]
    less: Callable[[Any, Any], Any]
    both: Callable[[Any, Any], Any]
    equal: Callable[[Any, Any], Any]
    place: Callable[[Any, Any], Any]


def place_type(dtype: DType) -> DType:
    """Whole numbers for places: float32 knows no larger ones, and as many fit a vector."""
    return DType.INT64 if dtype is DType.FLOAT64 else DType.INT32


def _array_place(value: Array, last: Any) -> Array:
    return np.clip(to_dtype(value, place_type(dtype_of(value.dtype))), 0, int(last))


def _formula_place(value: Value, last: Value) -> Value:
    whole = place_type(value.dtype)
    return te.minimum(te.maximum(te.cast(value, whole), te.const(0, whole)), te.cast(last, whole))


OF_ARRAYS = Numbers(
    np.floor, np.minimum, np.maximum, np.mod, np.where, np.less, np.logical_and, np.equal,
    _array_place,
)  # fmt: skip
OF_FORMULAS = Numbers(
    te.floor, te.minimum, te.maximum, te.floor_modulo, te.select, te.less, te.logical_and, te.equal,
    _formula_place,
)  # fmt: skip


@frozen
class Sampling:
    """How elements between others are computed, and what lies outside of an image: 0 (`zeros`), the nearest element
    (`border`), or what a mirror at the outer elements, or with `align_corners` in their middles, would show
    (`reflection`)."""

    method: str
    padding: str
    align_corners: bool

    @property
    def width(self) -> int:
        """How many elements count along an axis."""
        return {"nearest": 1, "linear": 2, "cubic": 4}[self.method]

    @property
    def is_weighted(self) -> bool:
        return self.method != "nearest" or self.padding == "zeros"

    def from_unit(self, place: Any, extent: Any) -> Any:
        """A place from -1 to 1 as one from 0 to the last element: -1 and 1 are the middles of the outer elements
        (`align_corners`), or their outer edges."""
        if self.align_corners:
            return (place + 1) * 0.5 * (extent - 1)
        return ((place + 1) * extent - 1) * 0.5

    def shares(self, distance: Any, one: Any) -> tuple[Any, ...]:
        """What the elements around a place count, `distance` behind the one below it."""
        return (one - distance, distance) if self.method == "linear" else cubic_weights(distance, ALPHA, one)

    def moves(self) -> bool:
        """Whether a place itself is moved inside, not the elements around it."""
        return self.padding != "zeros" and self.method != "cubic"

    def taps(self, place: Any, extent: Any, numbers: Numbers, shares: Shares | None = None) -> Taps:
        """What counts at a `place` of an axis; `extent` is a float like it. `shares`: something else than `self.shares`
        to count."""
        last = extent - 1
        place = self.moved_inside(place, last, numbers) if self.moves() else place
        first = numbers.floor(place)
        distance = place - first
        if self.method == "nearest":  # halves to even
            to_even = numbers.floor(place * 0.5 + 0.5) * 2
            up = numbers.select(numbers.less(distance, 0.5), first, first + 1)
            return (self._tap(numbers.select(numbers.equal(distance, 0.5), to_even, up), None, last, numbers),)
        weights = (shares or self.shares)(distance, extent * 0 + 1)
        before = (len(weights) - 1) // 2
        return tuple(self._tap(first + (at - before), each, last, numbers) for at, each in enumerate(weights))

    def _tap(self, place: Any, weight: Any, last: Any, numbers: Numbers) -> tuple[Any, Any]:
        if self.padding == "zeros":
            nothing = last * 0
            inside = numbers.both(numbers.less(nothing - 1, place), numbers.less(place, last + 1))
            weight = numbers.select(inside, nothing + 1 if weight is None else weight, nothing)
        elif not self.moves():
            place = self.moved_inside(place, last, numbers)
        return numbers.place(place, last), weight

    def moved_inside(self, place: Any, last: Any, numbers: Numbers) -> Any:
        if self.padding == "border":
            return _clipped(place, last, numbers)
        # There and back again is one period.
        low, length = (0.0, last) if self.align_corners else (-0.5, last + 1)
        period = numbers.maximum(length * 2, length * 0 + 1)
        way = numbers.modulo(place - low, period)
        return _clipped(numbers.minimum(way, period - way) + low, last, numbers)


def _clipped(place: Any, last: Any, numbers: Numbers) -> Any:
    return numbers.minimum(numbers.maximum(place, last * 0), last)


def mixed(read: Callable[[tuple[Any, ...]], Any], taps: Sequence[Taps]) -> Any:
    """What `read` gives at places of some axes, mixed along the last one, then along the one before."""
    if not taps:
        return read(())
    total: Any = None
    for place, weight in taps[0]:
        part = mixed(lambda rest, place=place: read((place, *rest)), taps[1:])
        part = part if weight is None else part * weight
        total = part if total is None else total + part
    return total

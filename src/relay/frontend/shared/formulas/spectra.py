"""Discrete Fourier transforms in real arithmetic: a complex number is a pair along the last axis.

The transform is a product with a matrix of cosines and sines. Its angles are multiples of a whole turn over the
length, reduced to one turn while they are integers, so that they are as exact as their type.
"""

from __future__ import annotations

import math

from relay.base.dtypes import DType
from relay.frontend.shared.places.computed_axes import LONG, numbers
from relay.frontend.shared.places.resampling import DOUBLE, number, steps
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import (
    add,
    divide,
    floor_divide,
    floor_mod,
    logical_or,
    multiply,
    subtract,
)
from relay.ops.elementwise.elementwise_unary import cos, negative, sin
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate, stack
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.nn.matmul import dense

Count = int | Expr
"""A number that is known now, or that the run computes: an int64."""


def as_count(count: Count) -> Expr:
    return const(count, LONG) if isinstance(count, int) else count


def half_of(count: Count) -> Count:
    return count // 2 if isinstance(count, int) else floor_divide(count, const(2, LONG))


def one_more(count: Count) -> Count:
    return count + 1 if isinstance(count, int) else add(count, const(1, LONG))


def fitted(x: Expr, rank: int, extent: Count, length: Count) -> Expr:
    """x[.., extent] with zeros behind, or cut, so that its last axis has `length` elements."""
    if isinstance(extent, int) and isinstance(length, int):
        return x if extent == length else pad(x, [(0, 0)] * (rank - 1) + [(0, length - extent)])
    more = reshape(subtract(as_count(length), as_count(extent)), (1,))
    widths = concatenate([numbers(*(0,) * (2 * rank - 1)), more], 0)
    return dyn.pad(x, reshape(widths, (rank, 2)))


def transformed(
    x: Expr, rank: int, dtype: DType, *, pairs: bool, extent: Count, length: Count, inverse: bool, onesided: bool
) -> Expr:
    """x[.., extent, 1 or 2] → [.., frequencies, 2], or with `inverse` and `onesided` real values [.., length, 1].

    X[k] = Σ x[n] · exp(-2πi·kn / length), and back with the opposite sign and divided by the length. With `onesided`
    only the first half of the frequencies is there; what is missing is the conjugate of what is."""
    half = one_more(half_of(length))
    back_to_real = inverse and onesided
    given = half if back_to_real else length
    real, imaginary = (
        fitted(take(x, const(part, LONG), axis=rank - 1), rank - 1, extent, given) if part == 0 or pairs else None
        for part in (0, 1)
    )
    assert real is not None
    rows = half if onesided and not inverse else length
    cosines, sines = _matrices(rows, given, length, dtype, inverse)
    if back_to_real:
        real, imaginary = (None if each is None else _doubled(each, given, length, dtype) for each in (real, imaginary))
        assert real is not None
    along_real = dense(real, cosines)
    across = dense(real, sines)
    if imaginary is not None:
        along_real = subtract(along_real, dense(imaginary, sines))
        across = add(across, dense(imaginary, cosines))
    return expand_dims(along_real, rank - 1) if back_to_real else stack([along_real, across], rank - 1)


def _matrices(rows: Count, columns: Count, length: Count, dtype: DType, inverse: bool) -> tuple[Expr, Expr]:
    """The real and the imaginary parts of the factors: [rows, columns]."""
    row, column = (cast(steps(count), LONG) for count in (rows, columns))
    turns = floor_mod(multiply(expand_dims(row, 1), column), as_count(length))
    total = cast(as_count(length), DOUBLE)
    angle = divide(multiply(cast(turns, DOUBLE), number(2 * math.pi)), total)
    real, imaginary = cos(angle), sin(angle)
    if inverse:
        real, imaginary = divide(real, total), divide(imaginary, total)
    else:
        imaginary = negative(imaginary)
    return cast(real, dtype), cast(imaginary, dtype)


def _doubled(x: Expr, count: Count, length: Count, dtype: DType) -> Expr:
    """Frequencies that stand for their conjugates too count twice: all but the first, and the middle one."""
    place = cast(steps(count), LONG)
    middle = equal(multiply(place, const(2, LONG)), as_count(length))
    alone = logical_or(equal(place, const(0, LONG)), middle)
    return multiply(x, where(alone, const(1, dtype), const(2, dtype)))

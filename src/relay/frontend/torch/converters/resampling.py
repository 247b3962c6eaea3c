"""Images in another size by factors that are not exact: each place of an axis is a mean of some of the old ones.

PyTorch then goes by the factor and not by the extents (`torch.nn.functional.interpolate`), in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.indexing.index import take

Places: TypeAlias = "NDArray[np.float32]"
Taps: TypeAlias = "list[tuple[NDArray[np.int64], NDArray[np.float32] | None]]"
"""For each place of the result an old place and its weight; None for 1."""

_SHARPNESS = -0.75
"""The parameter of cubic convolution (Keys 1981, IEEE ASSP 29, equation 15)."""


def resampled(x: Expr, axis: int, old: int, new: int, factor: float, method: str) -> Expr:
    """`x` with `new` instead of `old` entries along an axis, `factor` times as many but for the rest.

    `method`: nearest, nearest_exact, linear, cubic."""
    places = np.arange(new, dtype=np.float32)
    assert isinstance(x.checked_type, TensorType)
    dtype, rank = x.checked_type.dtype, len(x.checked_type.shape)
    total: Expr | None = None
    for chosen, weights in _METHODS[method](places, np.float32(1 / factor)):
        part: Expr = take(x, const(np.clip(chosen, 0, old - 1)), axis=axis)
        if weights is not None:
            shape = [new if position == axis else 1 for position in range(rank)]
            part = multiply(part, as_dtype(const(weights.reshape(shape)), dtype))
        total = part if total is None else add(total, part)
    assert total is not None
    return total


def _nearest(places: Places, step: np.float32) -> Taps:
    return [(np.floor(places * step).astype(np.int64), None)]


def _nearest_exact(places: Places, step: np.float32) -> Taps:
    return [(np.floor((places + np.float32(0.5)) * step).astype(np.int64), None)]


def _linear(places: Places, step: np.float32) -> Taps:
    found = np.maximum((places + np.float32(0.5)) * step - np.float32(0.5), np.float32(0))
    first = np.floor(found)
    right = found - first
    return [(first.astype(np.int64), np.float32(1) - right), (first.astype(np.int64) + 1, right)]


def _cubic(places: Places, step: np.float32) -> Taps:
    found = (places + np.float32(0.5)) * step - np.float32(0.5)
    first = np.floor(found)
    right = found - first
    return [
        (first.astype(np.int64) + tap, _cubic_weight(np.abs(right - tap)).astype(np.float32)) for tap in (-1, 0, 1, 2)
    ]


def _cubic_weight(distance: Places) -> Places:
    near = ((_SHARPNESS + 2) * distance - (_SHARPNESS + 3)) * distance**2 + 1
    far = ((_SHARPNESS * distance - 5 * _SHARPNESS) * distance + 8 * _SHARPNESS) * distance - 4 * _SHARPNESS
    return np.where(distance <= 1, near, far)


_METHODS: Mapping[str, Callable[[Places, np.float32], Taps]] = {
    "nearest": _nearest, "nearest_exact": _nearest_exact, "linear": _linear, "cubic": _cubic,
}  # fmt: skip

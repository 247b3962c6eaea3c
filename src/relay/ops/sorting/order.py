"""Where the elements of an array in order are. NaN comes after all numbers, in both directions."""

from __future__ import annotations

import numpy as np

from relay.ops.framework.rounding import Array, wide
from relay.ops.framework.symbolic_integer import machine_numbers


def order_of(data: Array, axis: int, ascend: bool) -> Array:
    """Indices that put the elements along an axis in order; of equal elements the first comes first."""
    x = machine_numbers(wide(data))
    if ascend:
        return np.argsort(x, axis=axis, kind="stable")
    if x.dtype.kind != "f":
        ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)
        return np.argsort(-ranks.astype(np.int64), axis=axis, kind="stable")
    return np.argsort(-x, axis=axis, kind="stable")

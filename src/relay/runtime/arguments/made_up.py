"""Arrays made from a generator of random numbers, for trying programs without data."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType


def made_up_array(
    generator: np.random.Generator, shape: tuple[int, ...], dtype: DType, integers: tuple[int, int] = (0, 1)
) -> NDArray[np.generic]:
    """An array of normally distributed floats, of coin flips, or of integers from `integers`, both ends included, as
    far as the dtype has them. Scales, which have no sign, are of the magnitudes of floats.

    >>> made_up_array(np.random.default_rng(0), (4,), DType.INT8, (-4, 9))
    array([ 7,  4,  3, -1], dtype=int8)
    """
    if dtype.is_float:
        exact = np.float64 if dtype is DType.FLOAT64 else np.float32
        drawn = np.asarray(generator.standard_normal(shape, dtype=exact))
        return np.abs(drawn).astype(dtype.numpy) if dtype.is_scale else drawn.astype(dtype.numpy)
    low, high = integers
    if dtype.is_integer:
        limits = ml_dtypes.iinfo(dtype.numpy)
        low, high = max(low, int(limits.min)), min(high, int(limits.max))
    else:
        low, high = 0, 1
    return np.asarray(generator.integers(low, high + 1, shape)).astype(dtype.numpy)

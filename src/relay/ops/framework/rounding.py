"""How meanings compute: in the wide type of each element type, rounded once at the end.

Types narrower than 32 bits are computed in float32, int32 or uint32 (NumPy's own bfloat16 sums are wrong). Arrays of
symbolic integers go the same way: their elements tell which type they are of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.dtypes import DType, dtype_of
from relay.ops.framework.symbolic_integer import SymbolicInteger, Undecided, is_symbolic, symbolic_array

Array: TypeAlias = NDArray[Any]


def element_type(array: Array) -> DType:
    """The element type of an array; of symbolic integers, theirs. Where there are none, no type can be too small."""
    if not is_symbolic(array):
        return dtype_of(array.dtype)
    symbolic = (element for element in array.ravel().tolist() if isinstance(element, SymbolicInteger))
    return next((element.element_type for element in symbolic), DType.INT64)


def wide(array: Array) -> Array:
    """The array in the type that arithmetic on its elements is carried out in."""
    if is_symbolic(array):
        return symbolic_array(array, element_type(array).computation)
    return array.astype(dtype_of(array.dtype).computation.numpy, copy=False)


def to_dtype(array: Array, dtype: DType) -> Array:
    """Conversion by value. Float to integer truncates, saturates, and takes NaN to 0; integers wrap.

    Symbolic integers stay integers; whether they are zero may be `Undecided`, and so is what they are as floats.

    >>> to_dtype(np.array([1e10, -2.7, np.nan]), DType.INT8)
    array([127,  -2,   0], dtype=int8)
    """
    if is_symbolic(array):
        return _of_symbolic(array, dtype)
    source = dtype_of(array.dtype)
    if source is dtype:
        return array
    if source.is_float and dtype.is_integer:
        return _float_to_integer(wide(array), dtype)
    with np.errstate(all="ignore"):
        if dtype.is_bool:
            return wide(array) != 0
        if source.is_float and dtype.is_float and source.bits < 32:
            array = array.astype(np.float32)
        if source.is_bool or source.is_sub_byte_integer:
            array = array.astype(np.int32)
        return (_wrapped(array, dtype) if dtype.is_integer else array).astype(dtype.numpy)


def _of_symbolic(array: Array, dtype: DType) -> Array:
    if dtype.is_float:
        raise Undecided(f"{array} as {dtype}")
    return np.asarray(np.not_equal(array, 0)) if dtype.is_bool else symbolic_array(array, dtype)


def _wrapped(array: Array, dtype: DType) -> Array:
    """Integers that NumPy converts to `dtype` by their low bits, for types of less than a byte, too."""
    if not dtype.is_sub_byte_integer:
        return array
    low = -(1 << (dtype.bits - 1)) if dtype.is_signed_integer else 0
    return ((array.astype(np.int64) - low) % (1 << dtype.bits) + low).astype(np.int8)


def _float_to_integer(array: Array, dtype: DType) -> Array:
    bits = dtype.bits - (1 if dtype.is_signed_integer else 0)
    low = -(2**bits) if dtype.is_signed_integer else 0
    high = 2**bits - 1
    truncated = np.trunc(np.nan_to_num(array.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    inside = np.clip(truncated, float(low), np.nextafter(float(2**bits), 0.0))
    holder = np.int64 if dtype.is_signed_integer else np.uint64
    whole = np.where(truncated >= float(2**bits), holder(high), inside.astype(holder))
    return _wrapped(whole, dtype).astype(dtype.numpy)


def rounded_once(function: Callable[..., Array], dtype: DType, *arrays: Array) -> Array:
    """`function` of the widened arrays, rounded to `dtype`, with floating-point warnings off."""
    with np.errstate(all="ignore"):
        return to_dtype(np.asarray(function(*(wide(array) for array in arrays))), dtype)


def same_dtype(function: Callable[..., Array], *arrays: Array) -> Array:
    """`rounded_once` to the type of the first array."""
    return rounded_once(function, element_type(arrays[0]), *arrays)


def mean_of(total: Array, count: Array | int) -> Array:
    """`total / count` in the type of `total`; integers truncate."""
    if total.dtype.kind == "f":
        return (total / count).astype(total.dtype)
    return np.asarray(np.sign(total) * (np.abs(total) // count)).astype(total.dtype)

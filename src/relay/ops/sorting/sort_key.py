"""Unsigned numbers that have the order of the elements they stand for, upwards or downwards."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from relay import te
from relay.base.dtypes import DType
from relay.tir.expr import Call, Value, imm

_OTHER_FLOATS = frozenset({DType.FLOAT4_E2M1FN, DType.FLOAT8_E4M3FNUZ, DType.FLOAT8_E5M2FNUZ, DType.FLOAT8_E8M0FNU})


def key_type(dtype: DType) -> DType:
    """The type of the keys of elements: 32 bits for those of 32 or fewer."""
    return DType.UINT64 if dtype.bits == 64 else DType.UINT32


def key_bits(dtype: DType) -> int:
    """How many bits of a key, the lowest, may differ between elements."""
    return 8 * _ordered(dtype).item_bytes


def sort_key(value: Value, ascend: bool) -> Value:
    """The key of an element: of two elements the one with the smaller key comes first, and equal ones have equal keys.

    NaN has the largest key in both directions; 0 and −0 have one key. The bits of floating-point numbers are ordered as
    their magnitudes are, those of negative ones the other way round (IEEE 754-2019, section 5.10, but for the zeros).
    """
    dtype = _ordered(value.dtype)
    value = te.cast(value, dtype)
    bits, wide = key_bits(dtype), key_type(dtype)
    sign, ones = imm(1 << (bits - 1), wide), imm((1 << bits) - 1, wide)
    if not dtype.is_float:
        key = te.cast(te.cast(value, _unsigned(dtype)), wide)
        key = te.logical_xor(key, sign) if dtype.is_signed_integer else key
        return key if ascend else te.logical_xor(key, ones)
    raw = te.cast(Call("reinterpret", (value,), _unsigned(dtype)), wide)
    negative, other = te.logical_xor(raw, ones), te.logical_or(raw, sign)
    if not ascend:
        negative, other = raw, te.logical_xor(other, ones)
    key = te.select(te.greater(raw, sign), negative, other)
    magnitude = te.logical_and(raw, imm((1 << (bits - 1)) - 1, wide))
    return te.select(te.greater(magnitude, imm(_largest_bits(dtype), wide)), ones, key)


def _ordered(dtype: DType) -> DType:
    """The type whose bits tell the order of elements: their own, unless it is of less than a byte or has no sign bit
    that means minus for all numbers."""
    if dtype.is_sub_byte_integer:
        return DType.INT8 if dtype.is_signed_integer else DType.UINT8
    return DType.BFLOAT16 if dtype in _OTHER_FLOATS else dtype


def _unsigned(dtype: DType) -> DType:
    return DType(f"uint{8 * dtype.item_bytes}")


def _largest_bits(dtype: DType) -> int:
    """The bits of the largest number of a floating-point type: all above are NaN."""
    largest = np.asarray(np.inf).astype(dtype.numpy)
    if np.isnan(largest.astype(np.float64)):
        largest = np.asarray(ml_dtypes.finfo(dtype.numpy).max)
    return int(largest.view(_unsigned(dtype).numpy))

"""Element types of tensors, as one closed set.

A `DType` is a string too (`DType.FLOAT32 == "float32"`), so users write plain names everywhere.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache

import ml_dtypes
import numpy as np

from relay.base.diagnostics import RelayError


class DType(StrEnum):
    """An element type, by its Relay name.

    >>> DType("float32").bits, DType.BFLOAT16.is_float
    (32, True)
    """

    BOOL = "bool"
    INT2 = "int2"
    INT4 = "int4"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT2 = "uint2"
    UINT4 = "uint4"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT4_E2M1FN = "float4_e2m1fn"
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E4M3FNUZ = "float8_e4m3fnuz"
    FLOAT8_E5M2 = "float8_e5m2"
    FLOAT8_E5M2FNUZ = "float8_e5m2fnuz"
    FLOAT8_E8M0FNU = "float8_e8m0fnu"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"

    @property
    def bits(self) -> int:
        """Width of one element's value in bits (a bool is one byte in memory, one bit of value)."""
        return _BITS[self]

    @property
    def item_bytes(self) -> int:
        """Bytes that one element takes in memory."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return "float" in self.value

    @property
    def is_signed_integer(self) -> bool:
        return self.value.startswith("int")

    @property
    def is_unsigned_integer(self) -> bool:
        return self.value.startswith("uint")

    @property
    def is_integer(self) -> bool:
        return self.is_signed_integer or self.is_unsigned_integer

    @property
    def is_bool(self) -> bool:
        return self is DType.BOOL

    @property
    def is_sub_byte_integer(self) -> bool:
        """Whether an element is an integer in the low bits of a byte, the others of which mean nothing."""
        return self.is_integer and self.bits < 8

    @property
    def is_scale(self) -> bool:
        """Whether a floating-point type has powers of two alone, without zero and sign: what holds for the numbers of
        other types does not hold for these."""
        return self is DType.FLOAT8_E8M0FNU

    @property
    def has_infinity(self) -> bool:
        """Whether a floating-point type has infinities; those without have a largest number."""
        return self.is_float and self not in _FINITE

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy dtype with the same bytes (of `ml_dtypes` where NumPy has none)."""
        return _to_numpy(self)

    @property
    def computation(self) -> DType:
        """The type that arithmetic on this one is carried out in: narrow types are widened to 32 bits."""
        if self.is_float:
            return self if self.bits >= 32 else DType.FLOAT32
        if self.is_bool or self.bits >= 32:
            return self
        return DType.INT32 if self.is_signed_integer else DType.UINT32


_BITS = {
    DType.BOOL: 1, DType.INT2: 2, DType.INT4: 4, DType.INT8: 8, DType.INT16: 16, DType.INT32: 32, DType.INT64: 64,
    DType.UINT2: 2, DType.UINT4: 4, DType.UINT8: 8, DType.UINT16: 16, DType.UINT32: 32, DType.UINT64: 64,
    DType.FLOAT4_E2M1FN: 4, DType.FLOAT8_E4M3FN: 8, DType.FLOAT8_E4M3FNUZ: 8, DType.FLOAT8_E5M2: 8,
    DType.FLOAT8_E5M2FNUZ: 8, DType.FLOAT8_E8M0FNU: 8, DType.FLOAT16: 16, DType.BFLOAT16: 16,
    DType.FLOAT32: 32, DType.FLOAT64: 64,
}  # fmt: skip

_FINITE = frozenset({
    DType.FLOAT4_E2M1FN, DType.FLOAT8_E4M3FN, DType.FLOAT8_E4M3FNUZ, DType.FLOAT8_E5M2FNUZ, DType.FLOAT8_E8M0FNU,
})  # fmt: skip

_EXTENSION_TYPES: dict[DType, type] = {
    DType.INT2: ml_dtypes.int2,
    DType.INT4: ml_dtypes.int4,
    DType.UINT2: ml_dtypes.uint2,
    DType.UINT4: ml_dtypes.uint4,
    DType.FLOAT4_E2M1FN: ml_dtypes.float4_e2m1fn,
    DType.FLOAT8_E4M3FN: ml_dtypes.float8_e4m3fn,
    DType.FLOAT8_E4M3FNUZ: ml_dtypes.float8_e4m3fnuz,
    DType.FLOAT8_E5M2: ml_dtypes.float8_e5m2,
    DType.FLOAT8_E5M2FNUZ: ml_dtypes.float8_e5m2fnuz,
    DType.FLOAT8_E8M0FNU: ml_dtypes.float8_e8m0fnu,
    DType.BFLOAT16: ml_dtypes.bfloat16,
}


@cache
def _to_numpy(dtype: DType) -> np.dtype[np.generic]:
    return np.dtype(_EXTENSION_TYPES.get(dtype, dtype.value))


@cache
def _by_numpy() -> dict[np.dtype[np.generic], DType]:
    return {dtype.numpy: dtype for dtype in DType}


def dtype_of(value: str | DType | np.dtype[np.generic] | type) -> DType:
    """The `DType` that a name, a NumPy dtype or a NumPy scalar type stands for.

    Raises `RelayError` (rule `unknown-dtype`) for anything else.

    >>> dtype_of(np.float32)
    <DType.FLOAT32: 'float32'>
    """
    if isinstance(value, np.dtype):
        known = _by_numpy().get(value)  # the names of NumPy's types are slow to ask for
        if known is not None:
            return known
    try:
        name = value if isinstance(value, str) else np.dtype(value).name
    except (TypeError, ValueError):  # NumPy asks values for their `dtype`
        name = repr(value)
    try:
        return DType(name)
    except ValueError:
        raise RelayError(
            rule="unknown-dtype",
            message=f"`{name}` is not an element type of Relay",
            expected="one of " + ", ".join(DType),
            found=str(name),
            remedy="cast the array to one of these types first",
        ) from None

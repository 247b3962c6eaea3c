"""Parameters in the binary format of Relay's runtimes: names, then arrays, little endian.

    dictionary ::= magic (u64) · 0 (u64) · count (u64) · names · count (u64) · arrays
    name       ::= length (u64) · UTF-8
    array      ::= magic (u64) · 0 (u64) · device type, device number (i32) · rank (i32) · type code, bits (u8)
                   · lanes (u16) · extents (i64) · size in bytes (i64) · data

Type codes are DLPack's. A bool is an unsigned integer of one bit, and takes a byte.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from relay.base.arguments import BYTES, MAPPING, TEXT, expect_each, takes
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import mutable

DICTIONARY_MAGIC = 0xF7E58D4F05049CB7
ARRAY_MAGIC = 0xDD5E40F096B4A13F
_CPU = 1
_HEAD = struct.Struct("<QQ")
_COUNT = struct.Struct("<Q")
_ARRAY = struct.Struct("<iiiBBH")
_MAX_RANK = 32

_CODES: Mapping[DType, tuple[int, int]] = MappingProxyType({
    DType.BOOL: (1, 1), DType.INT2: (0, 2), DType.INT4: (0, 4), DType.INT8: (0, 8), DType.INT16: (0, 16),
    DType.INT32: (0, 32), DType.INT64: (0, 64), DType.UINT2: (1, 2), DType.UINT4: (1, 4), DType.UINT8: (1, 8),
    DType.UINT16: (1, 16), DType.UINT32: (1, 32), DType.UINT64: (1, 64), DType.FLOAT8_E4M3FN: (10, 8),
    DType.FLOAT8_E4M3FNUZ: (11, 8), DType.FLOAT8_E5M2: (12, 8), DType.FLOAT8_E5M2FNUZ: (13, 8),
    DType.FLOAT8_E8M0FNU: (14, 8), DType.FLOAT4_E2M1FN: (17, 4), DType.FLOAT16: (2, 16), DType.BFLOAT16: (4, 16),
    DType.FLOAT32: (2, 32), DType.FLOAT64: (2, 64),
})  # fmt: skip
"""Type code and width in bits."""


@takes(params=MAPPING)
def save_param_dict(params: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Parameters as bytes; the same bytes for the same parameters in the same order.

    Raises `RelayError` (rule `unknown-dtype`) for elements that Relay does not know.

    >>> params = {"w": np.ones((2, 3), np.float32)}
    >>> load_param_dict(save_param_dict(params))["w"].shape
    (2, 3)
    """
    parts: list[bytes | memoryview] = [_HEAD.pack(DICTIONARY_MAGIC, 0), _COUNT.pack(len(params))]
    expect_each(params, TEXT, "the name of a parameter")
    for name in params:
        text = name.encode()
        parts += [_COUNT.pack(len(text)), text]
    parts.append(_COUNT.pack(len(params)))
    for value in params.values():
        array = np.asarray(value, order="C")
        code, bits = _CODES[dtype_of(array.dtype)]
        extents = struct.pack(f"<{array.ndim}q", *array.shape)
        parts += [_HEAD.pack(ARRAY_MAGIC, 0), _ARRAY.pack(_CPU, 0, array.ndim, code, bits, 1), extents]
        parts += [struct.pack("<q", array.nbytes), array.tobytes()]
    return b"".join(parts)


@takes(data=BYTES)
def load_param_dict(data: bytes) -> dict[str, NDArray[np.generic]]:
    """The parameters that `save_param_dict` wrote, or another program that writes this format.

    Raises `RelayError` (rule `bad-params`) for bytes that are cut short, damaged or of another format.
    """
    try:
        reader = _Reader(memoryview(data))
        reader.magic(DICTIONARY_MAGIC)
        names = [str(reader.take(reader.count()), "utf-8") for _ in range(reader.count())]
        if reader.count() != len(names) or len(set(names)) != len(names):
            raise ValueError("names and arrays do not pair up")
        params = {name: reader.array() for name in names}
        if reader.position != len(data):
            raise ValueError(f"{len(data) - reader.position} bytes follow the last array")
    except (ValueError, struct.error) as error:
        raise RelayError(
            rule="bad-params",
            message="these bytes are no dictionary of parameters",
            found=str(error),
            remedy="give the bytes that `relay.save_param_dict` makes",
        ) from error
    return params


@mutable(eq=True)
class _Reader:
    """Takes bytes from the front, and raises ValueError where there are none."""

    data: memoryview
    position: int = 0

    def take(self, size: int) -> memoryview:
        if not 0 <= size <= len(self.data) - self.position:
            raise ValueError(f"the data end at byte {len(self.data)}, before what should follow byte {self.position}")
        self.position += size
        return self.data[self.position - size : self.position]

    def count(self) -> int:
        """A number of things that follow, each of which takes some bytes."""
        (count,) = _COUNT.unpack(self.take(_COUNT.size))
        if count > len(self.data):
            raise ValueError(f"{count} things cannot follow byte {self.position}")
        return int(count)

    def magic(self, expected: int) -> None:
        (found, _) = _HEAD.unpack(self.take(_HEAD.size))
        if found != expected:
            raise ValueError(f"the magic number {found:#018x} where {expected:#018x} should be")

    def array(self) -> NDArray[np.generic]:
        self.magic(ARRAY_MAGIC)
        _, _, rank, code, bits, lanes = _ARRAY.unpack(self.take(_ARRAY.size))
        dtype = next((dtype for dtype, known in _CODES.items() if known == (code, bits)), None)
        if dtype is None or lanes != 1 or not 0 <= rank <= _MAX_RANK:
            raise ValueError(f"an array of {rank} axes, of type code {code} with {bits} bits and {lanes} lanes")
        shape: tuple[int, ...] = struct.unpack(f"<{rank}q", self.take(8 * rank))
        (size,) = struct.unpack("<q", self.take(8))
        if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.item_bytes:
            raise ValueError(f"{size} bytes for an array of shape {shape}")
        return np.frombuffer(self.take(size), dtype.numpy).reshape(shape).copy()

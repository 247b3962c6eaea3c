"""Tensors stored in a model: initialisers and constants, of every element type that Relay has.

What a tensor declares is held against the bytes that are there before anything is allocated for it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType

if TYPE_CHECKING:
    from onnx import TensorProto

Array = NDArray[np.generic]

# TensorProto.DataType, by number (onnx.proto3).
ELEMENT_TYPES: dict[int, DType] = {
    1: DType.FLOAT32, 2: DType.UINT8, 3: DType.INT8, 4: DType.UINT16, 5: DType.INT16, 6: DType.INT32, 7: DType.INT64,
    9: DType.BOOL, 10: DType.FLOAT16, 11: DType.FLOAT64, 12: DType.UINT32, 13: DType.UINT64, 16: DType.BFLOAT16,
    17: DType.FLOAT8_E4M3FN, 18: DType.FLOAT8_E4M3FNUZ, 19: DType.FLOAT8_E5M2, 20: DType.FLOAT8_E5M2FNUZ,
    21: DType.UINT4, 22: DType.INT4, 23: DType.FLOAT4_E2M1FN, 24: DType.FLOAT8_E8M0FNU, 25: DType.UINT2, 26: DType.INT2,
}  # fmt: skip
UNSUPPORTED_TYPES: dict[int, str] = {
    0: "undefined",
    8: "string",
    14: "complex64",
    15: "complex128",
    27: "float6e2m3",
    28: "float6e3m2",
}
_EXTERNAL = 1


def element_type(number: int, what: str) -> DType:
    """The element type with this ONNX number. Raises `RelayError` (rule `unsupported-element-type`)."""
    dtype = ELEMENT_TYPES.get(number)
    if dtype is None:
        found = UNSUPPORTED_TYPES.get(number, f"element type number {number}")
        raise RelayError(
            rule="unsupported-element-type", message=f"{what} has elements of type {found}, which Relay does not have",
            expected="one of " + ", ".join(ELEMENT_TYPES.values()), found=found,
        )  # fmt: skip
    return dtype


def read_tensor(tensor: TensorProto, folder: Path | None, what: str, raw: memoryview | None = None) -> Array:
    """The array that a `TensorProto` holds; `folder` is where external data may lie, `what` names it in messages.

    `raw` is its `raw_data` if that was left out of it: the array is a view of it, wherever in memory it begins.

    Raises `RelayError`: `unsupported-element-type`, `bad-tensor`, `bad-external-data`.
    """
    dtype = element_type(tensor.data_type, what)
    shape = tuple(tensor.dims)
    if any(extent < 0 for extent in shape):
        raise _bad(what, "extents of 0 or more", str(shape))
    if tensor.HasField("segment"):
        raise _bad(what, "a whole tensor", "a segment of one, which is not supported")
    count = math.prod(shape)
    if tensor.data_location == _EXTERNAL:
        flat = _from_bytes(_external_bytes(tensor, folder, what, _size_bytes(count, dtype)), dtype, count, what)
    elif raw is not None:
        flat = _from_bytes(raw, dtype, count, what)
    elif tensor.HasField("raw_data"):
        flat = _from_bytes(tensor.raw_data, dtype, count, what)
    else:
        flat = _from_field(tensor, dtype, count, what)
    return flat.reshape(shape)


def _size_bytes(count: int, dtype: DType) -> int:
    return -(-count * dtype.bits // 8) if _is_packed(dtype) else count * dtype.item_bytes


def _is_packed(dtype: DType) -> bool:
    """Whether a byte holds several elements."""
    return dtype.bits < 8 and not dtype.is_bool


def _from_bytes(raw: bytes | memoryview, dtype: DType, count: int, what: str) -> Array:
    expected_bytes = _size_bytes(count, dtype)
    if len(raw) != expected_bytes:
        raise _bad(what, f"{expected_bytes:,} bytes for {count:,} elements of {dtype}", f"{len(raw):,} bytes")
    if _is_packed(dtype):
        return _unpacked(np.frombuffer(raw, np.uint8), dtype, count)
    return np.frombuffer(raw, dtype.numpy)


def _from_field(tensor: TensorProto, dtype: DType, count: int, what: str) -> Array:
    """Elements in one of the typed fields; types of 16 bits and fewer share `int32_data`, floats by their bits."""
    match dtype:
        case DType.FLOAT32:
            values = np.array(tensor.float_data, np.float32)
        case DType.FLOAT64:
            values = np.array(tensor.double_data, np.float64)
        case DType.INT64:
            values = np.array(tensor.int64_data, np.int64)
        case DType.UINT32 | DType.UINT64:
            values = np.array(tensor.uint64_data, np.uint64).astype(dtype.numpy)
        case _ if _is_packed(dtype):
            packed = np.array(tensor.int32_data, np.int32).astype(np.uint8)
            if packed.size != _size_bytes(count, dtype):
                raise _bad(what, f"{count:,} elements", f"{packed.size * 8 // dtype.bits:,}")
            return _unpacked(packed, dtype, count)
        case _:
            stored = np.array(tensor.int32_data, np.int32)
            by_bits = dtype.is_float
            values = stored.astype(f"uint{dtype.bits}").view(dtype.numpy) if by_bits else stored.astype(dtype.numpy)
    if values.size != count:
        raise _bad(what, f"{count:,} elements", f"{values.size:,}")
    return values


def _unpacked(packed: NDArray[np.uint8], dtype: DType, count: int) -> Array:
    """Several elements a byte, the first in the lowest bits (onnx.proto3, `raw_data`)."""
    shifts = np.arange(0, 8, dtype.bits, dtype=np.uint8)
    alone = (packed[:, None] >> shifts) & np.uint8((1 << dtype.bits) - 1)
    return alone.reshape(-1)[:count].view(dtype.numpy)


def _external_bytes(tensor: TensorProto, folder: Path | None, what: str, size_bytes: int) -> bytes:
    """Bytes of a file beside the model. The file must lie inside the model's folder, links resolved."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if folder is None:
        raise _bad_external(what, f"its data is in the file {location!r}, but the model was not read from a folder",
                            "give the path of the model")  # fmt: skip
    try:
        path = (folder / location).resolve(strict=True)
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", size_bytes))
        inside = path.is_relative_to(folder) and path.is_file()
    except (OSError, ValueError) as error:
        raise _bad_external(what, f"its data file {location!r} cannot be read: {error}") from None
    if not inside:
        raise _bad_external(
            what, f"its data file {location!r} lies outside the model's folder", "move it beside the model"
        )
    if length != size_bytes or offset < 0 or offset + length > path.stat().st_size:
        raise _bad_external(what, f"it needs {size_bytes:,} bytes at an offset inside {location!r}; "
                                  f"the model says {length:,} bytes at {offset:,}")  # fmt: skip
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)


def _bad(what: str, expected: str, found: str) -> RelayError:
    return RelayError(rule="bad-tensor", message=f"{what} is not a tensor", expected=expected, found=found)


def _bad_external(what: str, reason: str, remedy: str = "") -> RelayError:
    return RelayError(rule="bad-external-data", message=f"{what}: {reason}", remedy=remedy)

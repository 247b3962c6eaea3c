"""Scalars as literals (`1`, `1f`, `2i64`, `-0f`, `True`), tensors as metadata; both ways."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from math import isnan, prod
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.span import Span
from relay.ir.expr import Constant
from relay.text.lexer import SUFFIXES

SUFFIX_OF: Mapping[DType, str] = {
    DType.INT32: "",
    DType.FLOAT32: "f",
    DType.INT2: "i2",
    DType.INT4: "i4",
    DType.INT8: "i8",
    DType.INT16: "i16",
    DType.INT64: "i64",
    DType.UINT2: "u2",
    DType.UINT4: "u4",
    DType.UINT8: "u8",
    DType.UINT16: "u16",
    DType.UINT32: "u32",
    DType.UINT64: "u64",
    DType.FLOAT16: "f16",
    DType.BFLOAT16: "bf16",
    DType.FLOAT64: "f64",
    DType.FLOAT4_E2M1FN: "f4_e2m1fn",
    DType.FLOAT8_E4M3FN: "f8_e4m3fn",
    DType.FLOAT8_E4M3FNUZ: "f8_e4m3fnuz",
    DType.FLOAT8_E5M2: "f8_e5m2",
    DType.FLOAT8_E5M2FNUZ: "f8_e5m2fnuz",
    DType.FLOAT8_E8M0FNU: "f8_e8m0fnu",
}
_DTYPE_OF = {suffix: dtype for dtype, suffix in SUFFIX_OF.items() if suffix} | {
    "f32": DType.FLOAT32,
    "i32": DType.INT32,
    "i": DType.INT32,
}
_NUMBER = re.compile(rf"(?P<digits>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf|nan)(?P<suffix>{SUFFIXES})?")
_SPECIAL = re.compile(rf"(?:inf|nan)(?:{SUFFIXES})")
MAX_LITERAL_CHARACTERS = 400


def is_special_float(name: str) -> bool:
    """Whether a name is a literal: `inff`, `nanf`, `inff64`, ..."""
    return _SPECIAL.fullmatch(name) is not None


def literal(constant: Constant) -> str | None:
    """A scalar as text, or None for what has no literal: tensors and NaNs with a payload.

    >>> literal(Constant(np.float32(0.1))), literal(Constant(np.int64(-3))), literal(Constant(np.ones(2)))
    ('0.1f', '-3i64', None)
    """
    array = constant.data
    if array.shape != ():
        return None
    dtype = constant.dtype
    if dtype is DType.BOOL:
        return str(bool(array))
    suffix = SUFFIX_OF[dtype]
    if not dtype.is_float:
        return f"{int(array)}{suffix}"
    number = float(array)
    if isnan(number):
        same = np.asarray(float("nan")).astype(dtype.numpy).tobytes() == array.tobytes()
        return f"nan{suffix}" if same else None
    # the shortest digits that give the same value: of the type itself where it is float32, of float64 else
    digits = str(np.float32(number)) if dtype is DType.FLOAT32 else repr(number)
    return f"{digits.removesuffix('.0')}{suffix}"


def read_literal(text: str, negative: bool, span: Span) -> Constant:
    """The scalar that a number stands for: int32 (int64, where it does not fit) or, with a point or exponent, float32,
    unless a suffix says else.

    Raises `RelayError` (rule `bad-number`) when the value does not fit the type.
    """
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > MAX_LITERAL_CHARACTERS:
        raise RelayError(rule="bad-number", message="this is not a number", span=span)
    digits, suffix = match.group("digits"), match.group("suffix")
    whole = digits.isdigit()
    dtype = _DTYPE_OF[suffix] if suffix else (DType.INT32 if whole else DType.FLOAT32)
    if whole and not suffix and not _fits(-int(digits) if negative else int(digits), dtype):
        dtype = DType.INT64
    shown = f"-{text}" if negative else text
    if dtype.is_float:
        value = float(digits)
        with np.errstate(over="ignore"):
            array = np.asarray(-value if negative else value).astype(dtype.numpy)
        fits = "inf" in digits or "nan" in digits or np.isfinite(array.astype(np.float64))
    else:
        fits = whole and _fits(-int(digits) if negative else int(digits), dtype)
        array = np.asarray(-int(digits) if negative else int(digits)).astype(dtype.numpy) if fits else None
    if not fits or array is None:
        raise RelayError(rule="bad-number", message=f"{shown} is not a value of {dtype.value}", span=span)
    return Constant(array, span=span)


def number(text: str) -> int | float | None:
    """The number that a token stands for where no tensor does, in attributes and shapes; None when it is none. A suffix
    says only whether it is whole.

    >>> number("2i64"), number("0.5f"), number("1f"), number("x")
    (2, 0.5, 1.0, None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None or len(text) > MAX_LITERAL_CHARACTERS:
        return None
    digits, suffix = match.group("digits"), match.group("suffix")
    if suffix and not _DTYPE_OF[suffix].is_float:
        return int(digits) if digits.isdigit() else None
    return float(digits) if suffix or not digits.isdigit() else int(digits)


def _fits(value: int, dtype: DType) -> bool:
    if dtype.is_unsigned_integer:
        return 0 <= value < 1 << dtype.bits
    return -(1 << (dtype.bits - 1)) <= value < 1 << (dtype.bits - 1)


def encode_constant(constant: Constant) -> dict[str, object]:
    """A constant as JSON: element type, shape, and the bytes (little-endian, row-major) in base64."""
    array = constant.data.astype(constant.dtype.numpy, copy=False)
    return {
        "dtype": constant.dtype.value,
        "shape": list(constant.data.shape),
        "data": base64.b64encode(array.tobytes()).decode("ascii"),
    }


def decode_constant(item: object) -> Constant:
    """The constant that `encode_constant` wrote. Raises `RelayError` (rule `bad-constant`) for anything else."""
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    dtype, shape, data = fields.get("dtype"), fields.get("shape"), fields.get("data")
    if not isinstance(dtype, str) or dtype not in set(DType) or not isinstance(data, str):
        raise _bad_constant("it needs dtype, shape and data")
    if not isinstance(shape, list) or not all(type(dim) is int and dim >= 0 for dim in cast("list[Any]", shape)):
        raise _bad_constant("its shape is not a list of extents")
    dims = tuple(cast("list[int]", shape))
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise _bad_constant("its data is not base64") from None
    element = DType(dtype)
    if len(dims) > 32 or prod(dims) * element.item_bytes != len(raw):
        raise _bad_constant(f"{len(raw)} bytes do not fill shape {dims} of {dtype}")
    if element is DType.BOOL and any(byte > 1 for byte in set(raw)):
        raise _bad_constant("a bool is neither 0 nor 1")
    return Constant(np.frombuffer(raw, dtype=element.numpy).reshape(dims))


def _bad_constant(why: str) -> RelayError:
    return RelayError(rule="bad-constant", message=f"a constant cannot be read: {why}")


def read_json(text: str, what: str) -> object:
    """JSON as Python values. Raises `RelayError` (rule `bad-json`)."""
    try:
        return json.loads(text)
    except RecursionError:
        raise RelayError(rule="bad-json", message=f"the JSON of {what} is nested too deep") from None
    except ValueError as error:
        raise RelayError(
            rule="bad-json", message=f"{what} is not JSON: {error}", expected="JSON, as relay.save_json writes it"
        ) from None


METADATA_CONSTANTS = "relay.Constant"


def write_metadata(constants: Iterable[Constant]) -> str:
    """The JSON that follows `#[metadata]`."""
    return json.dumps({METADATA_CONSTANTS: [encode_constant(constant) for constant in constants]}, indent=1)


def read_metadata(text: str | None) -> tuple[Constant, ...]:
    """The constants of a metadata section; none without one."""
    if text is None:
        return ()
    section = read_json(text, "the metadata section")
    items = cast("dict[str, Any]", section).get(METADATA_CONSTANTS, []) if isinstance(section, dict) else None
    if not isinstance(items, list):
        raise RelayError(
            rule="bad-metadata",
            message="the metadata section is not what the text format says",
            expected=f'{{"{METADATA_CONSTANTS}": [...]}}',
        )
    return tuple(decode_constant(item) for item in cast("list[Any]", items))

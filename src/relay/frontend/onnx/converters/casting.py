"""Other element types: Cast, CastLike, BitCast.   x[..] → [..]"""

from __future__ import annotations

import ml_dtypes

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.weights import ELEMENT_TYPES, UNSUPPORTED_TYPES
from relay.frontend.shared.formulas.normalizing import as_dtype as in_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import greater, less, where
from relay.ops.elementwise.convert import cast, reinterpret
from relay.ops.elementwise.elementwise_binary import multiply
from relay.te.reducers import highest

_FLOAT8 = (DType.FLOAT8_E4M3FN, DType.FLOAT8_E4M3FNUZ, DType.FLOAT8_E5M2, DType.FLOAT8_E5M2FNUZ)
_LARGEST_SCALE = 2.0**127  # and 2^-127 is the smallest of float8_e8m0fnu


def _cast(node: OnnxNode) -> Result:
    dtype = ELEMENT_TYPES.get(node.int("to"))
    if dtype is None:
        node.unsupported(f"to {UNSUPPORTED_TYPES.get(node.int('to'), 'an unknown type')}")
    return as_dtype(node, dtype)


def _cast_like(node: OnnxNode) -> Result:
    return as_dtype(node, node.value(1).dtype)


def as_dtype(node: OnnxNode, dtype: DType) -> Result:
    """Relay's cast but for three things: what is too large for a float of 8 bits becomes its largest (unless `saturate`
    is 0), powers of two are rounded as `round_mode` says, and integers of less than a byte take the low bits of a float
    without its fraction."""
    value = node.value(0)
    if dtype in _FLOAT8 and node.int("saturate", 1):
        return in_dtype(_within(value, float(ml_dtypes.finfo(dtype.numpy).max)), dtype)
    if value.dtype is dtype:
        return value
    if dtype is DType.FLOAT8_E8M0FNU:
        return _power_of_two(node, value)
    if dtype.is_sub_byte_integer and value.dtype.is_float:
        return cast(cast(value.expr, DType.INT32), dtype)
    return cast(value.expr, dtype)


def _within(value: Value, limit: float) -> Expr:
    """`value` from -limit to limit, NaN as it is."""
    dtype = value.dtype
    if dtype.is_bool or highest(dtype) <= limit:
        return value.expr  # its type does not reach so far
    if dtype.bits < 16 and dtype.is_float:  # which may not have the limit
        return _between(cast(value.expr, DType.FLOAT32), -limit, limit, DType.FLOAT32)
    return _between(value.expr, 0 if dtype.is_unsigned_integer else -limit, limit, dtype)


def _between(x: Expr, least: float, most: float, dtype: DType) -> Expr:
    low, high = const(least, dtype), const(most, dtype)
    return where(greater(x, high), high, where(less(x, low), low, x))


def _power_of_two(node: OnnxNode, value: Value) -> Result:
    """To the nearest power of two, the larger one in the middle; or, where that is below (above) the number, to the
    next one up (down)."""
    x = in_dtype(value.expr, DType.FLOAT32)
    if node.int("saturate", 1):
        x = _between(x, 1 / _LARGEST_SCALE, _LARGEST_SCALE, DType.FLOAT32)
    nearest = cast(cast(x, DType.FLOAT8_E8M0FNU), DType.FLOAT32)
    match node.text("round_mode", "up"):
        case "nearest":
            power: Expr = nearest
        case "up":
            power = where(less(nearest, x), multiply(nearest, const(2.0, DType.FLOAT32)), nearest)
        case "down":
            power = where(greater(nearest, x), multiply(nearest, const(0.5, DType.FLOAT32)), nearest)
        case other:
            node.unsupported(f"with round_mode {other!r}")
    return cast(power, DType.FLOAT8_E8M0FNU)


def _bit_cast(node: OnnxNode) -> Result:
    """The same bits; a bool is a byte that is 0 or 1."""
    value, dtype = node.value(0), ELEMENT_TYPES.get(node.int("to"))
    if dtype is None:
        node.unsupported(f"to {UNSUPPORTED_TYPES.get(node.int('to'), 'an unknown type')}")
    if value.dtype is dtype:
        return value
    if DType.BOOL in (value.dtype, dtype):
        if 8 not in (value.dtype.bits, dtype.bits):
            node.unsupported(f"of {value.type} to {dtype}")
        if dtype is DType.BOOL:
            return cast(value.expr, dtype)
        byte = cast(value.expr, DType.UINT8)
        return byte if dtype is DType.UINT8 else reinterpret(byte, dtype)
    if value.dtype.bits != dtype.bits:
        node.unsupported(f"of {value.type} to {dtype}")
    return reinterpret(value.expr, dtype)


CASTS: tuple[Converter, ...] = (
    converter("BitCast", _bit_cast, "to"),
    converter("Cast", _cast, "to", "saturate", "round_mode", changes=(19,)),
    converter("CastLike", _cast_like, "saturate", "round_mode", changes=(19,)),
)

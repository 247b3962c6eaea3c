"""Other element types: Cast, CastLike.   x[..] → [..]"""

from __future__ import annotations

import ml_dtypes

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.onnx.weights import ELEMENT_TYPES, UNSUPPORTED_TYPES
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import greater, less, where
from relay.ops.elementwise.convert import cast
from relay.te.reducers import highest

_FLOAT8 = (DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2)


def _cast(node: OnnxNode) -> Result:
    dtype = ELEMENT_TYPES.get(node.int("to"))
    if dtype is None:
        node.unsupported(f"to {UNSUPPORTED_TYPES.get(node.int('to'), 'an unknown type')}")
    return _as_dtype(node, dtype)


def _cast_like(node: OnnxNode) -> Result:
    return _as_dtype(node, node.value(1).dtype)


def _as_dtype(node: OnnxNode, dtype: DType) -> Result:
    """Relay's cast but for two things: what is too large for a float of 8 bits becomes its largest (unless `saturate`
    is 0), and int4 takes the low bits of a float without its fraction."""
    value = node.value(0)
    if value.dtype is dtype:
        return value
    if dtype in _FLOAT8 and node.int("saturate", 1):
        return cast(_within(value, float(ml_dtypes.finfo(dtype.numpy).max)), dtype)
    if dtype is DType.INT4 and value.dtype.is_float:
        return cast(cast(value.expr, DType.INT32), dtype)
    return cast(value.expr, dtype)


def _within(value: Value, limit: float) -> Expr:
    """`value` from -limit to limit, NaN as it is."""
    dtype = value.dtype
    if dtype.is_bool or dtype is DType.FLOAT8_E4M3FN or (dtype.is_integer and highest(dtype) <= limit):
        return value.expr  # its type does not reach so far
    high, low = const(limit, dtype), const(0 if dtype.is_unsigned_integer else -limit, dtype)
    return where(greater(value.expr, high), high, where(less(value.expr, low), low, value.expr))


CASTS: tuple[Converter, ...] = (
    converter("Cast", _cast, "to", "saturate", changes=(19,)),
    converter("CastLike", _cast_like, "saturate", changes=(19,)),
)

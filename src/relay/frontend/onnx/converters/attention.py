"""Attention.   query[batch, heads, m, d], key[batch, shared, n, d], value[batch, shared, n, v] → [batch, heads, m, v]

What Relay's operator does not have (a soft cap, windows, the scores as an output, …) is refused, and ONNX's own
definition takes its place.
"""

from __future__ import annotations

import math

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.heads import apart, for_each_head, together
from relay.frontend.shared.formulas.triangles import extent, in_triangle
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import greater, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import divide, logical_and
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.manipulation.combine import concatenate
from relay.ops.nn.attention import attention
from relay.ops.reduction import reduce

_OFFSET_SINCE = 25
"""The opset since which a causal mask counts the keys of the past."""
_FLOAT = 1


def _attention(node: OnnxNode) -> Result:
    if node.optional_value(6) is not None:
        node.unsupported("with padded keys")
    if node.int("softmax_precision", _FLOAT) != _FLOAT:
        node.unsupported("with a softmax of another precision")
    query, key, value = (_heads_of(node, index, name) for index, name in _OPERANDS)
    key, value = _with_past(node, key, 4), _with_past(node, value, 5)
    heads, depth = query.shape[1], query.shape[3]
    queries, scale = query.expr, node.float("scale", 1.0)
    if not node.has("scale") and isinstance(depth, int):
        scale = 1 / math.sqrt(max(depth, 1))  # without elements there is nothing to scale
    elif not node.has("scale"):
        queries = divide(queries, sqrt(cast(extent((query, 3)), query.dtype)))
    keys, values = (for_each_head(node, each.expr, each.shape[1], heads, 1) for each in (key, value))
    allowed, mask = _mask(node, query, key)
    result: Expr = attention(queries, keys, values, 0.0 if mask is None else mask, scale)
    if allowed is not None:
        result = where(allowed, result, const(0, query.dtype))
    if node.value(0).rank == 3:
        batch, rows = node.value(0).shape[:2]
        result = together(result, (batch, rows, heads * value.shape[-1]))
    return (result, key.expr, value.expr, None)


_OPERANDS = ((0, "q_num_heads"), (1, "kv_num_heads"), (2, "kv_num_heads"))


def _heads_of(node: OnnxNode, index: int, count: str) -> Value:
    value = node.value(index)
    if value.dtype is not node.value(0).dtype or value.rank not in (3, 4):
        node.unsupported(f"of {value.type}")
    if value.rank == 4:
        return value
    return _as_value(node, apart(node, value.expr, value.shape, node.int(count)))


def _with_past(node: OnnxNode, new: Value, index: int) -> Value:
    """What is kept of the rows before, and the new ones behind it."""
    past = node.optional_value(index)
    return new if past is None else _as_value(node, concatenate([past.expr, new.expr], axis=2))


def _as_value(node: OnnxNode, expr: Expr) -> Value:
    return Value("", expr, node.type_of(expr))


def _mask(node: OnnxNode, query: Value, key: Value) -> tuple[Expr | None, Expr | None]:
    """`(which rows of the query attend to anything, the mask)`, each None where all is allowed. A row that attends to
    nothing gives 0. A causal row attends to itself and what comes before, so to something."""
    given = node.optional_value(3)
    causal = _causal(node, query, key) if node.int("is_causal", 0) else None
    if given is None:
        return None, causal
    if given.rank == 0 or given.shape[-1] not in (1, key.shape[2]):
        node.unsupported(f"with a mask of type {given.type}")
    if given.dtype is DType.BOOL:
        mask = given.expr if causal is None else logical_and(given.expr, causal)
        return reduce.any(mask, [-1], keepdims=True), mask
    nothing = const(-math.inf, given.dtype)
    mask = given.expr if causal is None else where(causal, given.expr, nothing)
    return greater(reduce.max(mask, [-1], keepdims=True), nothing), mask


def _causal(node: OnnxNode, query: Value, key: Value) -> Expr:
    past = node.optional_value(4)
    offset = 0 if past is None else past.shape[2]
    if not isinstance(offset, int) or (past is not None and node.opset < _OFFSET_SINCE):
        node.unsupported("that is causal, with a past")
    return in_triangle((query, 2), (key, 2), offset)


ATTENTION: tuple[Converter, ...] = (
    converter(
        "Attention", _attention, "is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale",
        "softmax_precision", changes=(24, 25),
    ),
)  # fmt: skip

"""Scaled dot-product attention.   query[.., m, d], key[.., n, d], value[.., n, v] → [.., m, v]"""

from __future__ import annotations

import math

from relay.frontend.shared.formulas.heads import for_each_head
from relay.frontend.shared.formulas.products import matrix_product
from relay.frontend.shared.formulas.triangles import in_triangle
from relay.frontend.shared.node import Result
from relay.frontend.torch.converters.dropout import dropped
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, ExprBase, const
from relay.ops.elementwise.comparison import where
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.attention import attention
from relay.ops.nn.softmax import softmax


def _attention(node: TorchNode) -> Result:
    """A mask of booleans says what is attended to, one of numbers is added. With `is_causal` a row attends to itself
    and what comes before. With `enable_gqa` several heads of the query share one of key and value."""
    query, key = node.value(0), node.value(1)
    depth = query.shape[-1]
    if not node.has("scale") and not isinstance(depth, int):
        node.unsupported("of a symbolic depth without a scale")
    scale = node.float("scale") if node.has("scale") else 1 / math.sqrt(depth)  # pyright: ignore[reportArgumentType]
    mask: Expr | float = 0.0
    if node.flag("is_causal"):
        mask = in_triangle((query, query.rank - 2), (key, key.rank - 2))
    elif node.optional_value(3) is not None:
        mask = node.expr(3)
    share = node.float("dropout_p", 0.0)
    if share:
        return _with_dropout(node, mask, scale, share)
    return attention(query.expr, _heads(node, 1), _heads(node, 2), mask, scale)


def _with_dropout(node: TorchNode, mask: Expr | float, scale: float, share: float) -> Expr:
    """By its weights, of which a share is dropped."""
    scores = matrix_product(node, multiply(node.expr(), const(scale, node.dtype)), _transposed(node, _heads(node, 1)))
    if isinstance(mask, ExprBase):
        is_chosen = node.type_of(mask).dtype.is_bool
        scores = where(mask, scores, const(-math.inf, node.dtype)) if is_chosen else add(scores, mask)
    weights, _ = dropped(node, softmax(scores), share)
    return matrix_product(node, weights, _heads(node, 2))


def _transposed(node: TorchNode, x: Expr) -> Expr:
    rank = len(node.type_of(x).shape)
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def _heads(node: TorchNode, index: int) -> Expr:
    """Key or value with as many heads, and batches, as the query has."""
    query, value = node.value(0), node.value(index)
    expr = value.expr
    if node.flag("enable_gqa") and value.shape[-3] != query.shape[-3]:
        return for_each_head(node, expr, value.shape[-3], query.shape[-3], value.rank - 3)
    wanted = (*query.shape[:-2], *value.shape[-2:])
    return expr if value.shape == wanted else broadcast_to(expr, wanted)


ATTENTION: tuple[Converter, ...] = converters(
    "scaled_dot_product_attention", _attention, "dropout_p", "is_causal", "scale", "enable_gqa"
)

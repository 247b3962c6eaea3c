"""Layers that PyTorch runs as one operator in inference: multi-head attention, and a transformer's encoder layer.

x[batch, n, d] → [batch, n, d] (Vaswani et al. 2017, 1706.03762, sections 3.1 to 3.3)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.elementwise.activation import bias_add, gelu, relu
from relay.ops.elementwise.comparison import where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.elementwise.elementwise_unary import logical_not
from relay.ops.manipulation.combine import split
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.attention import attention
from relay.ops.nn.matmul import batch_matmul, dense
from relay.ops.nn.norm import layer_norm
from relay.ops.nn.softmax import softmax
from relay.ops.reduction.reduce import mean

_OF_QUERIES, _OF_KEYS = 0, 1
"""What a mask is over: queries and keys [m, n], keys [batch, n]; else [batch, heads, m, n]."""


def _heads(node: TorchNode, x: Expr, heads: int) -> Expr:
    """x[batch, n, d] → [batch, heads, n, d / heads]"""
    batch, rows, width = node.type_of(x).shape
    if not isinstance(width, int):
        node.unsupported("of a symbolic width")
    return transpose(reshape(x, (batch, rows, heads, width // heads), allowzero=True), (0, 2, 1, 3))


def _linear(x: Expr, weight: Expr, bias: Expr) -> Expr:
    return bias_add(dense(x, weight), bias, axis=-1)


def _attended(node: TorchNode, position: int) -> Expr | None:
    """What is attended to, as [batch or 1, heads or 1, m or 1, n]; the mask says what is not."""
    mask = node.optional_value(position)
    if mask is None:
        return None
    kind, shape = node.attributes.get("mask_type"), mask.shape
    wanted: Sequence[IntExpr] = shape
    if kind == _OF_QUERIES:
        wanted = (1, 1, *shape)
    elif kind == _OF_KEYS:
        wanted = (shape[0], 1, 1, shape[1])
    return logical_not(cast(reshape(mask.expr, wanted, allowzero=True), DType.BOOL))


def _joined(node: TorchNode, x: Expr) -> Expr:
    """x[batch, heads, n, v] → [batch, n, heads · v]"""
    batch, heads, rows, width = node.type_of(x).shape
    return reshape(transpose(x, (0, 2, 1, 3)), (batch, rows, heads * width), allowzero=True)


def _encoder_layer(node: TorchNode) -> Result:
    """x, then weight and bias of: the three projections, that of the result, both norms, both linear layers; a mask."""
    heads, epsilon, norm_first = node.int("num_heads"), node.float("eps"), node.flag("norm_first")
    expand, attended = gelu if node.flag("use_gelu") else relu, _attended(node, 13)
    projections, result, norm1, norm2, linear1, linear2 = (
        (node.expr(place), node.expr(place + 1)) for place in range(1, 13, 2)
    )

    def normed(x: Expr, norm: tuple[Expr, Expr]) -> Expr:
        return layer_norm(x, *norm, axis=-1, epsilon=epsilon)

    def self_attention(x: Expr) -> Expr:
        query, key, value = (_heads(node, each, heads) for each in split(_linear(x, *projections), 3, axis=-1))
        scale = 1 / math.sqrt(_depth(node, query))
        found = attention(query, key, value, 0.0 if attended is None else attended, scale)
        return _linear(_joined(node, found), *result)

    def feed_forward(x: Expr) -> Expr:
        return _linear(expand(_linear(x, *linear1)), *linear2)

    x = node.expr()
    if norm_first:
        x = add(x, self_attention(normed(x, norm1)))
        return add(x, feed_forward(normed(x, norm2)))
    x = normed(add(x, self_attention(x)), norm1)
    return normed(add(x, feed_forward(x)), norm2)


def _multi_head_attention(node: TorchNode) -> Result:
    """query, key, value; weight and bias of their projections, one below the other, and of the result's; a mask.
    Gives what is attended to, and the weights, [batch, m, n] with `average_attn_weights`, else of each head."""
    heads = node.int("num_head")
    weights, biases = split(node.expr(3), 3, axis=0), split(node.expr(4), 3, axis=0)
    query, key, value = (
        _heads(node, _linear(node.expr(place), weights[place], biases[place]), heads) for place in range(3)
    )
    attended, scale = _attended(node, 7), 1 / math.sqrt(_depth(node, query))
    if not node.flag("need_weights"):
        found = attention(query, key, value, 0.0 if attended is None else attended, scale)
        return _linear(_joined(node, found), node.expr(5), node.expr(6)), None
    scores = _of_heads(node, query, key, transposed=True)
    scores = multiply(scores, const(scale, node.dtype))
    if attended is not None:
        scores = where(attended, scores, const(-math.inf, node.dtype))
    chosen = softmax(scores)
    found = _of_heads(node, chosen, value, transposed=False)
    shown = mean(chosen, 1) if node.flag("average_attn_weights") else chosen
    return _linear(_joined(node, found), node.expr(5), node.expr(6)), shown


def _of_heads(node: TorchNode, a: Expr, b: Expr, *, transposed: bool) -> Expr:
    """a[batch, heads, m, k] × b[batch, heads, n, k] → [batch, heads, m, n]; where it is not transposed, b[.., k, n]."""
    (batch, heads, rows, inner), other = node.type_of(a).shape, node.type_of(b).shape
    left = reshape(a, (batch * heads, rows, inner), allowzero=True)
    right = reshape(b, (batch * heads, *other[2:]), allowzero=True)
    product = batch_matmul(left, right, transpose_b=transposed)
    return reshape(product, (batch, heads, rows, other[2 if transposed else 3]), allowzero=True)


def _depth(node: TorchNode, query: Expr) -> int:
    depth = node.type_of(query).shape[-1]
    assert isinstance(depth, int)
    return depth


ENCODER_LAYERS: tuple[Converter, ...] = (
    *converters(
        "_transformer_encoder_layer_fwd", _encoder_layer, "embed_dim", "num_heads", "use_gelu", "norm_first", "eps",
        "mask_type",
    ),
    *converters(
        "_native_multi_head_attention", _multi_head_attention, "embed_dim", "num_head", "need_weights",
        "average_attn_weights", "mask_type",
    ),
)  # fmt: skip

"""The gradient of attention, by its weights."""

from __future__ import annotations

from relay.ir.expr import Call, Expr, const
from relay.ops.elementwise.comparison import where
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.gradients.shared import kept_where, tensor_of
from relay.ops.manipulation.shape import reshape
from relay.ops.nn.attention import AttentionAttributes
from relay.ops.nn.matmul import batch_matmul
from relay.ops.nn.softmax import softmax
from relay.ops.reduction.reduce import sum as sum_over

Entries = tuple[Expr | None, ...]


def of_attention(call: Call, given: Expr) -> Entries:
    """With scores S = Q Kᵀ · scale, weights P = softmax S and result O = P V: V gets Pᵀ G, the scores get
    D = P (G Vᵀ - Σ G O), Q gets D K and K gets Dᵀ Q, scaled (Dao et al. 2022, section 3.1)."""
    assert isinstance(call.attrs, AttentionAttributes)
    query, key, value, mask = call.args
    q, k, v = (_matrices(each) for each in (query, key, value))
    g, o = _matrices(given), _matrices(call)
    shape = (*tensor_of(query).shape[:-1], tensor_of(key).shape[-2])
    scores = reshape(multiply(batch_matmul(q, k), call.attrs.scale), shape)
    is_chosen = tensor_of(mask).dtype.is_bool
    scores = where(mask, scores, const(call.attrs.masked, tensor_of(scores).dtype)) if is_chosen else add(scores, mask)
    weights = _matrices(softmax(scores))
    by_value = batch_matmul(weights, g, transpose_a=True, transpose_b=False)
    along = sum_over(multiply(g, o), axis=-1, keepdims=True)
    by_scores = multiply(weights, subtract(batch_matmul(g, v), along))
    by_products = _matrices(kept_where(mask, reshape(by_scores, shape))) if is_chosen else by_scores
    scaled = multiply(by_products, call.attrs.scale)
    return (
        reshape(batch_matmul(scaled, k, transpose_b=False), tensor_of(query).shape),
        reshape(batch_matmul(scaled, q, transpose_a=True, transpose_b=False), tensor_of(key).shape),
        reshape(by_value, tensor_of(value).shape),
        None if is_chosen else reshape(by_scores, shape),
    )


def _matrices(data: Expr) -> Expr:
    """data[.., m, n] as [batch, m, n]"""
    return reshape(data, (-1, *tensor_of(data).shape[-2:]))

"""Scaled dot-product attention (Vaswani et al. 2017, 1706.03762, section 3.2.1) as one operator."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide, minimum
from relay.arith.expr import add as add_extents
from relay.arith.expr import multiply as multiply_extents
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, const
from relay.ir.known_types import known_tensor_type
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.elementwise.comparison import where
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, as_expr, call
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FusionKind, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.ops.manipulation.shape import reshape
from relay.ops.nn.matmul import batch_matmul
from relay.ops.nn.softmax import softmax
from relay.te.operation import Reduced
from relay.tir.expr import Value


@frozen
class AttentionAttributes(Attributes):
    """`scale`: what scores are multiplied by. `masked`: the score where a boolean mask is false."""

    scale: float = 1.0
    masked: float = -math.inf


_MATRIX = 2
PANEL = 32
"""Keys that are turned together: lanes of all of them are side by side, so that a product reads memory as it lies."""


def _rule(run: RelationRun, attributes: AttentionAttributes) -> Type:  # noqa: ARG001
    """query[.., m, d], key[.., n, d], value[.., n, v], mask broadcast to [.., m, n] → [.., m, v]"""
    dtype = run.dtype_in(0, lambda dtype: dtype.is_float, "a floating-point type")
    query, key, value, mask = (run.tensor(position) for position in range(4))
    for position, matrices in enumerate((query, key, value)):
        if len(matrices.shape) < _MATRIX or len(matrices.shape) != len(query.shape):
            run.conflict("wrong-rank", f"`{run.names[position]}` must have the axes of the others, and at least 2",
                         "[.., rows, columns]", str(matrices), (position,))  # fmt: skip
        run.same_dtype(dtype, position)
        for axis, (left, right) in enumerate(zip(query.shape[:-2], matrices.shape[:-2], strict=True)):
            run.equal(left, right, f"axis {axis} of `{run.names[position]}`", (0, position))
    run.equal(query.shape[-1], key.shape[-1], "the last axis of `key`", (0, 1), rule="axes-differ")
    run.equal(key.shape[-2], value.shape[-2], "the number of rows of `value`", (1, 2))
    if not mask.dtype.is_bool:
        run.same_dtype(dtype, 3)
    scores = (*query.shape[:-1], key.shape[-2])
    if len(mask.shape) > len(scores):
        run.conflict("wrong-rank", "`mask` must have no more axes than the scores", f"{len(scores)} or fewer",
                     str(mask), (3,))  # fmt: skip
    for extent, whole in zip(reversed(mask.shape), reversed(scores), strict=False):
        if extent != 1:
            run.equal(whole, extent, "an axis of `mask`", (3,), "it is as long as the scores, or 1")
    return TensorType((*query.shape[:-1], value.shape[-1]), dtype)


def _products(attributes: AttentionAttributes, inputs: Sequence[Type], result: Type) -> IntExpr:  # noqa: ARG001
    """Of queries with keys, and of weights with values: batch · m · n · (d + v)."""
    query, key, value = (each for each in inputs[:3] if isinstance(each, TensorType))
    rows: IntExpr = key.shape[-2]
    for extent in query.shape[:-1]:
        rows = multiply_extents(rows, extent)
    return multiply_extents(rows, add_extents(query.shape[-1], value.shape[-1]))


def _meaning(attributes: AttentionAttributes, query: Array, key: Array, value: Array, mask: Array) -> Array:
    q, k, v = wide(query), wide(key), wide(value)
    with np.errstate(all="ignore"):
        scores = np.matmul(q, np.swapaxes(k, -1, -2)) * q.dtype.type(attributes.scale)
        if mask.dtype == np.bool_:
            scores = np.where(mask, scores, q.dtype.type(attributes.masked))
        else:
            scores = scores + wide(mask)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=-np.inf))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return to_dtype(np.matmul(weights, v), dtype_of(query.dtype))


def _compute(attributes: AttentionAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """Stages `attention_keys` (turned, in panels), `attention_products`, `attention_scores`, `attention_max`,
    `attention_exp`, `attention_sum`, `attention_share` (1 / sum; 0 of no keys), `attention_values` and `attention`."""
    query, key, value, mask = inputs
    dtype = query.dtype.computation
    *batch, keys, depth = key.shape
    rows = query.shape[:-1]
    d, n0, n1, n2 = te.reduce_axis(depth, "d"), *(te.reduce_axis(keys, f"n{number}") for number in range(3))

    def masked(score: Value, indices: tuple[IntExpr, ...]) -> Value:
        own = indices[len(indices) - len(mask.shape) :]
        read = mask[tuple(0 if extent == 1 else index for extent, index in zip(mask.shape, own, strict=True))]
        if mask.dtype.is_bool:
            return te.select(read, score, te.const(attributes.masked, dtype))
        return score + te.cast(read, dtype)

    def turned(*i: IntExpr) -> Value:
        *at, panel, along, lane = i
        row = panel * PANEL + lane
        whole = isinstance(keys, int) and keys % PANEL == 0
        return te.cast(key[(*at, row if whole else minimum(row, keys - 1), along)], dtype)

    columns = te.compute((*batch, ceil_divide(keys, PANEL), depth, PANEL), turned, name="attention_keys")

    def multiplied(*i: IntExpr) -> Reduced:
        key_read = columns[(*i[:-2], i[-1] // PANEL, d, i[-1] % PANEL)]
        return te.sum(te.cast(query[(*i[:-1], d)], dtype) * key_read, axis=d)

    products = te.compute((*rows, keys), multiplied, name="attention_products")
    scores = te.compute(
        (*rows, keys),
        lambda *i: masked(products[i] * te.const(attributes.scale, dtype), i),
        name="attention_scores",
    )
    largest = te.compute(rows, lambda *i: te.max(scores[(*i, n0)], axis=n0), name="attention_max")
    powers = te.compute((*rows, keys), lambda *i: te.exp(scores[i] - largest[i[:-1]]), name="attention_exp")
    total = te.compute(rows, lambda *i: te.sum(powers[(*i, n1)], axis=n1), name="attention_sum")
    weighted = te.compute(
        result.shape,
        lambda *i: te.sum(powers[(*i[:-1], n2)] * te.cast(value[(*i[:-2], n2, i[-1])], dtype), axis=n2),
        name="attention_values",
    )
    zero, one = te.const(0, dtype), te.const(1, dtype)
    share = te.compute(
        rows, lambda *i: te.select(te.equal(total[i], zero), zero, one / total[i]), name="attention_share"
    )
    return te.compute(result.shape, lambda *i: te.cast(weighted[i] * share[i[:-1]], query.dtype), name="attention")


def _formula(attributes: AttentionAttributes, query: Expr, key: Expr, value: Expr, mask: Expr) -> Expr:
    q, k, v, allowed = map(known_tensor_type, (query, key, value, mask))

    def batched(matrices: Expr, type_: TensorType) -> Expr:
        return reshape(matrices, (-1, *type_.shape[-2:]))

    products = batch_matmul(batched(query, q), batched(key, k))
    scores = multiply(reshape(products, (*q.shape[:-1], k.shape[-2])), attributes.scale)
    if allowed.dtype.is_bool:
        scores = where(mask, scores, attributes.masked)
    else:
        scores = add(scores, mask)
    weights = reshape(softmax(scores), (-1, q.shape[-2], k.shape[-2]))
    return reshape(batch_matmul(weights, batched(value, v), transpose_b=False), (*q.shape[:-1], v.shape[-1]))


ATTENTION = define(
    "nn.attention",
    "Weighted means of values, the weights softmax of how queries fit keys.",
    inputs={
        "query": "[.., m, d]",
        "key": "[.., n, d]",
        "value": "[.., n, v]",
        "mask": "broadcast to [.., m, n]: numbers are added to the scores, False puts `masked` in their place",
    },
    attributes=AttentionAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
    layout=OwnLayout("its axes are those of matrix products"),
    floating_point=FloatingPointClass.ROUNDING,
    precision=PrecisionRule.NARROW,
    effect=Effect.PURE,
    gradient=gradient_above("attention", "of_attention"),
    batch=NO_BATCH_RULE_YET,
    scale=NO_SCALE_YET,
    support_level=10,
    formula=_formula,
    multiply_adds=_products,
)

ATTENTIONS = (ATTENTION,)


def attention(
    query: Argument,
    key: Argument,
    value: Argument,
    mask: Argument = 0.0,
    scale: float | None = None,
    masked: float = -math.inf,
) -> Call:
    """softmax(query · keyᵀ · scale + mask) · value.   query[.., m, d], key[.., n, d], value[.., n, v] → [.., m, v]

    `scale` is 1/√d unless given. `mask` is broadcast to the scores [.., m, n]: numbers are added, where booleans are
    False the score is `masked`. Raises `RelayError`: `axes-differ`, `extents-differ`, `wrong-rank`, `wrong-dtype`,
    `unknown-depth` (no scale is given, and d is not known, or 0).

    >>> from relay.ops.framework.build import var
    >>> q, k = var("q", shape=(12, 128, 64)), var("k", shape=(12, "n", 64))
    >>> print(attention(q, k, k).checked_type)
    Tensor[(12, 128, 64), float32]
    """
    queries = as_expr(query)
    type_ = queries.checked_type
    known = type_ if isinstance(type_, TensorType) else None
    allowed = const(mask, known.dtype if known else DType.FLOAT32) if isinstance(mask, (int, float)) else mask
    depth = known.shape[-1] if known and known.shape else None
    if scale is None and not (isinstance(depth, int) and depth):
        raise RelayError(
            rule="unknown-depth", message="the scale of nn.attention follows from the depth of `query`",
            expected="a last axis of known extent, at least 1", found=str(type_), remedy="give the scale",
        )  # fmt: skip
    factor = scale if scale is not None else 1 / math.sqrt(depth if isinstance(depth, int) else 1)
    return call(ATTENTION, (queries, key, value, allowed), AttentionAttributes(factor, masked))

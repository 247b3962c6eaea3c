"""Losses of classes.   log probabilities[batch, classes, ..] × targets[batch, ..] → loss"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Node
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import not_equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import divide, multiply
from relay.ops.elementwise.elementwise_unary import negative
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.index import gather, take
from relay.ops.manipulation.shape import expand_dims, squeeze
from relay.ops.reduction import reduce


def negative_log_likelihood(
    node: Node, logs: Expr, scores: Value, targets: Value, weights: Value | None, reduction: str, ignored: int | None
) -> Expr:
    """-w[t] · logs[.., t, ..] for each target t, and 0 for the ignored one; `reduction` is over all of them, and the
    mean one of weights. `logs` has the type of `scores`."""
    if scores.rank < 2 or targets.rank != scores.rank - 1:
        node.unsupported(f"of {scores.type} and {targets.type}")
    if reduction not in ("none", "sum", "mean"):
        node.unsupported(f"with the reduction {reduction!r}")
    dtype, places = scores.dtype, as_dtype(targets.expr, DType.INT64)
    counts = None if ignored is None else not_equal(places, const(ignored, DType.INT64))
    if counts is not None:
        places = where(counts, places, const(0, DType.INT64))
    places = check_indices(places, (scores.shape[1],), f"{node.operator} {node.name}")
    losses = negative(squeeze(gather(logs, 1, expand_dims(places, 1)), (1,)))
    each = None if weights is None else take(weights.expr, places, axis=0, mode="wrap")
    if counts is not None:
        each = cast(counts, dtype) if each is None else where(counts, each, const(0, dtype))
        losses = where(counts, losses, const(0, dtype))
    if weights is not None and each is not None:
        losses = multiply(losses, each)
    if reduction == "none":
        return losses
    axes = tuple(range(targets.rank))
    if reduction == "mean" and each is None:
        return reduce.mean(losses, axes)
    total = reduce.sum(losses, axes)
    return total if reduction == "sum" or each is None else divide(total, reduce.sum(each, axes))

"""What linear models and trees make of their sums: a transformation of scores, and classes.   scores[b, classes]"""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.node import OnnxNode
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import greater, where
from relay.ops.elementwise.elementwise_binary import subtract
from relay.ops.elementwise.elementwise_unary import negative, sigmoid
from relay.ops.indexing.index import take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import squeeze
from relay.ops.nn.softmax import softmax
from relay.ops.reduction.reduce_index import argmax


def transformed(node: OnnxNode, scores: Expr, transform: str) -> Expr:
    match transform:
        case "NONE":
            return scores
        case "LOGISTIC":
            return sigmoid(scores)
        case "SOFTMAX":
            return softmax(scores, -1)
        case other:
            return node.unsupported(f"with post_transform {other!r}")


def class_labels(node: OnnxNode, ints: str, texts: str) -> Expr:
    """The classes, in order: int64[classes]"""
    if node.has(texts):
        node.unsupported("with classes that are texts")
    return const(np.array(node.ints(ints), np.int64))


def of_two_classes(score: Expr, threshold: float, labels: Expr, dtype: DType) -> Expr:
    """The label of each score[b, 1]: the second above the threshold."""
    first, second = (take(labels, const(place, DType.INT64)) for place in (0, 1))
    return squeeze(where(greater(score, const(threshold, dtype)), second, first), [1])


def both_ways(score: Expr) -> Expr:
    """[-s, s] of score[b, 1]."""
    return concatenate([negative(score), score], 1)


def with_rest(score: Expr, dtype: DType) -> Expr:
    """[1 - s, s] of score[b, 1]."""
    return concatenate([subtract(const(1, dtype), score), score], 1)


def best(scores: Expr, labels: Expr) -> Expr:
    """The label of the largest score."""
    return take(labels, argmax(scores, 1), axis=0)

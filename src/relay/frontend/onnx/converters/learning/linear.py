"""LinearRegressor and LinearClassifier.   x[b, features] → scores[b, targets]"""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.learning.scores import (
    best,
    both_ways,
    class_labels,
    of_two_classes,
    transformed,
    with_rest,
)
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr, const
from relay.ops.elementwise.activation import bias_add
from relay.ops.nn.matmul import dense


def _scores(node: OnnxNode, targets: int) -> Expr:
    """x · coefficientsᵀ + intercepts"""
    coefficients = np.array(node.ints("coefficients"), np.float32)
    if targets < 1 or coefficients.size % targets or node.value(0).rank != 2:
        node.unsupported(f"of {node.value(0).type} with {coefficients.size} coefficients for {targets} targets")
    result: Expr = dense(as_dtype(node.expr(), DType.FLOAT32), const(coefficients.reshape(targets, -1)))
    intercepts = np.array(node.ints("intercepts", ()), np.float32)
    return bias_add(result, const(intercepts), axis=-1) if intercepts.size else result


def _regressor(node: OnnxNode) -> Result:
    return transformed(node, _scores(node, node.int("targets")), node.text("post_transform"))


def _classifier(node: OnnxNode) -> Result:
    """The label and the scores. One row of coefficients for two classes is the score of the second; the first has the
    rest (as onnxruntime has it), or the same with the other sign where a transformation follows."""
    labels, features = class_labels(node, "classlabels_ints", "classlabels_strings"), node.value(0).shape[-1]
    count, transform = len(node.ints("coefficients")), node.text("post_transform")
    if not isinstance(features, int) or not features or count % features:
        node.unsupported(f"of {node.value(0).type} with {count} coefficients")
    rows, classes = count // features, len(node.ints("classlabels_ints"))
    scores = _scores(node, rows)
    if rows == 1 and classes == 2:
        given = with_rest(scores, DType.FLOAT32) if transform == "NONE" else both_ways(scores)
        return of_two_classes(scores, 0.0, labels, DType.FLOAT32), transformed(node, given, transform)
    if rows != classes:
        node.unsupported(f"with {rows} scores for {classes} classes")
    return best(scores, labels), transformed(node, scores, transform)


LINEAR: tuple[Converter, ...] = (
    converter("ai.onnx.ml.LinearRegressor", _regressor, "coefficients", "intercepts", "post_transform", "targets"),
    converter(
        "ai.onnx.ml.LinearClassifier", _classifier, "classlabels_ints", "classlabels_strings", "coefficients",
        "intercepts", "multi_class", "post_transform",
    ),
)  # fmt: skip

"""Losses: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss."""

from __future__ import annotations

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.losses import negative_log_likelihood
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr
from relay.ops.nn.softmax import log_softmax


def _loss(node: OnnxNode, logs: Expr) -> Expr:
    ignored = node.int("ignore_index") if node.has("ignore_index") else None
    return negative_log_likelihood(
        node, logs, node.value(0), node.value(1), node.optional_value(2), node.text("reduction", "mean"), ignored
    )


def _negative_log_likelihood(node: OnnxNode) -> Result:
    return _loss(node, node.expr())


def _softmax_cross_entropy(node: OnnxNode) -> Result:
    """The loss, and the log probabilities that it is of."""
    logs = log_softmax(node.expr(), axis=1)
    return (_loss(node, logs), logs)


LOSSES: tuple[Converter, ...] = (
    converter("NegativeLogLikelihoodLoss", _negative_log_likelihood, "ignore_index", "reduction"),
    converter("SoftmaxCrossEntropyLoss", _softmax_cross_entropy, "ignore_index", "reduction"),
)

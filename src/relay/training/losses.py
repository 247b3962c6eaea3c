"""Losses: a scalar of what a model gives and what it should give, as Relay expressions. The definitions are PyTorch's.

A loss is any function of expressions, `loss(outputs, target)`. Those here also say what type the target has.
"""

from __future__ import annotations

from typing import Protocol

from relay import nn, op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.framework.build import builder


class Loss(Protocol):
    """A loss that knows what it compares with."""

    def target_type(self, outputs: TensorType) -> TensorType:
        """The type of the target that goes with such outputs."""
        ...

    def __call__(self, outputs: Expr, target: Expr) -> Expr: ...


@builder
@frozen
class CrossEntropy:
    """logits[.., c] × labels[..] → the mean of -log softmax(logits)[label]: `torch.nn.CrossEntropyLoss`, classes last.

    `label_smoothing` is the share of each label that is spread over all classes; labels equal to `ignore_index` count
    for nothing. A label that names no class ends the run (rule `check-failed`).

    >>> from relay.ops.framework.build import var
    >>> logits = var("logits", shape=("n", 10))
    >>> loss = CrossEntropy()
    >>> print(loss.target_type(logits.checked_type))
    Tensor[(n,), int64]
    >>> print(loss(logits, var("labels", shape=("n",), dtype="int64")).checked_type)
    float32
    """

    label_smoothing: float = 0.0
    ignore_index: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.label_smoothing <= 1:
            raise RelayError(
                rule="bad-loss", message="`label_smoothing` is a share", expected="0 to 1",
                found=str(self.label_smoothing),
            )  # fmt: skip

    def target_type(self, outputs: TensorType) -> TensorType:
        return TensorType(outputs.shape[:-1], DType.INT64)

    def __call__(self, outputs: Expr, target: Expr) -> Expr:
        type_, label_dtype = _tensor_type(outputs, "the logits"), _tensor_type(target, "the labels").dtype
        classes = type_.shape[-1] if type_.shape else None
        if not isinstance(classes, int):
            raise RelayError(
                rule="bad-loss", message="logits have an axis of classes, the last one, whose extent is known",
                found=str(type_), span=caller_span(),
            )  # fmt: skip
        labels, zero = target, op.zeros_like(target)
        counted = None
        if self.ignore_index is not None:
            counted = op.not_equal(target, const(self.ignore_index, label_dtype))
            labels = op.where(counted, target, zero)
        is_class = op.logical_and(op.greater_equal(labels, zero), op.less(labels, const(classes, label_dtype)))
        labels = op.checked(labels, op.all(is_class), "a label names no class")
        surprise = op.negative(nn.log_softmax(outputs))
        is_label = op.equal(op.arange(0, classes, 1, label_dtype), op.expand_dims(labels, axis=-1))
        each = op.sum(op.where(is_label, surprise, op.zeros_like(surprise)), axis=-1)
        if self.label_smoothing:
            each = (1 - self.label_smoothing) * each + self.label_smoothing * op.mean(surprise, axis=-1)
        if counted is None:
            return op.mean(each)
        count = op.sum(op.cast(counted, type_.dtype))
        return op.sum(op.where(counted, each, op.zeros_like(each))) / count


class _SameShape:
    """Losses whose target is of the type of the outputs."""

    __slots__ = ()

    def target_type(self, outputs: TensorType) -> TensorType:
        return outputs


@builder
@frozen
class MeanSquaredError(_SameShape):
    """The mean of (output - target)²: `torch.nn.MSELoss`."""

    def __call__(self, outputs: Expr, target: Expr) -> Expr:
        error = outputs - target
        return op.mean(error * error)


@builder
@frozen
class MeanAbsoluteError(_SameShape):
    """The mean of |output - target|: `torch.nn.L1Loss`."""

    def __call__(self, outputs: Expr, target: Expr) -> Expr:
        return op.mean(op.abs(outputs - target))


@builder
@frozen
class Huber(_SameShape):
    """The mean of ½ e² where |e| ≤ `delta`, else delta · (|e| - ½ delta), e = output - target: `torch.nn.HuberLoss`
    (Huber, "Robust Estimation of a Location Parameter", 1964)."""

    delta: float = 1.0

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise RelayError(
                rule="bad-loss", message="`delta` is where squares end", expected="above 0", found=str(self.delta)
            )

    def __call__(self, outputs: Expr, target: Expr) -> Expr:
        error = outputs - target
        size = op.abs(error)
        delta = const(self.delta, _tensor_type(error, "the outputs").dtype)
        return op.mean(op.where(op.less_equal(size, delta), 0.5 * (error * error), delta * (size - 0.5 * self.delta)))


@builder
@frozen
class BinaryCrossEntropy(_SameShape):
    """The mean of -(t log p + (1 - t) log (1 - p)) for probabilities p and targets t from 0 to 1: `torch.nn.BCELoss`,
    which takes -100 for smaller logarithms, and divides the slope by no less than 1e-12. Logits have
    `BinaryCrossEntropyWithLogits`."""

    def __call__(self, outputs: Expr, target: Expr) -> Expr:
        dtype = _tensor_type(outputs, "the probabilities").dtype
        spread, least = outputs * (1.0 - outputs), const(1e-12, dtype)
        is_inside = op.greater_equal(spread, least)
        inside = _binary_surprise(op.where(is_inside, outputs, op.full_like(outputs, const(0.5, dtype))), target)
        # where the slope is cut off, it is written down instead of found
        slope = op.stop_gradient((outputs - target) / least)
        edge = op.stop_gradient(_binary_surprise(outputs, target)) + slope * (outputs - op.stop_gradient(outputs))
        return op.mean(op.where(is_inside, inside, edge))


def _binary_surprise(p: Expr, t: Expr) -> Expr:
    least = op.full_like(p, const(-100.0, _tensor_type(p, "the probabilities").dtype))
    yes, no = (op.maximum(op.log(each), least) for each in (p, 1.0 - p))
    return op.negative(t * yes + (1.0 - t) * no)


@builder
@frozen
class BinaryCrossEntropyWithLogits(_SameShape):
    """The same of p = sigmoid(logit), without ever computing p: `torch.nn.BCEWithLogitsLoss`."""

    def __call__(self, outputs: Expr, target: Expr) -> Expr:
        # log (1 + e^x) is max(x, 0) + log (1 + e^-|x|); both parts choose by one comparison, so that slopes add up at 0
        above, zero = op.greater_equal(outputs, op.zeros_like(outputs)), op.zeros_like(outputs)
        largest = op.where(above, outputs, zero)
        below = op.where(above, op.negative(outputs), outputs)
        return op.mean(largest + op.log(1.0 + op.exp(below)) - target * outputs)


def _tensor_type(expr: Expr, what: str) -> TensorType:
    if not isinstance(expr.checked_type, TensorType):
        raise RelayError(
            rule="bad-loss", message=f"{what} of a loss are no tensor of a known type", expected="a tensor",
            found=str(expr.checked_type), span=caller_span(),
            remedy="give the model one result, or write the loss as a function of its results",
        )  # fmt: skip
    return expr.checked_type

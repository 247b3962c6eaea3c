"""Learning rates as functions of the number of updates made, computed by the program itself.

A schedule takes `count`, an int64 scalar, and gives a float64 scalar; one of your own is any such function over Relay
expressions. What is asked at 0 is the rate of the first update.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, Union

import numpy as np

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.interpret.evaluate import evaluate
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType

Schedule: TypeAlias = Callable[[Expr], Expr]
Rate: TypeAlias = Union[float, Schedule]
"""A learning rate: a number, or a schedule."""

_SCALAR = TensorType((), DType.FLOAT64)


def rate_at(rate: Rate, count: Expr) -> Expr:
    """The rate as a float64 scalar. Raises `RelayError`: `bad-rate` for a negative number, and for a schedule that
    gives something else."""
    if not callable(rate):
        if not rate >= 0:
            raise RelayError(
                rule="bad-rate", message="a learning rate is negative", expected="0 or more", found=str(rate)
            )
        return const(float(rate), DType.FLOAT64)
    found = rate(count)
    if found.checked_type != _SCALAR:
        raise RelayError(
            rule="bad-rate", message="a schedule gives no number of float64", expected=str(_SCALAR),
            found=str(found.checked_type), remedy='compute with relay.cast(count, "float64")',
        )  # fmt: skip
    return found


def rate_after(rate: Rate, count: int) -> float:
    """The rate as a number, after `count` updates, for logs and plots.

    >>> [rate_after(StepDecay(0.1, every=2, factor=0.5), each) for each in range(5)]
    [0.1, 0.1, 0.05, 0.05, 0.025]
    """
    return float(np.asarray(evaluate(rate_at(rate, const(count, DType.INT64)))))


@frozen
class StepDecay:
    """`rate · factor^⌊count / every⌋`: `torch.optim.lr_scheduler.StepLR`."""

    rate: float
    every: int
    factor: float = 0.1

    def __post_init__(self) -> None:
        _positive(every=self.every)

    def __call__(self, count: Expr) -> Expr:
        times = op.floor_divide(count, const(self.every, DType.INT64))
        return self.rate * op.power(const(self.factor, DType.FLOAT64), _double(times))


@frozen
class _Decay:
    """From a rate to the last one, in so many updates."""

    rate: float
    steps: int
    last: float = 0.0

    def __post_init__(self) -> None:
        _positive(steps=self.steps)


@frozen
class CosineDecay(_Decay):
    """From `rate` to `last` in `steps` updates along half a wave, then `last`: `CosineAnnealingLR` up to its end
    (Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017, equation 5)."""

    def __call__(self, count: Expr) -> Expr:
        turn = _upto(count, self.steps) * (math.pi / self.steps)
        return self.last + (self.rate - self.last) * 0.5 * (1.0 + op.cos(turn))


@frozen
class LinearDecay(_Decay):
    """From `rate` to `last` in `steps` updates in equal steps, then `last`."""

    def __call__(self, count: Expr) -> Expr:
        return self.rate + (self.last - self.rate) * (_upto(count, self.steps) / float(self.steps))


@frozen
class Warmup:
    """From `first · rate` to the rate that `then` begins with, in equal steps over `steps` updates; then `then`.

    >>> [rate_after(Warmup(4, 1.0), each) for each in range(6)]
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    """

    steps: int
    then: Rate
    first: float = 0.0

    def __post_init__(self) -> None:
        _positive(steps=self.steps)

    def __call__(self, count: Expr) -> Expr:
        share = self.first + (1 - self.first) * (_upto(count, self.steps) / float(self.steps))
        behind = op.maximum(count - const(self.steps, DType.INT64), const(0, DType.INT64))
        return share * rate_at(self.then, behind)


def _double(number: Expr) -> Expr:
    return op.cast(number, DType.FLOAT64)


def _upto(count: Expr, steps: int) -> Expr:
    return _double(op.minimum(count, const(steps, DType.INT64)))


def _positive(**options: int) -> None:
    for name, value in options.items():
        if value < 1:
            raise RelayError(
                rule="bad-schedule", message=f"`{name}` of a schedule counts updates", expected="1 or more",
                found=str(value),
            )  # fmt: skip

"""How a step updates weights, as PyTorch has it: Relay expressions over the weights, their gradients and a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import relay
from relay import op

FIRST, SECOND, EPSILON = 0.9, 0.999, 1e-8
"""Shares of the moments that stay, and what keeps their quotient finite."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Update:
    """`sgd`, `momentum`, `adam` or `adamw`, with its learning rate and the decay of weights.

    The state is one tensor for each moment and weight; where moments are corrected, the number of steps before them.
    """

    name: str
    rate: float
    decay: float = 0.0

    @property
    def moments(self) -> tuple[str, ...]:
        return {"sgd": (), "momentum": ("m",)}.get(self.name, ("m", "v"))

    @property
    def counts(self) -> bool:
        return len(self.moments) > 1

    def state_names(self, weights: Mapping[str, Any]) -> tuple[str, ...]:
        steps = ("steps",) if self.counts else ()
        return (*steps, *(f"{moment}_{name}" for moment in self.moments for name in weights))

    def first_state(self, weights: Mapping[str, Array]) -> list[Array]:
        steps = [np.zeros((), np.float32)] if self.counts else []
        return [*steps, *(np.zeros_like(each) for _ in self.moments for each in weights.values())]

    def applied(
        self, weights: Mapping[str, relay.Var], gradients: Mapping[str, relay.Expr]
    ) -> tuple[list[relay.Var], list[relay.Expr]]:
        """The state as inputs, and the weights and the state after a step."""
        steps = [relay.var("steps", shape=())] if self.counts else []
        counted = [op.add(each, _number(1)) for each in steps]
        state = {
            moment: {name: relay.var(f"{moment}_{name}", each.type_annotation) for name, each in weights.items()}
            for moment in self.moments
        }
        found = {
            name: self._one(each, gradients[name], [state[moment][name] for moment in self.moments], counted)
            for name, each in weights.items()
        }
        after = [[each[position] for each in found.values()] for position in range(1 + len(self.moments))]
        inputs = [*steps, *(each for moment in state.values() for each in moment.values())]
        return inputs, [*after[0], *counted, *(each for moment in after[1:] for each in moment)]

    def _one(
        self, weight: relay.Expr, gradient: relay.Expr, moments: Sequence[relay.Expr], counted: Sequence[relay.Expr]
    ) -> list[relay.Expr]:
        """A weight and its moments after a step."""
        if self.decay:
            weight = op.multiply(weight, _number(1 - self.rate * self.decay))
        if not moments:
            return [op.subtract(weight, op.multiply(gradient, _number(self.rate)))]
        if not counted:
            velocity = op.add(op.multiply(moments[0], _number(FIRST)), gradient)
            return [op.subtract(weight, op.multiply(velocity, _number(self.rate))), velocity]
        first = op.add(op.multiply(moments[0], _number(FIRST)), op.multiply(gradient, _number(1 - FIRST)))
        square = op.multiply(op.multiply(gradient, gradient), _number(1 - SECOND))
        second = op.add(op.multiply(moments[1], _number(SECOND)), square)
        of_first, of_second = (_correction(share, counted[0]) for share in (FIRST, SECOND))
        spread = op.add(op.divide(op.sqrt(second), op.sqrt(of_second)), _number(EPSILON))
        change = op.divide(op.multiply(op.divide(_number(self.rate), of_first), first), spread)
        return [op.subtract(weight, change), first, second]

    def gradients(self, before: Mapping[str, Array], after: Sequence[Array]) -> list[Array]:
        """Of the first step, told from the weights before it, and weights and state after it."""
        count = len(before)
        if not self.moments:
            return [(old - new) / self.rate for old, new in zip(before.values(), after, strict=True)]
        start = count + int(self.counts)
        return [each / (1 - FIRST if self.counts else 1) for each in after[start : start + count]]


def _number(value: float) -> relay.Expr:
    return relay.const(value, "float32")


def _correction(share: float, steps: relay.Expr) -> relay.Expr:
    """One minus what is left of the start, a moment of zeros (Kingma and Ba 2015, 1412.6980, section 3)."""
    return op.subtract(_number(1), op.power(_number(share), steps))


SGD = Update("sgd", 0.1)
MOMENTUM = Update("momentum", 1e-3)
ADAM = Update("adam", 1e-4)
ADAMW = Update("adamw", 1e-4, decay=0.01)

"""Optimizers: how parameters change by their gradients, as Relay expressions over trees of tensors.

An optimizer is two functions: `init(params)` gives the tensors that it keeps, `update(params, gradients, state, count)`
new parameters and a new state. Trees are tensors by name. The formulas are those of `torch.optim`, their scalars are
computed in float64 as there, so that runs in float64 agree to rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol, TypeAlias

from relay import op
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.expr import Expr, const
from relay.ir.known_types import known_tensor_type
from relay.training.schedules import Rate, rate_at

Tree: TypeAlias = Mapping[str, Expr]
"""Tensors by name."""
Rule: TypeAlias = Callable[[Expr, Expr, Mapping[str, Expr]], tuple[Expr, Mapping[str, Expr]]]
"""weight × gradient × what is kept for the weight → the new weight and what is kept then, all of one shape."""


class Optimizer(Protocol):
    """What makes a step of gradients. One of your own needs these two functions and no base class."""

    def init(self, params: Tree) -> Tree:
        """The first state: tensors under names of its own, such as `w.momentum` for the parameter `w`."""
        ...

    def update(self, params: Tree, gradients: Tree, state: Tree, count: Expr) -> tuple[Tree, Tree]:
        """The parameters and the state behind an update; `count`, an int64, is how many were made before."""
        ...


class PerTensor(ABC):
    """An optimizer that treats each tensor by itself: `slots` and a `rule` say how.

    >>> from relay.ops.framework.build import var
    >>> class Sign(PerTensor):
    ...     def rule(self, count):
    ...         return lambda weight, gradient, kept: (weight - 0.01 * op.sign(gradient), kept)
    >>> w, g = var("w", shape=(2,)), var("g", shape=(2,))
    >>> print(Sign().update({"w": w}, {"w": g}, {}, const(0, "int64"))[0]["w"].checked_type)
    Tensor[(2,), float32]
    """

    __slots__ = ()

    @property
    def slots(self) -> Mapping[str, float]:
        """What is kept for each tensor, of its type: by name, with the number that all elements have first."""
        return MappingProxyType({})

    @abstractmethod
    def rule(self, count: Expr) -> Rule:
        """What happens to a tensor in the update before which `count` were made. Scalars that all tensors share are
        made here, once."""

    def init(self, params: Tree) -> Tree:
        return {
            _slot(name, slot): op.full_like(weight, const(first, known_tensor_type(weight).dtype))
            for slot, first in self.slots.items()
            for name, weight in params.items()
        }

    def update(self, params: Tree, gradients: Tree, state: Tree, count: Expr) -> tuple[Tree, Tree]:
        rule, weights, kept = self.rule(count), dict[str, Expr](), dict[str, Expr]()
        for name, weight in params.items():
            own = {slot: state[_slot(name, slot)] for slot in self.slots}
            weights[name], after = rule(weight, gradients[name], own)
            kept |= {_slot(name, slot): after[slot] for slot in self.slots}
        return weights, {name: kept[name] for name in state}


def _slot(name: str, slot: str) -> str:
    return f"{name}.{slot}"


@frozen
class SGD(PerTensor):
    """Gradient descent, with momentum and weight decay: `torch.optim.SGD`.

        d ← g + weight_decay · w;  m ← momentum · m + (1 - dampening) · d, first m ← d;  w ← w - rate · m

    With `nesterov`, w ← w - rate · (d + momentum · m) (Sutskever et al., "On the importance of initialization and
    momentum in deep learning", 2013).
    """

    rate: Rate
    momentum: float = 0.0
    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        _at_least_zero(momentum=self.momentum, weight_decay=self.weight_decay)
        if self.nesterov and (self.momentum <= 0 or self.dampening != 0):
            raise RelayError(
                rule="bad-optimizer", message="`nesterov` looks ahead along the momentum",
                expected="a momentum above 0, and no dampening",
                found=f"momentum {self.momentum}, dampening {self.dampening}",
            )  # fmt: skip

    @property
    def slots(self) -> Mapping[str, float]:
        return {"momentum": 0.0} if self.momentum else {}

    def rule(self, count: Expr) -> Rule:
        rate = rate_at(self.rate, count)
        share = op.where(op.equal(count, const(0, "int64")), _double(1.0), _double(1 - self.dampening))

        def update(weight: Expr, gradient: Expr, kept: Mapping[str, Expr]) -> tuple[Expr, Mapping[str, Expr]]:
            direction = _decayed(weight, gradient, self.weight_decay)
            if not self.momentum:
                return weight - _number(rate, weight) * direction, kept
            taken = _number(share, weight) * direction if self.dampening else direction
            momentum = self.momentum * kept["momentum"] + taken
            ahead = direction + self.momentum * momentum if self.nesterov else momentum
            return weight - _number(rate, weight) * ahead, {"momentum": momentum}

        return update


@frozen
class Adam(PerTensor):
    """Adam: `torch.optim.Adam` (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015, algorithm 1).

        m ← β₁ m + (1 - β₁) g;  v ← β₂ v + (1 - β₂) g²;  w ← w - rate · m̂ / (√v̂ + epsilon)

    where m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ) in update t. `weight_decay` is added to the gradient, times the weight.
    """

    rate: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        _at_least_zero(epsilon=self.epsilon, weight_decay=self.weight_decay)
        _below_one(betas=self.betas)

    @property
    def slots(self) -> Mapping[str, float]:
        return {"mean": 0.0, "square": 0.0}

    def rule(self, count: Expr) -> Rule:
        moved = _adam(self.rate, self.betas, self.epsilon, count)

        def update(weight: Expr, gradient: Expr, kept: Mapping[str, Expr]) -> tuple[Expr, Mapping[str, Expr]]:
            return moved(weight, _decayed(weight, gradient, self.weight_decay), kept)

        return update


@frozen
class AdamW(Adam):
    """Adam whose weight decay is apart from the gradient, w ← (1 - rate · weight_decay) · w first: `torch.optim.AdamW`
    (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2)."""

    weight_decay: float = 1e-2

    def rule(self, count: Expr) -> Rule:
        moved = _adam(self.rate, self.betas, self.epsilon, count)
        shrunk = 1.0 - rate_at(self.rate, count) * self.weight_decay

        def update(weight: Expr, gradient: Expr, kept: Mapping[str, Expr]) -> tuple[Expr, Mapping[str, Expr]]:
            return moved(weight * _number(shrunk, weight) if self.weight_decay else weight, gradient, kept)

        return update


def _adam(rate: Rate, betas: tuple[float, float], epsilon: float, count: Expr) -> Rule:
    first, second = betas
    number = op.cast(count, "float64") + 1.0
    step = rate_at(rate, count) / (1.0 - op.power(_double(first), number))
    spread = op.sqrt(1.0 - op.power(_double(second), number))

    def update(weight: Expr, gradient: Expr, kept: Mapping[str, Expr]) -> tuple[Expr, Mapping[str, Expr]]:
        mean = first * kept["mean"] + (1 - first) * gradient
        square = second * kept["square"] + (1 - second) * (gradient * gradient)
        size = op.sqrt(square) / _number(spread, weight) + epsilon
        return weight - _number(step, weight) * mean / size, {"mean": mean, "square": square}

    return update


@frozen
class RMSProp(PerTensor):
    """Steps divided by the running size of the gradient: `torch.optim.RMSprop` (Hinton, lecture 6e of "Neural Networks
    for Machine Learning", 2012).

        s ← decay · s + (1 - decay) · g²;  d = g / (√s + epsilon);  m ← momentum · m + d;  w ← w - rate · m

    `centered` takes the variance for s: less the square of the running mean of the gradient.
    """

    rate: Rate = 1e-2
    decay: float = 0.99
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.0
    centered: bool = False

    def __post_init__(self) -> None:
        _at_least_zero(
            decay=self.decay, epsilon=self.epsilon, weight_decay=self.weight_decay, momentum=self.momentum
        )  # fmt: skip

    @property
    def slots(self) -> Mapping[str, float]:
        kept = {"square": 0.0}
        return kept | ({"mean": 0.0} if self.centered else {}) | ({"momentum": 0.0} if self.momentum else {})

    def rule(self, count: Expr) -> Rule:
        rate = rate_at(self.rate, count)

        def update(weight: Expr, gradient: Expr, kept: Mapping[str, Expr]) -> tuple[Expr, Mapping[str, Expr]]:
            direction = _decayed(weight, gradient, self.weight_decay)
            after = {"square": self.decay * kept["square"] + (1 - self.decay) * (direction * direction)}
            spread = after["square"]
            if self.centered:
                after["mean"] = self.decay * kept["mean"] + (1 - self.decay) * direction
                spread = spread - after["mean"] * after["mean"]
            ahead = direction / (op.sqrt(spread) + self.epsilon)
            if self.momentum:
                ahead = after["momentum"] = self.momentum * kept["momentum"] + ahead
            return weight - _number(rate, weight) * ahead, after

        return update


@frozen
class Adagrad(PerTensor):
    """Steps divided by the size of all gradients so far: `torch.optim.Adagrad` (Duchi, Hazan and Singer, "Adaptive
    Subgradient Methods for Online Learning and Stochastic Optimization", 2011).

        s ← s + g²;  w ← w - rate / (1 + (t - 1) · rate_decay) · g / (√s + epsilon)
    """

    rate: Rate = 1e-2
    rate_decay: float = 0.0
    weight_decay: float = 0.0
    first_sum: float = 0.0
    epsilon: float = 1e-10

    def __post_init__(self) -> None:
        _at_least_zero(
            rate_decay=self.rate_decay, weight_decay=self.weight_decay, first_sum=self.first_sum, epsilon=self.epsilon
        )  # fmt: skip

    @property
    def slots(self) -> Mapping[str, float]:
        return {"sum": self.first_sum}

    def rule(self, count: Expr) -> Rule:
        rate = rate_at(self.rate, count) / (1.0 + op.cast(count, "float64") * self.rate_decay)

        def update(weight: Expr, gradient: Expr, kept: Mapping[str, Expr]) -> tuple[Expr, Mapping[str, Expr]]:
            direction = _decayed(weight, gradient, self.weight_decay)
            total = kept["sum"] + direction * direction
            return weight - _number(rate, weight) * direction / (op.sqrt(total) + self.epsilon), {"sum": total}

        return update


def _decayed(weight: Expr, gradient: Expr, weight_decay: float) -> Expr:
    return gradient + weight_decay * weight if weight_decay else gradient


def _double(value: float) -> Expr:
    return const(value, DType.FLOAT64)


def _number(value: Expr, weight: Expr) -> Expr:
    """A float64 scalar in the element type of a tensor."""
    dtype = known_tensor_type(weight).dtype
    return value if dtype is DType.FLOAT64 else op.cast(value, dtype)


def _at_least_zero(**options: float) -> None:
    for name, value in options.items():
        if not value >= 0:
            raise _bad_option(name, "0 or more", value)


def _below_one(betas: tuple[float, float]) -> None:
    if len(betas) != 2 or not all(0 <= each < 1 for each in betas):
        raise _bad_option("betas", "two numbers from 0 to below 1", betas)


def _bad_option(name: str, expected: str, found: object) -> RelayError:
    return RelayError(
        rule="bad-optimizer", message=f"`{name}` of an optimizer is out of range", expected=expected, found=repr(found)
    )  # fmt: skip

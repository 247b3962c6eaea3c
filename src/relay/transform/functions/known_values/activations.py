"""Which functions are being evaluated, and when a recursion has to stop."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from enum import Enum

from relay.base.frozen import frozen, mutable
from relay.ir.expr import Function
from relay.transform.functions.known_values.values import PartialValue


class Kind(Enum):
    INLINE = "evaluated where it is called"
    VARIANT = "made into a function of its own, for what is known of its arguments"
    RESIDUAL = "kept, with nothing known of its arguments"


@frozen(eq=False)
class Activation:
    """`branches`: how many branches that only the run can take were open when it began."""

    kind: Kind
    function: Function
    arguments: tuple[PartialValue, ...]
    branches: int


class Reason(Enum):
    LOOP = "it came to itself under a condition that the run decides"
    LIMIT = "it did too much"


class Abandon(Exception):
    """No error: what was done since `activation` began is undone, and its call is left to the run."""

    def __init__(self, activation: Activation, reason: Reason) -> None:
        super().__init__()
        self.activation = activation
        self.reason = reason


@mutable
class Activations:
    """The activations that have not ended, innermost last."""

    stack: list[Activation] = field(default_factory=list)
    entered: int = 0
    _of: dict[Function, list[Activation]] = field(default_factory=dict)

    def push(self, activation: Activation) -> None:
        self.stack.append(activation)
        self._of.setdefault(activation.function, []).append(activation)
        self.entered += activation.kind is not Kind.RESIDUAL

    def cut(self, depth: int) -> None:
        """Only the outermost `depth` are left."""
        while len(self.stack) > depth:
            activation = self.stack.pop()
            self._of[activation.function].pop()
            self.entered -= activation.kind is not Kind.RESIDUAL

    def of(self, function: Function) -> list[Activation]:
        return self._of.get(function, [])

    def to_abandon(self) -> Activation | None:
        """Where to stop when too much has been done: at the outermost function that entered itself, since half of an
        unrolled recursion helps nobody; else at the innermost that was entered."""
        entered = [each for each in self.stack if each.kind is not Kind.RESIDUAL]
        times = Counter(each.function for each in entered)
        for each in entered:
            if times[each.function] > 1:
                return each
        return entered[-1] if entered else None

"""What a step is, and how a program is scheduled by a tuple of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from relay.base.diagnostics import RelayError
from relay.te.initial_state import initial_state
from relay.te.state import State
from relay.te.tensor import Tensor
from relay.tir.hierarchy import PLAIN, Hierarchy


class Step(Protocol):
    """A frozen value that says how to change a state. A step that would change what is computed is refused."""

    def apply(self, state: State) -> State:
        """The state after this step. Raises `RelayError` (`schedule-…`)."""
        ...


def apply(outputs: Sequence[Tensor], steps: Iterable[Step] = (), hierarchy: Hierarchy = PLAIN) -> State:
    """The program that computes `outputs`, scheduled by `steps` in order; `hierarchy` has the target's threads."""
    state = initial_state(outputs, hierarchy)
    for step in steps:
        state = step.apply(state)
    return state


def refused(message: str, *, expected: str = "", found: str = "", remedy: str = "") -> RelayError:
    """The error of a step that would change the meaning."""
    return RelayError(rule="schedule-refused", message=message, expected=expected, found=found, remedy=remedy)

"""What a training changes: parameters, what the optimizer keeps, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.training.program import COUNT

Arrays: TypeAlias = Mapping[str, NDArray[np.generic]]

_UNDER_WAY = "a step is under way, or was stopped before it ended"


class TrainingState:
    """Arrays that steps write over. They are whole or lost: after a step that failed on its way nothing here can be had
    any more (rule `state-lost`), so that half an update is never taken for one.

    One thread at a time may step.
    """

    __slots__ = ("_fault", "_groups", "_pending")

    def __init__(self, params: Arrays, optimizer: Arrays, progress: Arrays, sums: Arrays, pending: int = 0) -> None:
        self._groups: tuple[Arrays, ...] = tuple(
            MappingProxyType(dict(each)) for each in (params, optimizer, progress, sums)
        )
        self._pending = pending
        self._fault = ""

    @property
    def params(self) -> Arrays:
        """The parameters by name: the arrays themselves, which the next step writes over. Raises `RelayError` (rule
        `state-lost`), as all of these."""
        return self._whole()[0]

    @property
    def optimizer(self) -> Arrays:
        """What the optimizer keeps, by name, such as `w.momentum`."""
        return self._whole()[1]

    @property
    def progress(self) -> Arrays:
        """What else a step goes by: how many updates were made, the random key, the loss scale."""
        return self._whole()[2]

    @property
    def sums(self) -> Arrays:
        """The gradients of batches that wait for an update."""
        return self._whole()[3]

    @property
    def count(self) -> int:
        """How many updates were made."""
        return int(self.progress[COUNT])

    @property
    def pending(self) -> int:
        """How many batches wait for an update."""
        self._whole()
        return self._pending

    def begin(self) -> None:
        """A step takes the arrays: until `end` they count as lost."""
        self._whole()
        self._fault = _UNDER_WAY

    def end(self, pending: int) -> None:
        """The step that began has ended, or never touched the arrays; so many batches wait for an update."""
        self._pending = pending
        self._fault = ""

    def fail(self, error: BaseException) -> None:
        """The step that began broke off: what the arrays hold is unknown."""
        self._fault = str(error) or type(error).__name__

    def _whole(self) -> tuple[Arrays, ...]:
        if self._fault:
            raise RelayError(
                rule="state-lost", message="the state of the training is lost: a step broke off while it wrote",
                expected="steps that end", found=self._fault.partition("\n")[0],
                remedy="go on from a checkpoint, or begin anew: step.init()",
            )  # fmt: skip
        return self._groups

    def __repr__(self) -> str:
        if self._fault:
            return f"<training state, lost: {self._fault}>"
        size = sum(each.nbytes for group in self._groups for each in group.values()) / 1e6
        return f"<training state: {len(self.params)} parameters, {size:.1f} MB, {self.count} updates>"


def arrays_in(*groups: Arrays) -> tuple[NDArray[Any], ...]:
    """All arrays, in order."""
    return tuple(each for group in groups for each in group.values())

"""How much of what PyTorch captured runs natively, and why the rest does not."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from functools import cache

from relay.base.frozen import frozen


@frozen
class Coverage:
    """Operators that compute tensors, counted where they stand in the graphs. `eager` counts those that PyTorch runs,
    by operator and the reason.

    >>> print(Coverage(3, {("aten.sort.stable", "operator aten.sort.stable"): 1}))
    3 of 4 operators run natively (75.0 %)
      1 × aten.sort.stable: operator aten.sort.stable
    """

    native: int
    eager: Mapping[tuple[str, str], int]

    @property
    def left(self) -> int:
        """How many operators PyTorch runs."""
        return sum(self.eager.values())

    @property
    def share(self) -> float:
        """The part that runs natively, from 0 to 1; 1 of nothing."""
        return self.native / (self.native + self.left) if self.native + self.left else 1.0

    def __str__(self) -> str:
        whole = f"{self.native:,} of {self.native + self.left:,} operators run natively ({self.share:.1%})"
        counted = sorted(self.eager.items(), key=lambda each: (-each[1], each[0]))
        return "\n".join([whole.replace("%", " %"), *(f"  {count} × {name}: {why}" for (name, why), count in counted)])


class Ledger:
    """What all graphs of the process add up to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._native = 0
        self._eager: Counter[tuple[str, str]] = Counter()

    def add(self, native: int, eager: Mapping[tuple[str, str], int]) -> None:
        with self._lock:
            self._native += native
            self._eager.update(eager)

    def total(self) -> Coverage:
        with self._lock:
            return Coverage(self._native, {key: count for key, count in self._eager.items() if count})

    def clear(self) -> None:
        with self._lock:
            self._native = 0
            self._eager.clear()


@cache
def ledger() -> Ledger:
    """The one of this process: PyTorch's caches of compiled graphs are of the process, too."""
    return Ledger()


def report() -> Coverage:
    """How many operators of the graphs that `torch.compile(…, backend="relay")` captured run natively, and how many do
    not and why, since the process began or `reset_report` was called. What PyTorch did not capture is not in it."""
    return ledger().total()


def reset_report() -> None:
    """Begin to count anew."""
    ledger().clear()

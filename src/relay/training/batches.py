"""Batches of arrays in memory, in an order that the seed and the number of the epoch alone tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError


class Batches:
    """Arrays of one length, cut along their first axis. `batches(epoch)` are those of an epoch: rows in an order drawn
    anew for each, or as they stand without `shuffle`. What is left behind the last whole batch is a smaller one, unless
    `whole` asks for whole ones alone.

    Raises `RelayError` (rule `bad-batches`).

    >>> [len(x) for x, y in Batches(np.arange(5), np.arange(5), size=2)(0)]
    [2, 2, 1]
    >>> first, again = ([x.tolist() for (x,) in Batches(np.arange(4), size=2, seed=1)(3)] for _ in range(2))
    >>> first == again
    True
    """

    def __init__(
        self, *arrays: NDArray[Any], size: int, shuffle: bool = True, seed: int = 0, whole: bool = False
    ) -> None:  # fmt: skip
        lengths = {len(each) for each in arrays if each.ndim}
        if len(lengths) != 1 or size < 1 or any(not each.ndim for each in arrays):
            raise RelayError(
                rule="bad-batches", message="batches are cut from arrays along their first axis, which all share",
                expected="arrays of one length, and a size of 1 or more",
                found=f"lengths {sorted(lengths)}, size {size}",
            )  # fmt: skip
        self.arrays = arrays
        self.size = size
        self.shuffle = shuffle
        self.seed = seed
        self.rows = lengths.pop()
        self._end = self.rows - self.rows % size if whole else self.rows

    def __len__(self) -> int:
        """How many batches an epoch has."""
        return -(-self._end // self.size)

    def __call__(self, epoch: int) -> Iterator[tuple[NDArray[Any], ...]]:
        if not self.shuffle:
            for start in range(0, self._end, self.size):
                yield tuple(each[start : min(start + self.size, self._end)] for each in self.arrays)
            return
        order = np.random.default_rng((self.seed, epoch)).permutation(self.rows)[: self._end]
        for start in range(0, self._end, self.size):
            rows = order[start : start + self.size]
            yield tuple(each[rows] for each in self.arrays)

"""Arrays that callers give away: results are in their memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.runtime.artefact.manifest import Donation, EntrySpec
from relay.runtime.cpython.array_layout import data_address

Inside: TypeAlias = "tuple[str, NDArray[np.generic], bool]"
"""An array in a value: of which input it is a part, and whether that is given away."""


class DonatedArrays:
    """The arrays of an entry's calls that are given away."""

    __slots__ = ("_names", "_of_output", "positions")

    def __init__(self, spec: EntrySpec) -> None:
        self._names = [each.name for each in spec.inputs]
        self._of_output = {each.output: each.input for each in spec.donations if each.output is not None}
        self.positions = frozenset(each.input for each in spec.donations)

    def are_fit(self, arrays: Sequence[Any]) -> bool:
        """Whether these are plain arrays that nobody refuses."""
        return all(type(each) is np.ndarray for each in arrays) and self._error(arrays, ()) is None

    def check(self, inputs: Sequence[Any], inside: Sequence[Inside] = ()) -> None:
        """Raises `RelayError`: `donated-read-only` for an array that may not be written, `donated-twice` for one that
        shares memory with another. `inside` are those in values."""
        error = self._error(inputs, inside)
        if error is not None:
            raise error

    def outputs(
        self, arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]], dtypes: Sequence[np.dtype[np.generic]]
    ) -> tuple[NDArray[np.generic], ...]:
        """The arrays of results: those that were given away for them, and new ones."""
        of_output = self._of_output
        return tuple(
            arrays[of_output[position]] if position in of_output else np.empty(shape, dtype)
            for position, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
        )

    def _error(self, inputs: Sequence[Any], inside: Sequence[Inside]) -> RelayError | None:
        arrays: list[Inside] = [
            (name, each, position in self.positions)
            for position, (name, each) in enumerate(zip(self._names, inputs, strict=True))
            if isinstance(each, np.ndarray)
        ]
        arrays += inside
        for name, each, is_donated in arrays:
            if is_donated and not each.flags.writeable:
                return RelayError(
                    rule="donated-read-only",
                    message=f"input `{name}` is donated, and the array for it may not be written",
                    expected="an array whose memory the result can take",
                    found="one that is read-only",
                    remedy=_remedy(name),
                )
        spans = [
            (start, start + each.nbytes, position)
            for position, (_, each, _) in enumerate(arrays)
            if each.nbytes
            for start in (data_address(each),)
        ]
        shared = _shared(sorted(spans), [is_donated for _, _, is_donated in arrays])
        if shared is None:
            return None
        donated, other = (arrays[position][0] for position in shared)
        return RelayError(
            rule="donated-twice",
            message=f"input `{donated}` is donated, and its array shares memory with that of `{other}`",
            expected="memory of its own, which the result can take",
            found="arrays that overlap",
            remedy=_remedy(donated),
        )


def _shared(spans: Sequence[tuple[int, int, int]], is_donated: Sequence[bool]) -> tuple[int, int] | None:
    """A donated array and another, by position, that overlap. `spans` are first and last address, in order."""
    reach, furthest = 0, -1  # of all arrays so far
    donated_reach, donated = 0, -1  # of those that are donated
    for start, end, position in spans:
        if start < donated_reach:
            return donated, position
        if is_donated[position]:
            if start < reach:
                return position, furthest
            donated_reach, donated = end, position
        if end > reach:
            reach, furthest = end, position
    return None


def part_name(donation: Donation, inputs: Sequence[str]) -> str:
    """What is given away, by name: `w`, or `w.1.0` for a part of the input `w`."""
    return ".".join((inputs[donation.input], *map(str, donation.fields)))


def donated_names(names: Sequence[str], wanted: Sequence[str], where: str) -> list[int]:
    """The positions of what is called so, with all that is part of it: `w` is `w` and `w.0`, `w.1`, ….

    Raises `RelayError` (rule `bad-donation`) for a name that is none of them.

    >>> donated_names(["x", "w.0", "w.1"], ["w"], "main")
    [1, 2]
    """
    found: dict[int, None] = {}
    for name in wanted:
        positions = [i for i, each in enumerate(names) if each == name or each.startswith(f"{name}.")]
        if not positions:
            raise RelayError(
                rule="bad-donation",
                message=f"`{name}` is donated, which is no tensor that `{where}` takes",
                expected="one of " + ", ".join(names),
                found=name,
                remedy=near_names(name, names),
            )
        found.update(dict.fromkeys(positions))
    return list(found)


def _remedy(name: str) -> str:
    return f"give a copy, x.copy(); or keep the array: executable.keeping({name!r})(…)"

"""Timing things against each other: rounds in which each takes its turn, so that what disturbs one disturbs all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from relay.base.frozen import frozen

REST_S = 0.02
"""A pause in which threads that wait for work by spinning, as those of most libraries do for some milliseconds after a
call, give up the processor. For candidates on several threads."""

TURN_S = 0.002
"""What a turn lasts at least: calls that are shorter are repeated, and the time of one is their mean."""


@frozen
class Timing:
    """Seconds per call over all rounds."""

    median_s: float
    minimum_s: float
    samples_s: tuple[float, ...]

    @property
    def quartiles_s(self) -> tuple[float, float]:
        return quartiles(self.samples_s)


@frozen
class Ratio:
    """How many times faster the first is than the second, round by round: the median, and its quartiles."""

    median: float
    low: float
    high: float
    of_minima: float


def quartiles(values: Sequence[float]) -> tuple[float, float]:
    """The values a quarter from either end.

    >>> quartiles([5.0, 1.0, 2.0, 3.0, 4.0])
    (2.0, 4.0)
    """
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return ordered[quarter], ordered[-1 - quarter]


def interleaved(
    candidates: Mapping[str, Callable[[], object]],
    seconds: float = 4.0,
    rounds: int | None = None,
    warm_ups: int = 3,
    pause_s: float = 0.0,
) -> dict[str, Timing]:
    """Time each candidate in turn, round after round, for about `seconds` in all (or for `rounds` rounds).

    A turn is a pause (`REST_S`, where there are several threads: those of the candidate before would share the
    processor with the next), a call that is not timed, and calls that are, for `TURN_S` at least.

    >>> sorted(interleaved({"a": lambda: None, "b": lambda: None}, rounds=3))
    ['a', 'b']
    """
    repeats = {name: _repeats(function, warm_ups) for name, function in candidates.items()}
    round_s = 0.0
    for name, function in candidates.items():
        round_s += pause_s + _turn(function, repeats[name]) * (repeats[name] + 1)
    count = rounds if rounds is not None else max(5, min(1000, int(seconds / max(round_s, 1e-7))))
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(count):
        names = list(candidates) if number % 2 == 0 else list(candidates)[::-1]
        for name in names:
            if pause_s:
                time.sleep(pause_s)
            samples[name].append(_turn(candidates[name], repeats[name]))
    return {name: Timing(statistics.median(s), min(s), tuple(s)) for name, s in samples.items()}


def _repeats(function: Callable[[], object], warm_ups: int) -> int:
    """How many calls fill a turn."""
    for _ in range(warm_ups):
        function()
    started = time.perf_counter()
    function()
    return max(1, int(TURN_S / max(time.perf_counter() - started, 1e-7)))


def _turn(function: Callable[[], object], repeats: int) -> float:
    """Seconds of a call."""
    function()  # not timed: caches and threads are warm afterwards
    started = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - started) / repeats


def ratio(peer: Timing, ours: Timing) -> Ratio:
    """Peer time ÷ our time, from the same interleaved run."""
    pairs = [theirs / mine for theirs, mine in zip(peer.samples_s, ours.samples_s, strict=True)]
    return Ratio(statistics.median(pairs), *quartiles(pairs), peer.minimum_s / ours.minimum_s)

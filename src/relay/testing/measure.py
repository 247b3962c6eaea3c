"""Timing things against each other: rounds in which each takes its turn, so that what disturbs one disturbs all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

REST_S = 0.02
"""A pause in which threads that wait for work by spinning, as those of most libraries do for some milliseconds after a
call, give up the processor. For candidates on several threads."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds per call over all rounds."""

    median_s: float
    minimum_s: float
    samples_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster the first is than the second, round by round: the median, and its quartiles."""

    median: float
    low: float
    high: float
    of_minima: float


def interleaved(
    candidates: Mapping[str, Callable[[], object]],
    seconds: float = 4.0,
    rounds: int | None = None,
    warm_ups: int = 3,
    pause_s: float = 0.0,
) -> dict[str, Timing]:
    """Time each candidate in turn, round after round, for about `seconds` in all (or for `rounds` rounds).

    A turn is a pause (`REST_S`, where there are several threads: those of the candidate before would share the
    processor with the next), a call that is not timed and one that is.

    >>> sorted(interleaved({"a": lambda: None, "b": lambda: None}, rounds=3))
    ['a', 'b']
    """
    one_round = 0.0
    for function in candidates.values():
        for _ in range(warm_ups):
            function()
        started = time.perf_counter()
        function()
        one_round += time.perf_counter() - started
    round_s = max(2 * one_round + pause_s * len(candidates), 1e-7)
    count = rounds if rounds is not None else max(5, min(1000, int(seconds / round_s)))
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(count):
        names = list(candidates) if number % 2 == 0 else list(candidates)[::-1]
        for name in names:
            function = candidates[name]
            if pause_s:
                time.sleep(pause_s)
            function()  # not timed: caches and threads are warm afterwards
            started = time.perf_counter()
            function()
            samples[name].append(time.perf_counter() - started)
    return {name: Timing(statistics.median(s), min(s), tuple(s)) for name, s in samples.items()}


def ratio(peer: Timing, ours: Timing) -> Ratio:
    """Peer time ÷ our time, from the same interleaved run."""
    pairs = sorted(theirs / mine for theirs, mine in zip(peer.samples_s, ours.samples_s, strict=True))
    quarter = len(pairs) // 4
    return Ratio(statistics.median(pairs), pairs[quarter], pairs[-1 - quarter], peer.minimum_s / ours.minimum_s)

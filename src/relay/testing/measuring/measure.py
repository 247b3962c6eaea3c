"""Timing things against each other: rounds in which each takes its turn, so that what disturbs one disturbs all."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from relay.base.frozen import frozen

_REST_STEP_S = 0.01
_LONGEST_REST_S = 0.5
_REST_SHARE = 0.1  # of a processor, that a process at rest may use

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


class Candidate(Protocol):
    """What takes turns in a process of its own, and reads the clock there."""

    def turn(self) -> float:
        """Seconds of a call, the mean of those of a turn."""
        ...


def interleaved(
    candidates: Mapping[str, Callable[[], object] | Candidate],
    seconds: float = 4.0,
    rounds: int | None = None,
    warm_ups: int = 3,
    rests: bool = False,
) -> dict[str, Timing]:
    """Time each candidate in turn, round after round, for about `seconds` in all (or for `rounds` rounds). Candidates
    are functions, or other processes.

    A turn is a call that is not timed, and calls that are, for `TURN_S` at least. With `rests`, for candidates on
    several threads, it begins when this process uses the processor no more: threads of most libraries wait for work by
    spinning, some for 100 ms, and would share the processor with those of the next candidate.

    >>> sorted(interleaved({"a": lambda: None, "b": lambda: None}, rounds=3))
    ['a', 'b']
    """
    turns = {
        name: Turns(each, rests, warm_ups).turn if callable(each) else each.turn for name, each in candidates.items()
    }
    round_s = 0.0
    for turn in turns.values():
        started = time.perf_counter()
        turn()
        round_s += time.perf_counter() - started
    count = rounds if rounds is not None else max(5, min(1000, int(seconds / max(round_s, 1e-7))))
    samples: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(count):
        names = list(candidates) if number % 2 == 0 else list(candidates)[::-1]
        for name in names:
            samples[name].append(turns[name]())
    return {name: Timing(statistics.median(s), min(s), tuple(s)) for name, s in samples.items()}


class Turns:
    """The turns of a function in this process. With `rests` they begin when its threads wait."""

    def __init__(self, function: Callable[[], object], rests: bool = False, warm_ups: int = 3) -> None:
        self.function, self.rests = function, rests
        for _ in range(warm_ups):
            function()
        started = time.perf_counter()
        function()
        self.repeats = max(1, int(TURN_S / max(time.perf_counter() - started, 1e-7)))

    def turn(self) -> float:
        """Seconds of a call."""
        if self.rests:
            rest()
        self.function()  # not timed: caches and threads are warm afterwards
        started = time.perf_counter()
        for _ in range(self.repeats):
            self.function()
        return (time.perf_counter() - started) / self.repeats


def rest() -> None:
    """Wait until the threads of this process wait too."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < _LONGEST_REST_S:
        used_s = time.process_time()
        time.sleep(_REST_STEP_S)
        if time.process_time() - used_s < _REST_SHARE * _REST_STEP_S:
            return


def ratio(peer: Timing, ours: Timing) -> Ratio:
    """Peer time ÷ our time, from the same interleaved run."""
    pairs = [theirs / mine for theirs, mine in zip(peer.samples_s, ours.samples_s, strict=True)]
    return Ratio(statistics.median(pairs), *quartiles(pairs), peer.minimum_s / ours.minimum_s)

"""What a benchmark finds, as records that are kept as JSON: one a comparison with a peer, a failure, or a quantity."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, Union

from relay.testing.measuring.measure import Timing, ratio

RELAY = "relay"
FORM = 2
"""Of the files: it is raised when records change, so that what cannot be compared is said to be so."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a call has to do at least: products and sums, and bytes of arguments, weights and results moved once."""

    flops: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Figure:
    """Peer time ÷ our time, of one interleaved run. `work` is about ours."""

    workload: str
    threads: int
    peer: str
    ratio: float
    quartiles: tuple[float, float]
    ratio_of_minima: float
    relay_ms: float
    relay_quartiles_ms: tuple[float, float]
    relay_min_ms: float
    peer_ms: float
    peer_quartiles_ms: tuple[float, float]
    peer_min_ms: float
    rounds: int
    relative_error: float | None = None
    gflop_per_s: float | None = None
    gbyte_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Who could not run a workload, and why. The peer is `relay` where it was us."""

    workload: str
    threads: int
    peer: str
    failure: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """One thing that was measured of someone: the less the better. `quartiles` of several rounds, if there were any."""

    workload: str
    quantity: str
    peer: str
    value: float
    unit: str
    quartiles: tuple[float, float] | None = None


LEAST_CHANGE = 0.97
"""A quantity of two commits that is old ÷ new and less than this may be a loss."""


@dataclass(frozen=True, slots=True)
class Change:
    """Old ÷ new of one quantity of two commits, of processes that took turns; `of_old` are the quartiles of the old one
    against itself. Above 1 the new one needs less."""

    suite: str
    workload: str
    quantity: str
    ratio: float
    quartiles: tuple[float, float]
    ratio_of_minima: float
    of_old: tuple[float, float]
    old: float
    new: float
    unit: str
    rounds: int

    @property
    def is_loss(self) -> bool:
        """More than a little, and than what the old one differs from itself."""
        return self.ratio < min(LEAST_CHANGE, self.of_old[0])


Record: TypeAlias = Union[Figure, Failure, Quantity, Change]


def figure(
    workload: str, threads: int, peer: str, ours: Timing, theirs: Timing, *, error: float | None, work: Work | None
) -> Figure:
    """The record of two timings of one run."""
    compared = ratio(theirs, ours)
    return Figure(
        workload, threads, peer, compared.median, (compared.low, compared.high), compared.of_minima,
        *_milliseconds(ours), *_milliseconds(theirs), rounds=len(ours.samples_s), relative_error=error,
        gflop_per_s=work.flops / ours.median_s / 1e9 if work and work.flops else None,
        gbyte_per_s=work.bytes / ours.median_s / 1e9 if work else None,
    )  # fmt: skip


def _milliseconds(timing: Timing) -> tuple[float, tuple[float, float], float]:
    low, high = timing.quartiles_s
    return timing.median_s * 1e3, (low * 1e3, high * 1e3), timing.minimum_s * 1e3


def best_figures(records: Iterable[Record]) -> dict[tuple[str, int], Figure]:
    """By workload and thread count, the comparison with the fastest peer."""
    best: dict[tuple[str, int], Figure] = {}
    for each in records:
        if isinstance(each, Figure):
            key = each.workload, each.threads
            if key not in best or each.peer_ms < best[key].peer_ms:
                best[key] = each
    return best


def geometric_mean(values: Sequence[float]) -> float:
    """
    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return math.exp(sum(map(math.log, values)) / len(values))


def to_json(machine: Mapping[str, object], records: Iterable[Record]) -> str:
    """A record a line, numbers to six digits, so that files are short and their differences can be read."""
    lines = ",\n".join(json.dumps(_rounded(asdict(each)), ensure_ascii=False) for each in records)
    return f'{{"form": {FORM},\n"machine": {json.dumps(machine)},\n"figures": [\n{lines}\n]}}\n'


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.6g}")
        case dict():
            return {name: _rounded(each) for name, each in value.items()}
        case tuple():
            return [_rounded(each) for each in value]
        case _:
            return value


def from_json(text: str) -> list[Record]:
    """The records of a file that `to_json` wrote. Raises `ValueError` for one of another form."""
    content = json.loads(text)
    if content.get("form") != FORM:
        raise ValueError(f"the file has form {content.get('form', 1)}, not {FORM}: it cannot be compared")
    return [_record(each) for each in content["figures"]]


def _record(fields: dict[str, Any]) -> Record:
    marks = {"failure": Failure, "of_old": Change, "quantity": Quantity}
    kind = next((kind for mark, kind in marks.items() if mark in fields), Figure)
    pairs = {name: tuple(each) if isinstance(each, list) else each for name, each in fields.items()}
    return kind(**pairs)

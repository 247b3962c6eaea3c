"""Where the time of a program goes, kernel by kernel, next to what the machine could do."""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.shown.markup import element, escaped, table
from relay.base.shown.printed import count_text, time_text
from relay.runtime.artefact.arena_map import ArenaMap, RegionArena, largest_arena
from relay.runtime.profile.roofline import Roofline, to_json

CONTROL = "control"
"""What the time between kernels is called."""


@frozen
class KernelProfile:
    """A kernel, over all of its calls in a run.

    `seconds` has the time of each run. `multiply_adds` and `bytes_touched` (inputs, constants and results, each once a
    call) are of one run, as is `least_seconds`, what the machine needs at least; None where it is not known,
    as of what a device launches or moves."""

    name: str
    operators: tuple[str, ...]
    calls: int
    seconds: tuple[float, ...]
    dtype: DType | None
    multiply_adds: int | None
    bytes_touched: int | None
    least_seconds: float | None

    @property
    def median_s(self) -> float:
        """Seconds of a run, the median of all runs."""
        return statistics.median(self.seconds)

    @property
    def flops_per_s(self) -> float | None:
        """Operations a second, two to a multiply-add."""
        return _rate(None if self.multiply_adds is None else 2 * self.multiply_adds, self.median_s)

    @property
    def bytes_per_s(self) -> float | None:
        return _rate(self.bytes_touched, self.median_s)

    @property
    def intensity(self) -> float | None:
        """Operations a byte."""
        if self.multiply_adds is None or not self.bytes_touched:
            return None
        return 2 * self.multiply_adds / self.bytes_touched

    @property
    def roofline_share(self) -> float | None:
        """How near the machine's limit it is: 1 is as fast as can be."""
        return None if self.least_seconds is None or not self.median_s else self.least_seconds / self.median_s

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": self.name,
            "operators": self.operators,
            "calls": self.calls,
            "seconds": self.median_s,
            "multiply_adds": self.multiply_adds,
            "bytes": self.bytes_touched,
            "flops_per_s": self.flops_per_s,
            "bytes_per_s": self.bytes_per_s,
            "roofline_share": self.roofline_share,
        }


@frozen
class DeviceRegionProfile:
    """A region that a device runs as a whole, over all of its calls in a run: the entries that it launches, and the
    bytes that it brings from the host or another device, and takes to the host. `relay show --stage program` prints
    what it does.

    `seconds` has the time of each run by the host's clock, from when it waits for the region to when it goes on. In a
    profile the launches of a region wait for each other."""

    name: str
    device: str
    launched: tuple[str, ...]
    calls: int
    seconds: tuple[float, ...]
    bytes_in: int
    bytes_out: int

    @property
    def median_s(self) -> float:
        """Seconds of a run, the median of all runs."""
        return statistics.median(self.seconds)

    def cells(self) -> tuple[str, ...]:
        """The row of the table of regions as text; `REGION_HEADER` names the columns."""
        moved = (f"{each:,}" for each in (self.bytes_in, self.bytes_out))
        numbers = str(self.calls), f"{self.median_s * 1e6:,.1f}", *moved
        return (f"{self.name} on {self.device}", ", ".join(self.launched), *numbers)

    def to_json(self) -> dict[str, Any]:
        return {
            "region": self.name,
            "device": self.device,
            "launched": self.launched,
            "calls": self.calls,
            "seconds": self.median_s,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
        }


class SpanKind(StrEnum):
    """What a stretch of time was spent on: a whole call, a region of a device, a kernel, or a thread's part of a
    parallel loop."""

    ENTRY = "entry"
    REGION = "region"
    KERNEL = "kernel"
    PART = "part"


@frozen
class Span:
    """A stretch of time on a thread; thread 0 is the one that called. Nanoseconds since the call began."""

    name: str
    kind: SpanKind
    thread: int
    start_ns: int
    end_ns: int


@frozen
class ProgramProfile:
    """The profile of a function of a program. Printed, it is a table, slowest kernel first.

    `seconds` has the native time of each run, without what Python does around it. `spans` are those of one more run,
    in order of their beginning. `device_regions` are what devices run as a whole; what these launch and move is among
    the kernels. `roofline` is None where this machine's was never measured. `arenas`: what is where while each region
    of kernels runs; what outlives a region, and is no result, is on a heap."""

    function: str
    target: str
    threads: int
    kernels: tuple[KernelProfile, ...]
    seconds: tuple[float, ...]
    control_seconds: tuple[float, ...]
    spans: tuple[Span, ...]
    roofline: Roofline | None
    arenas: tuple[RegionArena, ...]
    constant_bytes: int
    device_regions: tuple[DeviceRegionProfile, ...] = ()

    @property
    def arena(self) -> ArenaMap | None:
        """The largest of the arenas, which serves all regions; None where there is none whose extents are known."""
        return largest_arena(self.arenas)

    @property
    def median_s(self) -> float:
        """Native seconds of a run, the median of all runs."""
        return statistics.median(self.seconds)

    @property
    def control_s(self) -> float:
        """Seconds between kernels: branches, calls, the heap, and reading the clock."""
        return statistics.median(self.control_seconds)

    @property
    def by_time(self) -> tuple[KernelProfile, ...]:
        """The kernels, slowest first."""
        return tuple(sorted(self.kernels, key=lambda kernel: (-kernel.median_s, kernel.name)))

    def share(self, seconds: float) -> float:
        """A part of all time, in kernels and between them."""
        whole = sum(kernel.median_s for kernel in self.kernels) + self.control_s
        return seconds / whole if whole else 0.0

    def cells(self) -> list[tuple[str, ...]]:
        """The rows of the table as text, slowest kernel first, then the time between kernels and the sum; `HEADER`
        names the columns."""
        rows = [
            (
                each.name,
                _operators(each.operators),
                str(each.calls),
                f"{each.median_s * 1e6:,.1f}",
                f"{self.share(each.median_s):.1%}",
                _scaled(each.flops_per_s if each.multiply_adds else None),
                _scaled(each.bytes_per_s),
                _percent(each.roofline_share),
            )
            for each in self.by_time
        ]
        calls = sum(each.calls for each in self.kernels)
        control = (CONTROL, "", "", f"{self.control_s * 1e6:,.1f}", f"{self.share(self.control_s):.1%}", "", "", "")
        return [*rows, control, ("total", "", str(calls), f"{self.median_s * 1e6:,.1f}", "100.0%", *self._rates())]

    def _rates(self) -> tuple[str, str, str]:
        """Operations and bytes a second, and the share of the limit, over the whole run."""
        flops = [None if each.multiply_adds is None else 2 * each.multiply_adds for each in self.kernels]
        least = _sum([each.least_seconds for each in self.kernels])
        share = None if least is None or not self.median_s else least / self.median_s
        touched = _rate(_sum([each.bytes_touched for each in self.kernels]), self.median_s)
        return _scaled(_rate(_sum(flops), self.median_s) or None), _scaled(touched), _percent(share)

    def notes(self) -> list[str]:
        """What stands under the table: the machine's limits, and the arena of each region."""
        return [roofline_line(self.roofline, self.threads), *(each.summary() for each in self.arenas)]

    def text(self, columns: int = 80) -> str:
        """The table and what stands under it, folded to so many columns: names are behind the numbers, as long as they
        are."""
        lines = [*_folded([HEADER, *self.cells()], columns)]
        if self.device_regions:
            lines += ["", *_folded([REGION_HEADER, *(each.cells() for each in self.device_regions)], columns), ""]
        notes = (each for line in self.notes() for each in textwrap.wrap(line, columns))
        return "\n".join((*lines, *notes))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """What notebooks show."""
        parts = [table(HEADER, self.cells(), NAMES)]
        if self.device_regions:
            parts.append(table(REGION_HEADER, (each.cells() for each in self.device_regions), NAMES))
        return "".join((*parts, *(element("p", escaped(note)) for note in self.notes())))

    def __repr__(self) -> str:
        kernels = count_text(len(self.kernels), "kernel")
        return f"<relay profile of {self.function}: {kernels}, {time_text(self.median_s)}>"

    def to_json(self) -> dict[str, Any]:
        """The profile as JSON has it, slowest kernel first."""
        arena = self.arena
        return {
            "function": self.function,
            "target": self.target,
            "threads": self.threads,
            "seconds": self.median_s,
            "control_seconds": self.control_s,
            "kernels": [each.to_json() | {"share": self.share(each.median_s)} for each in self.by_time],
            "device_regions": [each.to_json() for each in self.device_regions],
            "roofline": None if self.roofline is None else to_json(self.roofline),
            "arena": None if arena is None else _arena_to_json(arena),
            "regions": [_arena_to_json(each) for each in self.arenas if isinstance(each, ArenaMap)],
        }


def _arena_to_json(arena: ArenaMap) -> dict[str, Any]:
    return {
        "region": arena.region,
        "planned_bytes": arena.planned_bytes,
        "lower_bound_bytes": arena.lower_bound_bytes,
    }


HEADER = ("kernel", "operators", "calls", "µs", "share", "GFLOP/s", "GB/s", "% of roofline")
"""The columns of a program's profile; the first two are names."""
REGION_HEADER = ("region", "launched", "calls", "µs", "bytes in", "bytes out")
"""The columns of the regions of devices."""
NAMES = 2
_LEAST_ROOM = 16
"""Characters of a line of a name."""


def roofline_line(roofline: Roofline | None, threads: int) -> str:
    """The machine's limits, or how to have them."""
    if roofline is None:
        return (
            f"roofline: not measured on this machine with {threads} threads; "
            f"relay.driver.measure_roofline({threads}) does it once"
        )
    peaks = ", ".join(f"{peak / 1e9:,.0f} GFLOP/s {dtype}" for dtype, peak in roofline.peak_flops.items())
    levels = ", ".join(f"{level.name} {level.bytes_per_s / 1e9:,.0f} GB/s" for level in roofline.levels)
    busy = " (measured while the machine was busy: it can do more)" if roofline.is_disturbed else ""
    return f"roofline, {roofline.threads} threads: {peaks}; {levels}{busy}"


def _rate(amount: float | None, seconds: float) -> float | None:
    return None if amount is None or not seconds else amount / seconds


def _sum(parts: Iterable[float | None]) -> float | None:
    total = 0.0
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _scaled(rate: float | None) -> str:
    return "–" if rate is None else f"{rate / 1e9:,.1f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _operators(names: tuple[str, ...], most: int = 6) -> str:
    shown = [*names[:most], "…"] if len(names) > most else names
    return ", ".join(shown)


def _folded(rows: Sequence[tuple[str, ...]], columns: int) -> Iterator[str]:
    """Numbers to the right of their columns; behind them names, over as many lines as they need, and what it is of."""
    widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[NAMES:]]
    for name, operators, *numbers in rows:
        start = "".join(f"{cell.rjust(width)}  " for cell, width in zip(numbers, widths, strict=True))
        room = max(columns - len(start), _LEAST_ROOM)
        first, *rest = (name[at : at + room] for at in range(0, len(name), room))
        yield start + first
        indented = textwrap.wrap(operators, room, initial_indent="  ", subsequent_indent="  ")
        yield from (f"{'':{len(start)}}{line}" for line in (*rest, *indented))

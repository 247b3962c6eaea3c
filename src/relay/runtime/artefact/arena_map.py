"""What is where in the arena of a region, and when: the plan with all extents known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, Union

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.frozen import frozen
from relay.runtime.artefact.work import RegionSpec

_ALIGNMENT_BYTES = 64


@frozen
class PlacedBuffer:
    """A value at bytes `begin` to `end`, alive from kernel call `first`, which writes it, to `last`, which reads it."""

    kernel: str
    begin: int
    end: int
    first: int
    last: int


@frozen
class ArenaMap:
    """The values of one region; `planned_bytes` is what it sets aside. `region` names it, where there are others."""

    buffers: tuple[PlacedBuffer, ...]
    planned_bytes: int
    region: str = ""

    @staticmethod
    def around(buffers: Sequence[PlacedBuffer]) -> ArenaMap:
        """The map that ends where the last buffer does, cache lines whole."""
        end = max((each.end for each in buffers), default=0)
        return ArenaMap(tuple(buffers), -(-end // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES)

    @property
    def steps(self) -> int:
        """How many kernel calls the map spans."""
        return max((buffer.last + 1 for buffer in self.buffers), default=0)

    @property
    def lower_bound_bytes(self) -> int:
        """The most bytes that are alive at one kernel call: no plan can do with less. What is written over an input in
        place counts once; a value takes whole cache lines.

        >>> ArenaMap((PlacedBuffer("a", 0, 64, 0, 1), PlacedBuffer("b", 128, 256, 1, 2)), 256).lower_bound_bytes
        192
        """
        return max((_covered(alive) for alive in self._alive_by_step()), default=0)

    @property
    def waste(self) -> float:
        """How much more is planned than must be, as a fraction of what must be."""
        least = self.lower_bound_bytes
        return self.planned_bytes / least - 1 if least else 0.0

    def _alive_by_step(self) -> list[list[tuple[int, int]]]:
        alive: list[list[tuple[int, int]]] = [[] for _ in range(self.steps)]
        for buffer in self.buffers:
            for step in range(buffer.first, buffer.last + 1):
                alive[step].append((buffer.begin, buffer.end))
        return alive

    def summary(self) -> str:
        """One line: planned, needed, and the difference."""
        if not self.buffers:
            return f"{_headed(self.region)}no value needs it"
        least = self.lower_bound_bytes
        return (
            f"{_headed(self.region)}{self.planned_bytes:,} bytes planned, {least:,} bytes alive at most, "
            f"{self.waste:+.1%}, {len(self.buffers)} values"
        )

    def __str__(self) -> str:
        """A map of characters, time downwards and addresses to the right, under the summary; a letter a value."""
        return "\n".join([self.summary(), *self._rows()])

    def _rows(self, most_rows: int = 48, columns: int = 64) -> list[str]:
        if not self.buffers or not self.planned_bytes:
            return []
        steps_a_row = -(-self.steps // most_rows)
        rows: list[str] = []
        for start in range(0, self.steps, steps_a_row):
            cells = [" "] * columns
            for number, buffer in enumerate(self.buffers):
                if buffer.first < start + steps_a_row and buffer.last >= start:
                    begin = buffer.begin * columns // self.planned_bytes
                    end = max(begin + 1, -(-buffer.end * columns // self.planned_bytes))
                    cells[begin:end] = [chr(ord("a") + number % 26)] * (min(end, columns) - begin)
            rows.append(f"{start:>5} |{''.join(cells)}|")
        return rows


@frozen
class OpenArena:
    """That of a region whose extents only the run tells."""

    planned_bytes: IntExpr
    region: str = ""

    def summary(self) -> str:
        """One line."""
        return f"{_headed(self.region)}{self.planned_bytes} bytes planned, of extents that are only known at run time"

    def __str__(self) -> str:
        return self.summary()


RegionArena: TypeAlias = Union[ArenaMap, OpenArena]


def region_arena(region: RegionSpec, values: Mapping[Symbol, int]) -> RegionArena:
    """The plan of a region, for the extents `values` of a call."""
    if region.open_symbols:
        return OpenArena(region.arena_bytes, region.name)
    buffers: list[PlacedBuffer] = []
    for each in region.arena:
        begin, size = evaluate(each.offset_bytes, values), evaluate(each.size_bytes, values)
        if size:
            buffers.append(PlacedBuffer(each.kernel, begin, begin + size, each.first, each.last))
    return ArenaMap(tuple(buffers), evaluate(region.arena_bytes, values), region.name)


def largest_arena(arenas: Iterable[RegionArena]) -> ArenaMap | None:
    """That of the region which needs most: one arena, as large, serves all. None where no plan is of known extents."""
    known = (each for each in arenas if isinstance(each, ArenaMap))
    return max(known, key=lambda each: each.planned_bytes, default=None)


def _headed(region: str) -> str:
    return f"arena of {region}: " if region else "arena: "


def _covered(ranges: Sequence[tuple[int, int]]) -> int:
    """How many bytes lie in any of the ranges, cache lines whole."""
    total = reached = 0
    for begin, end in sorted(ranges):
        whole = -(-end // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
        total += max(0, whole - max(begin, reached))
        reached = max(reached, whole)
    return total

"""Whether the arena of a region is planned soundly, judged by its places and by who says to be where when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TypeAlias

from relay.arith.expr import IntExpr
from relay.lower.program.place import ArenaPlace, Place
from relay.lower.program.region import BROUGHT, SCRATCH, CallKernel, CopyBytes, RegionInstruction, RunRegion
from relay.lower.program.registers import read_and_written
from relay.runtime.artefact.work import ArenaBuffer


def broken_arena(
    region: RunRegion, may_overwrite: Mapping[str, Sequence[int]]
) -> Iterator[tuple[RegionInstruction | ArenaBuffer, str]]:
    """What breaks a rule, and the rule. `may_overwrite` are the inputs, by position, that the result of a kernel may be
    written over."""
    calls = list(region.calls)
    arena = list(_present(region))
    for buffer in arena:
        end = _end(buffer)
        if end is not None and isinstance(region.arena_bytes, int) and end > region.arena_bytes:
            yield buffer, f"it ends behind the arena, at byte {end} of {region.arena_bytes}"
    alive = _alive(arena, len(calls))
    for one in arena:
        for other in _near(alive[max(one.first, 0)], one.offset_bytes, _end(one)):
            if other is not one and _collide(one, other) and not _is_overwritten(one, other, calls, may_overwrite):
                yield one, f"it lies over what `{other.kernel}` makes, which is needed at the same time"
    written = 0  # how many calls have written their results
    for instruction in region.instructions:
        read, made = read_and_written(instruction)
        before = written - 1
        written += isinstance(instruction, CallKernel)
        now = written - 1
        yield from ((instruction, f"nothing is alive at {each}") for each in _dead(alive, read, before, now))
        yield from ((instruction, f"it has no room at {each}") for each in _dead(alive, made, now, now))


def _present(region: RunRegion) -> Iterator[ArenaBuffer]:
    """Who is in the arena. What copies bring there is written by call -1; where the copy is missing, by nobody."""
    copies = takewhile(lambda each: isinstance(each, CopyBytes), region.instructions)
    brought = {place for each in copies for place in read_and_written(each)[1]}
    for buffer in region.arena:
        if buffer.kernel != BROUGHT:
            yield buffer
        elif ArenaPlace(buffer.offset_bytes) in brought:
            yield replace(buffer, first=-1)


_Spans: TypeAlias = Sequence[tuple["int | None", "int | None", ArenaBuffer]]
"""Buffers, each behind where it begins and ends, if numbers tell."""


def _alive(arena: Sequence[ArenaBuffer], call_count: int) -> Sequence[_Spans]:
    """Who is in the arena while each kernel runs."""
    found: list[list[tuple[int | None, int | None, ArenaBuffer]]] = [[] for _ in range(call_count)]
    for buffer in arena:
        begin = buffer.offset_bytes if isinstance(buffer.offset_bytes, int) else None
        span = begin, _end(buffer), buffer
        for time in range(max(buffer.first, 0), buffer.last + 1):
            found[time].append(span)
    return found


def _dead(alive: Sequence[_Spans], places: Sequence[Place], first: int, last: int) -> Iterator[Place]:
    """The places in the arena that belong to nobody who was written by call number `first` and is needed by `last`."""
    there = alive[max(last, 0)] if alive else ()
    for place in places:
        if isinstance(place, ArenaPlace):
            offset = place.offset_bytes
            near = _near(there, offset, offset + 1 if isinstance(offset, int) else None)
            if not any(_holds(each, place, first) for each in near):
                yield place


def _near(buffers: _Spans, begin: IntExpr, end: int | None) -> list[ArenaBuffer]:
    """Those that may have a byte from `begin` to before `end`: all of which numbers do not tell that they have none."""
    if not isinstance(begin, int) or end is None:
        return [buffer for _, _, buffer in buffers]
    return [
        buffer for first, last, buffer in buffers if first is None or last is None or (first < end and begin <= last)
    ]


def _holds(buffer: ArenaBuffer, place: ArenaPlace, first: int) -> bool:
    """Whether a place is of a buffer that is written by then."""
    begin, end = buffer.offset_bytes, _end(buffer)
    if buffer.first > first:
        return False
    if isinstance(place.offset_bytes, int) and isinstance(begin, int) and end is not None:
        return begin <= place.offset_bytes < max(end, begin + 1)
    return place.offset_bytes == begin


def _collide(one: ArenaBuffer, other: ArenaBuffer) -> bool:
    """Whether two buffers have bytes in common."""
    if one.size_bytes == 0 or other.size_bytes == 0:
        return False
    ends = _end(one), _end(other)
    if ends[0] is None or ends[1] is None:
        return one.offset_bytes == other.offset_bytes
    return _below(one.offset_bytes, ends[1]) and _below(other.offset_bytes, ends[0])


def _is_overwritten(
    one: ArenaBuffer, other: ArenaBuffer, calls: Sequence[CallKernel], may_overwrite: Mapping[str, Sequence[int]]
) -> bool:
    """Whether the kernel that makes the later of two buffers reads the earlier one for the last time, and may write
    over it."""
    earlier, later = (one, other) if one.first < other.first else (other, one)
    if (earlier.offset_bytes, earlier.size_bytes) != (later.offset_bytes, later.size_bytes):
        return False
    if later.first < 0 or SCRATCH in (one.kernel, other.kernel):
        return False
    call = calls[later.first]
    shared = [position for position, place in enumerate(call.inputs) if place == ArenaPlace(later.offset_bytes)]
    return earlier.last == later.first and set(shared) <= set(may_overwrite.get(call.kernel, ()))


def _end(buffer: ArenaBuffer) -> int | None:
    """Where a buffer ends, if numbers tell."""
    if isinstance(buffer.offset_bytes, int) and isinstance(buffer.size_bytes, int):
        return buffer.offset_bytes + buffer.size_bytes
    return None


def _below(offset: IntExpr, end: int) -> bool:
    return isinstance(offset, int) and offset < end

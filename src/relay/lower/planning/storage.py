"""Storage planning: which bytes of the workspace each value has, and when two values can have the same.

A value lives from the instruction that writes it to the last one that reads it. Values of constant size are packed by
offset: largest first, each at the lowest gap that fits among the values alive at the same time (the greedy-by-size
order of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5). Values of
symbolic size follow behind them and share a slot when their sizes are the same expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr, add, ceil_divide, multiply
from relay.base.frozen import frozen

ALIGNMENT_BYTES = 64


@frozen
class Lifetime:
    """A value of `size_bytes` that is written by instruction `first` and last read by instruction `last`."""

    size_bytes: IntExpr
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        return self.first <= other.last and other.first <= self.last


@frozen
class StoragePlan:
    """`offsets_bytes[i]` is where value i is; `total_bytes` what the workspace needs."""

    offsets_bytes: tuple[IntExpr, ...]
    total_bytes: IntExpr


def plan_storage(values: Sequence[Lifetime]) -> StoragePlan:
    """Offsets such that no two values alive at once overlap.

    >>> plan_storage([Lifetime(100, 0, 1), Lifetime(100, 1, 2), Lifetime(100, 2, 3)]).total_bytes
    256
    """
    offsets: dict[int, IntExpr] = {}
    constant_end = _pack_constant_sizes(values, offsets)
    total = _append_symbolic_sizes(values, offsets, constant_end)
    return StoragePlan(tuple(offsets[i] for i in range(len(values))), total)


def aligned(size_bytes: IntExpr) -> IntExpr:
    return multiply(ceil_divide(size_bytes, ALIGNMENT_BYTES), ALIGNMENT_BYTES)


def _pack_constant_sizes(values: Sequence[Lifetime], offsets: dict[int, IntExpr]) -> int:
    sized = [(value.size_bytes, i) for i, value in enumerate(values) if isinstance(value.size_bytes, int)]
    alive: dict[int, list[tuple[int, int]]] = {}  # the bytes that are taken while an instruction runs
    written: dict[int, list[tuple[int, int]]] = {}  # those of them that are taken from that instruction on
    end = 0
    for _, i in sorted(sized, key=lambda item: (-item[0], item[1])):
        value = values[i]
        size = aligned(value.size_bytes)
        assert isinstance(size, int)
        taken = set(alive.get(value.first, ()))
        for time in range(value.first + 1, value.last + 1):
            taken.update(written.get(time, ()))
        begin = lowest_gap(size, sorted(taken))
        place = (begin, begin + size)
        written.setdefault(value.first, []).append(place)
        for time in range(value.first, value.last + 1):
            alive.setdefault(time, []).append(place)
        offsets[i] = begin
        end = max(end, begin + size)
    return end


def lowest_gap(size: int, taken: Sequence[tuple[int, int]]) -> int:
    """The lowest offset of so many bytes between stretches that are taken, which are sorted."""
    position = 0
    for begin, end in taken:
        if begin - position >= size:
            break
        position = max(position, end)
    return position


def _append_symbolic_sizes(values: Sequence[Lifetime], offsets: dict[int, IntExpr], start: IntExpr) -> IntExpr:
    slots: list[tuple[IntExpr, IntExpr, list[Lifetime]]] = []  # size, offset, who shares it
    end = start
    for i, value in enumerate(values):
        if isinstance(value.size_bytes, int):
            continue
        for size, offset, sharers in slots:
            if size == value.size_bytes and not any(value.overlaps(other) for other in sharers):
                offsets[i] = offset
                sharers.append(value)
                break
        else:
            offsets[i] = end
            slots.append((value.size_bytes, end, [value]))
            end = add(end, aligned(value.size_bytes))
    return end

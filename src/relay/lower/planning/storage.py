"""Storage planning: which bytes of the workspace each value has, and when two values can have the same.

A value lives from the instruction that writes it to the last one that reads it. Values of constant size are packed by
offset: largest first, each at the lowest gap that fits among the values alive at the same time (the greedy-by-size
order of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5). Values of
symbolic size follow behind them and share a slot when their sizes are the same expression.
"""

from __future__ import annotations

from bisect import bisect_left
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
    taken = _TakenBytes(max((value.last + 1 for value in values), default=1))
    end = 0
    for _, i in sorted(sized, key=lambda item: (-item[0], item[1])):
        value = values[i]
        size = aligned(value.size_bytes)
        assert isinstance(size, int)
        begin = lowest_gap(size, taken.during(value.first, value.last))
        taken.take((begin, begin + size), value.first, value.last)
        offsets[i] = begin
        end = max(end, begin + size)
    return end


class _TakenBytes:
    """The stretches of bytes that are taken, by the instructions during which they are.

    A segment tree over instructions (Bentley, "Solutions to Klee's rectangle problems", 1977): node `n` is about what
    `2 * n` and `2 * n + 1` are about. Values that lie close together are one stretch, so that a value costs the
    logarithm of how many instructions there are, however long it lives.
    """

    def __init__(self, instructions: int) -> None:
        self._leaves = 1 << (instructions - 1).bit_length()
        self._throughout: dict[int, list[tuple[int, int]]] = {}
        self._at_some_time: dict[int, list[tuple[int, int]]] = {}

    def during(self, first: int, last: int) -> list[tuple[int, int]]:
        """What is taken during any of the instructions from `first` to `last`, sorted."""
        nodes = self._covering(first, last)
        found = [each for node in nodes for each in self._at_some_time.get(node, ())]
        found += (each for node in _above(nodes) for each in self._throughout.get(node, ()))
        return sorted(found)

    def take(self, stretch: tuple[int, int], first: int, last: int) -> None:
        nodes = self._covering(first, last)
        for node in nodes:
            _unite(self._throughout.setdefault(node, []), stretch)
        for node in (*nodes, *_above(nodes)):
            _unite(self._at_some_time.setdefault(node, []), stretch)

    def _covering(self, first: int, last: int) -> list[int]:
        """The largest nodes that are about instructions from `first` to `last` alone: all of these."""
        found: list[int] = []
        low, high = first + self._leaves, last + 1 + self._leaves
        while low < high:
            if low & 1:
                found.append(low)
                low += 1
            if high & 1:
                high -= 1
                found.append(high)
            low, high = low >> 1, high >> 1
        return found


def _above(nodes: Sequence[int]) -> set[int]:
    """The nodes above some."""
    found: set[int] = set()
    for node in nodes:
        while node > 1 and node >> 1 not in found:
            node >>= 1
            found.add(node)
    return found


def _unite(stretches: list[tuple[int, int]], stretch: tuple[int, int]) -> None:
    """Add a stretch to sorted ones that do not touch each other."""
    begin, end = stretch
    at = bisect_left(stretches, stretch)
    if at and stretches[at - 1][1] >= begin:
        at -= 1
    behind = bisect_left(stretches, (end + 1, 0), at)
    touched = stretches[at:behind]
    if touched:  # ends are in order, as beginnings are
        (first, _), (_, last) = touched[0], touched[-1]
        begin, end = first if first < begin else begin, last if last > end else end
    stretches[at:behind] = [(begin, end)]


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

"""Storage planning: which bytes of the workspace each value has, and when two values can have the same.

A value lives from the instruction that writes it to the last one that reads it. Values are packed by offset: largest
first, each at the lowest gap that fits among the values alive at the same time (the greedy-by-size order of Pisarchyk
and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, section 5). Sizes that are multiples of one
open extent, such as `4096*n` and `8192*n`, are packed in units of it, as constant sizes are in bytes. What is measured
in one unit follows behind what is measured in another, since nobody knows yet which of them is larger.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from relay.arith.expr import IntExpr, add, ceil_divide, linear_parts, multiply
from relay.base.frozen import frozen

ALIGNMENT_BYTES = 64
_MOST_WASTE = 8
"""What aligning adds to each of an open extent is at most so much of it, as its divisor."""


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
    measured: dict[IntExpr, dict[int, int]] = {1: {}}
    for number, value in enumerate(values):
        count, unit = _in_units(value.size_bytes)
        measured.setdefault(unit, {})[number] = count
    offsets: dict[int, IntExpr] = {}
    end: IntExpr = 0
    for unit, counts in measured.items():
        begins, whole = _packed(values, counts)
        offsets.update((number, add(end, multiply(unit, begin))) for number, begin in begins.items())
        end = add(end, multiply(unit, whole))
    return StoragePlan(tuple(offsets[number] for number in range(len(values))), end)


def aligned(size_bytes: IntExpr) -> IntExpr:
    return multiply(ceil_divide(size_bytes, ALIGNMENT_BYTES), ALIGNMENT_BYTES)


def _in_units(size_bytes: IntExpr) -> tuple[int, IntExpr]:
    """A size as so many times a unit, aligned: of bytes, or of an open extent where it is a multiple of that, and to
    align what each of that takes adds little. Others are a unit of their own.

    >>> from relay.arith.expr import Symbol
    >>> n = Symbol("n")
    >>> _in_units(100), _in_units(4000 * n), _in_units(4 * n)
    ((128, 1), (4032, n), (1, 64*((4*n + 63) // 64)))
    """
    constant, terms = linear_parts(size_bytes)
    if not terms:
        return _aligned_bytes(constant), 1
    (term, coefficient), *others = terms
    rest = _aligned_bytes(coefficient) - coefficient
    if not others and constant == 0 and 0 <= rest <= coefficient // _MOST_WASTE:
        return coefficient + rest, term
    return 1, aligned(size_bytes)


def _aligned_bytes(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _packed(values: Sequence[Lifetime], sizes: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """Where those of the values that have a size here begin, in the unit of the sizes, and where the last ends."""
    taken = _TakenBytes(max((value.last + 1 for value in values), default=1))
    begins: dict[int, int] = {}
    end = 0
    for number, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        value = values[number]
        begin = lowest_gap(size, taken.during(value.first, value.last))
        taken.take((begin, begin + size), value.first, value.last)
        begins[number] = begin
        end = max(end, begin + size)
    return begins, end


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

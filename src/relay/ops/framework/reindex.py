"""Where the elements of one shape stand in another shape with as many elements, both row-major."""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr
from relay.ops.framework.dimensions import quotient


def reindexed(old: Sequence[IntExpr], new: Sequence[IntExpr], indices: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
    """The place in shape `old` of the element at `indices` of shape `new`, both row-major.

    Runs of axes with equal products are treated apart, so that axes which stay the same keep their plain index, also
    beside an axis of extent 1. Shapes without elements have no places: what is given stands for none.
    """
    if 0 in (*old, *new):
        return (0,) * len(old)
    places: list[IntExpr] = []
    for old_run, new_run in _matching_runs(old, new):
        flat: IntExpr = 0
        for axis in new_run:
            flat = flat * new[axis] + (0 if new[axis] == 1 and len(new_run) > 1 else indices[axis])
        first = next((axis for axis in old_run if old[axis] != 1), old_run.start)
        unravelled: list[IntExpr] = []
        for axis in reversed(old_run):
            # what is in front of the first axis that has places is 0, and what it is given needs no remainder
            unravelled.append(0 if axis < first else flat if axis == first else flat % old[axis])
            flat = flat // old[axis]
        places += reversed(unravelled)
    return tuple(places)


def _matching_runs(old: Sequence[IntExpr], new: Sequence[IntExpr]) -> list[tuple[range, range]]:
    """Both shapes cut into the shortest runs of axes with equal products; the rest in one piece where unknown."""
    runs: list[tuple[range, range]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        end_i, end_j = i + 1, j + 1
        left, right = old[i], new[j]
        while left != right:
            if (_divides(left, right) or end_j == len(new)) and end_i < len(old):
                left = left * old[end_i]
                end_i += 1
            elif end_j < len(new):
                right = right * new[end_j]
                end_j += 1
            else:
                end_i, end_j = len(old), len(new)
                break
        runs.append((range(i, end_i), range(j, end_j)))
        i, j = end_i, end_j
    if i < len(old) or j < len(new):
        runs.append((range(i, len(old)), range(j, len(new))))
    return runs


def _divides(part: IntExpr, whole: IntExpr) -> bool:
    if isinstance(part, int) and isinstance(whole, int):
        return part < whole
    return quotient(whole, part) is not None

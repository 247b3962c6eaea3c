"""Padding that keeps an axis as long as its windows, as formats write it by a word: `SAME_UPPER`, `same`."""

from __future__ import annotations

from collections.abc import Sequence


def same_total(extent: int, span: int, stride: int) -> int:
    """Padding of an axis, so that there is one window of `span` elements for each stride begun.

    >>> same_total(7, 3, 2), same_total(8, 3, 2), same_total(8, 1, 2)
    (2, 1, 0)
    """
    return max(0, ((extent + stride - 1) // stride - 1) * stride + span - extent)


def split_padding(totals: Sequence[int], *, upper: bool) -> tuple[int, ...]:
    """Half before and half after; the odd one after when `upper`.

    >>> split_padding([3, 2], upper=True)
    (1, 1, 2, 1)
    """
    before = [total // 2 if upper else total - total // 2 for total in totals]
    return (*before, *(total - first for total, first in zip(totals, before, strict=True)))

"""Asking for memory ahead of time.

While one iteration of an outer loop computes, its inner iterations ask, each for its share, for the cache lines that
the next iteration will read: in several streams, side by side, since processors go on by themselves in each stream of
addresses that they see, and more of memory is on its way then (Sapphire Rapids, weights of 128 MiB read once by tiles:
9, 13, 14 and 15 GB/s with 1, 2, 4 and 8 streams).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from relay.arith.expr import IntExpr, Symbol, add, ceil_divide, free_symbols, multiply, substitute
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.te.lowering.placement import Enclosing
from relay.te.lowering.region import Range, range_of
from relay.tir.buffer import Buffer
from relay.tir.expr import Call, Load, imm
from relay.tir.stmt import Evaluate, Stmt

LINE_BYTES = 64
_STREAMS = (1, 2, 4, 8)
FIRST_LEVEL, SECOND_LEVEL = 3, 2
"""The caches that lines are brought into: what is written next, and what is read soon, but not next."""


def prefetched(
    buffer: Buffer,
    reads: Sequence[tuple[IntExpr, ...]],
    ahead: Enclosing,
    between: Sequence[Enclosing],
    inner: Mapping[Symbol, IntExpr],
) -> list[Stmt]:
    """The prefetches of one iteration of the last loop of `between`, for what the next iteration of `ahead` `reads`.

    `between` are the loops inside `ahead`, down to the one that the statements stand in; `inner` those further in. What
    is read must be one contiguous part of `buffer`. Raises `RelayError` (`schedule-prefetch`).
    """
    if ahead.extent == 1:
        return []
    running = dict(inner) | {loop.symbol: loop.extent for loop in between}
    low, size = _contiguous(buffer, reads, running)
    if not any(ahead.symbol in free_symbols(index) for index in low):
        raise _refused(buffer, f"a part of it that moves with loop `{ahead.loop}`", "the same part in all iterations")
    line = max(1, LINE_BYTES // buffer.dtype.item_bytes)
    iterations: IntExpr = 1
    number: IntExpr = 0
    for loop in between:
        iterations = multiply(iterations, loop.extent)
        number = multiply(number, loop.extent) if loop.extent == 1 else add(multiply(number, loop.extent), loop.symbol)
    share = ceil_divide(ceil_divide(size, line), iterations)
    if not isinstance(share, int):
        raise _refused(buffer, "a share of constant size", f"{size} elements in {iterations} iterations")
    next_low = tuple(substitute(index, {ahead.symbol: add(ahead.symbol, 1)}) for index in low)
    streams = max(count for count in _STREAMS if share % count == 0)
    apart = multiply(iterations, share // streams)
    lines = [
        add(multiply(apart, stream), add(multiply(number, share // streams), position))
        for position in range(share // streams)
        for stream in range(streams)
    ]
    return [_prefetch(buffer, next_low, multiply(each, line)) for each in lines]


def claimed(buffer: Buffer, written: tuple[IntExpr, ...], running: Mapping[Symbol, IntExpr]) -> list[Stmt]:
    """A prefetch to write of each cache line of the elements `written` while the loops `running` go.

    These are rows along the last axis, of constant number and length. Raises `RelayError` (`schedule-prefetch`).
    """
    parts = [range_of(index, running) for index in written]
    low = [part.low for part in parts if part is not None]
    widths = [part.width for part in parts if part is not None and isinstance(part.width, int)]
    if len(widths) < len(parts) or not parts:
        raise _refused(buffer, "a part of it of constant size written at a time", f"[{', '.join(map(str, written))}]")
    line = max(1, LINE_BYTES // buffer.dtype.item_bytes)
    rows = product(*(range(width + 1) for width in widths[:-1]), range(0, widths[-1] + 1, line))
    return [_prefetch(buffer, tuple(map(add, low, offsets)), 0, write=True) for offsets in rows]


def _prefetch(buffer: Buffer, low: tuple[IntExpr, ...], elements: IntExpr, write: bool = False) -> Stmt:
    """Only the address matters, so elements beyond the last axis' extent are those of the next row."""
    level = imm(FIRST_LEVEL if write else SECOND_LEVEL, DType.INT32)
    load = Load(buffer, (*low[:-1], add(low[-1], elements)))
    return Evaluate(Call("prefetch", (load, imm(int(write), DType.INT32), level), DType.INT32))


def _contiguous(
    buffer: Buffer, reads: Sequence[tuple[IntExpr, ...]], running: Mapping[Symbol, IntExpr]
) -> tuple[tuple[IntExpr, ...], IntExpr]:
    """Where the one part of `buffer` that is read starts, and its size in elements."""
    if len(reads) != 1 or not buffer.shape:
        raise _refused(buffer, "one read of it", f"{len(reads)} reads")
    size: IntExpr = 1
    low: list[IntExpr] = []
    whole = True  # are all axes further in read whole?
    for index, extent in reversed(list(zip(reads[0], buffer.shape, strict=True))):
        part = range_of(index, running)
        if part is None or (not whole and part.width != 0):
            raise _refused(buffer, "a contiguous part of it read at a time", f"[{', '.join(map(str, reads[0]))}]")
        whole = whole and part == Range(0, add(extent, -1))
        size = multiply(size, add(part.width, 1))
        low.insert(0, part.low)
    return tuple(low), size


def _refused(buffer: Buffer, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="schedule-prefetch",
        message=f"cannot prefetch `{buffer.name}`",
        expected=expected,
        found=found,
        remedy="lay the tensor out so that one iteration reads one contiguous part of it",
    )

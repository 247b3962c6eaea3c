"""Masks of tails: vectors of which only the first lanes count.

In registers there is room for whole vectors, so the tail of a register tile is computed in full, and lanes beyond its
extent hold what nobody reads. Were they masked, the tile would have to stay in memory. Lanes that do count and keep
what they have, those of a sum behind the end of a row whose length the run tells, are chosen.
"""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Broadcast, Compare, CompareOp, Imm, IndexValue, Ramp, RampValue, Value

_VECTOR_BYTES = 64  # of the widest vectors there are


def padded_shape(buffer: Buffer) -> tuple[IntExpr, ...]:
    """The extents that a register buffer is given: rows of whole vectors. Axes of extent 1 behind them stay."""
    shape = list(buffer.shape)
    axis = _lane_axis(buffer)
    step = _VECTOR_BYTES // buffer.dtype.item_bytes
    if axis is not None and isinstance(extent := shape[axis], int):
        shape[axis] = -(-extent // step) * step
    return tuple(shape)


def _lane_axis(buffer: Buffer) -> int | None:
    """The last axis with more than one element, else the last of all."""
    long = [axis for axis, extent in enumerate(buffer.shape) if extent != 1]
    return long[-1] if long else len(buffer.shape) - 1 if buffer.shape else None


def needed_mask(buffer: Buffer, indices: tuple[IntExpr | Ramp, ...], mask: Value | None) -> Value | None:
    """The mask that an access has to keep: None where all lanes count, or may be accessed though they do not."""
    count = None if mask is None else leading_lanes(mask)
    if mask is None or count is None:
        return mask
    if count >= mask.lanes:
        return None
    axis = _lane_axis(buffer)
    last = None if axis is None else indices[axis]
    if axis is None or not isinstance(last, Ramp) or not has_room(buffer, indices):
        return mask
    extent = buffer.shape[axis]
    return None if isinstance(last.base, int) and isinstance(extent, int) and last.base + count >= extent else mask


def has_room(buffer: Buffer, indices: tuple[IntExpr | Ramp, ...]) -> bool:
    """Whether all lanes of an access are in registers, those beyond the extents too."""
    axis = _lane_axis(buffer)
    last = None if axis is None else indices[axis]
    if axis is None or buffer.scope is not Scope.REGISTER or not isinstance(last, Ramp) or last.stride != 1:
        return False
    room = padded_shape(buffer)[axis]
    return isinstance(last.base, int) and isinstance(room, int) and last.base + last.lanes <= room


def leading_lanes(mask: Value) -> int | None:
    """How many lanes a mask lets through, if these are the first ones and it says so by constants."""
    match mask:
        case Compare(CompareOp.LESS, RampValue(int(base), 1), Broadcast(IndexValue(int(limit)))):
            return max(0, min(limit - base, mask.lanes))
        case Compare(CompareOp.LESS, RampValue(int(base), 1), Imm(value=int(limit))):
            return max(0, min(limit - base, mask.lanes))
        case _:
            return None

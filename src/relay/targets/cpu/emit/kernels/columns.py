"""Columns of a tile in registers: a square of vectors is turned by shuffles, so that nothing is gathered.

Of n vectors, step s (n/2, n/4, … 1) exchanges parts of vectors i and i + s: after all steps vector i holds lane i of
each (Eklundh 1972, "A fast computer method for matrix transposing"). One column asks for n - 1 shuffles; all columns
together for n/2·log2(n)·2, since equal instructions are made once.
"""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.targets.cpu.emit.context import Emitter, row_major_strides
from relay.targets.cpu.emit.kernels.tail_mask import padded_shape
from relay.targets.cpu.emit.numbers.typenames import memory_element, sequence, vector_of
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Load, Ramp


@frozen
class Column:
    """Elements `first + stride · i` of a buffer for `lanes` values of i, which lie below each other in vectors."""

    first: int
    stride: int
    lanes: int


def column_of(load: Load) -> Column | None:
    """What a load along an outer axis of a register buffer reads; None for other loads, and where no square of whole
    vectors holds the column."""
    buffer = load.buffer
    if buffer.scope is not Scope.REGISTER:
        return None
    first, stride, lanes = 0, 0, 1
    for index, step in zip(load.indices, row_major_strides(padded_shape(buffer)), strict=True):
        base = index.base if isinstance(index, Ramp) else index
        if not isinstance(base, int) or not isinstance(step, int):
            return None
        first += base * step
        if isinstance(index, Ramp):
            stride, lanes = index.stride * step, index.lanes
    whole = 1 << (lanes - 1).bit_length()
    return Column(first, stride, lanes) if lanes > 1 and stride > 1 and stride % whole == 0 else None


def emit_column(e: Emitter, buffer: Buffer, column: Column) -> str:
    """The vector of a column's elements, in their form in memory."""
    whole = 1 << (column.lanes - 1).bit_length()
    lane = column.first % whole
    square = Column(column.first - lane, column.stride, column.lanes)
    turned = _turned(e, buffer, square, whole, lane, 1)
    if column.lanes == whole:
        return turned
    kind = vector_of(memory_element(buffer.dtype), whole)
    lanes = sequence(range(column.lanes), "i32")
    return e.function.op(f"shufflevector {kind} {turned}, {kind} poison, <{column.lanes} x i32> {lanes}")


def _turned(e: Emitter, buffer: Buffer, square: Column, size: int, row: int, step: int) -> str:
    """Vector `row` of the square of `size` vectors that starts at `square.first`, after the steps down to `step`. For
    those beyond the buffer's the last one stands: LLVM 22 fails an assertion on some shuffles of poison."""
    vector = vector_of(memory_element(buffer.dtype), size)
    place = e.places[buffer]
    if step == size:
        offset = (square.first + min(row, square.lanes - 1) * square.stride) * place.item_bytes
        pointer = e.function.op(f"getelementptr i8, ptr {place.pointer}, i64 {offset}") if offset else place.pointer
        return e.function.load(place.load_key, f"load {vector}, ptr {pointer}, align {place.item_bytes}")
    low = _turned(e, buffer, square, size, row & ~step, 2 * step)
    high = _turned(e, buffer, square, size, row | step, 2 * step)
    order = [_source(lane, row, step, size) for lane in range(size)]
    return e.function.op(f"shufflevector {vector} {low}, {vector} {high}, <{size} x i32> {sequence(order, 'i32')}")


def _source(lane: int, row: int, step: int, lanes: int) -> int:
    """Which lane of two vectors, counted through, comes to `lane` of vector `row`: bit `step` of both is swapped."""
    if lane & step:
        return lanes + (lane if row & step else lane ^ step)
    return lane | step if row & step else lane

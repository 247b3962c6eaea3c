"""How operators that change a part of a tensor are written: as loops over that part, in memory that holds the tensor.

    for j0, j1:  place = indices[j0];  if 0 <= place < extent:  result[place, j1] = part[j0, j1]

Where nobody else has a use for the tensor this is all that runs (`OperatorRecord.update`), so that it costs as much as
the part; elsewhere the tensor is copied before. Of what several elements of the part are written to, the last one has
it: what may go to one place is written in order, by one thread. Where an axis has its own indices for places, and each
element has its own place along another, threads share a large part. Rows that have one place each stay with one thread:
memory bounds them, and to look for the places of all rows in each thread costs more than is gained.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import Any, TypeAlias

from relay import te
from relay.arith.expr import IntExpr, Symbol, add, multiply
from relay.base.frozen import frozen
from relay.ops.framework.record import Compute, Update
from relay.tir.buffer import Buffer
from relay.tir.expr import Index, Load, Value, ValueVar
from relay.tir.stmt import For, If, LetValue, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Statements

WritePart: TypeAlias = Callable[[Any, tuple[Buffer, ...], tuple[Buffer, ...]], Stmt]
"""`write(attributes, inputs, outputs)`: the statement that writes the part into the one output, which holds input 0."""


@frozen(eq=False)
class Place:
    """An index of the tensor that only the run knows: `value`, once the first `depth` indices of the part are known.
    Nothing is written unless it is at least `low` and below `high`."""

    depth: int
    variable: ValueVar
    value: Value
    low: Value
    high: Value


@frozen(eq=False)
class PartLoops:
    """The loops over a part, from the outermost (variable, extent, kind), and the indices of its elements in them."""

    nest: tuple[tuple[Symbol, IntExpr, LoopKind], ...]
    indices: tuple[IntExpr, ...]


LEAST_SHARED = 1 << 13
"""A part of fewer elements is written before another thread has begun."""
LEAST_BLOCK_BYTES = 512
"""What a thread writes of a row at least: less would be in cache lines that others write too."""
MOST_BLOCKS = 8


def part_loops(part: Buffer, free: Collection[int] = ()) -> PartLoops:
    """Loops over a part in order. `free` are the axes whose indices are indices of the tensor too, so that different
    ones never meet: the first axis is shared out, or blocks of the last one."""
    symbols = tuple(Symbol(f"j{axis}") for axis in range(len(part.shape)))
    serial = tuple((symbol, extent, LoopKind.SERIAL) for symbol, extent in zip(symbols, part.shape, strict=True))
    fixed = [extent for extent in part.shape if isinstance(extent, int)]
    last = len(symbols) - 1
    if len(fixed) == len(symbols) and prod(fixed) < LEAST_SHARED:
        return PartLoops(serial, symbols)
    if 0 in free and part.shape[0] != 1:
        return PartLoops(((symbols[0], part.shape[0], LoopKind.PARALLEL), *serial[1:]), symbols)
    blocks = _blocks(part.shape[last], part.dtype.item_bytes) if last in free else 1
    if blocks == 1:
        return PartLoops(serial, symbols)
    block, size = Symbol("block"), fixed[-1] // blocks
    nest = ((block, blocks, LoopKind.PARALLEL), *serial[:-1], (symbols[last], size, LoopKind.SERIAL))
    return PartLoops(nest, (*symbols[:-1], add(multiply(block, size), symbols[last])))


def _blocks(extent: IntExpr, item_bytes: int) -> int:
    """Into how many blocks a row is cut, all alike and as many as can be."""
    blocks = 1
    while isinstance(extent, int) and blocks < MOST_BLOCKS:
        if extent % (2 * blocks) or extent * item_bytes // (2 * blocks) < LEAST_BLOCK_BYTES:
            break
        blocks *= 2
    return blocks


def write_part(
    to: Buffer, part: Buffer, loops: PartLoops, target: Sequence[Index], places: Sequence[Place],
    combined: Callable[[Value, Value], Value] = lambda _, new: new,
) -> Stmt:  # fmt: skip
    """to[target] = combined(to[target], part[indices]), for all indices of the part, in order."""
    at = tuple(target)
    return over_part(loops, places, Store(to, at, te.rounded_once(combined(Load(to, at), Load(part, loops.indices)))))


def over_part(loops: PartLoops, places: Sequence[Place], body: Stmt) -> Stmt:
    """The body for all indices of the part, in order, whose places are inside."""
    around = len(loops.nest) - len(loops.indices)  # loops that are over no index
    for depth in reversed(range(len(loops.nest) + 1)):
        for place in reversed([each for each in places if each.depth + around == depth]):
            is_inside = te.logical_and(te.greater_equal(place.variable, place.low), te.less(place.variable, place.high))
            body = LetValue(place.variable, place.value, If(is_inside, body))
        if depth:
            variable, extent, kind = loops.nest[depth - 1]
            body = For(variable, extent, body, kind)
    return body


def changing(name: str, write: WritePart, part: int) -> tuple[Compute, Update]:
    """The facts `compute` and `update` of an operator that changes a part of its first input, and is given that part as
    input number `part`."""

    def computing(write: WritePart) -> Compute:
        return lambda attributes, inputs, result: te.extern(
            [result.shape], [result.dtype], inputs, lambda given, made: write(attributes, given, made), name
        )[0]

    def copy_and_write(attributes: Any, inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
        return Statements((_copy(inputs[0], outputs[0]), write(attributes, inputs, outputs)))

    return computing(copy_and_write), Update(computing(write), part)


def _copy(data: Buffer, to: Buffer) -> Stmt:
    indices = tuple(Symbol(f"i{axis}") for axis in range(len(data.shape)))
    body: Stmt = Store(to, indices, Load(data, indices))
    for index, extent in reversed(list(zip(indices, data.shape, strict=True))):
        body = For(index, extent, body)
    return body

"""How operators that change a part of a tensor are written: as loops over that part, in memory that holds the tensor.

    for j0, j1:  place = indices[j0];  if 0 <= place < extent:  result[place, j1] = part[j0, j1]

Where nobody else has a use for the tensor this is all that runs (`OperatorRecord.update`), so that it costs as much as
the part; elsewhere the tensor is copied before. The loops run in order, on one thread: of what several elements of the
part are written to, the last one has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from relay import te
from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.ops.framework.record import Compute, Update
from relay.tir.buffer import Buffer
from relay.tir.expr import Index, Load, Value, ValueVar
from relay.tir.stmt import For, If, LetValue, Stmt, Store
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


def write_part(
    to: Buffer, part: Buffer, indices: Sequence[Symbol], target: Sequence[Index], places: Sequence[Place],
    combined: Callable[[Value, Value], Value] = lambda _, new: new,
) -> Stmt:  # fmt: skip
    """to[target] = combined(to[target], part[indices]), for all indices of the part, in order."""
    at = tuple(target)
    return over_part(
        part, indices, places, Store(to, at, te.rounded_once(combined(Load(to, at), Load(part, tuple(indices)))))
    )


def over_part(part: Buffer, indices: Sequence[Symbol], places: Sequence[Place], body: Stmt) -> Stmt:
    """The body for all indices of the part, in order, whose places are inside."""
    for depth in reversed(range(len(indices) + 1)):
        for place in reversed([each for each in places if each.depth == depth]):
            is_inside = te.logical_and(te.greater_equal(place.variable, place.low), te.less(place.variable, place.high))
            body = LetValue(place.variable, place.value, If(is_inside, body))
        if depth:
            body = For(indices[depth - 1], part.shape[depth - 1], body)
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

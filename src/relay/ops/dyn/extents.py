"""Shapes that are tensors: their ranks, their entries, the extents that a run finds, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from relay import te
from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.tir.expr import Value

LONG = DType.INT64
OWN_SHAPE = OwnLayout("its result has a shape of its own")
NEGATIVE = ("an extent of a shape must not be negative",)


def shape_rank(run: RelationRun, position: int) -> int:
    """How many extents the tensor of a shape has."""
    (extent,) = run.tensor(position, 1).shape
    run.dtype_in(position, *INTEGERS)
    if not isinstance(extent, int):
        run.conflict("unknown-rank", f"`{run.names[position]}` must have a known number of entries",
                     "a tensor with one axis of known extent", str(run.tensor(position)), (position,))  # fmt: skip
    return extent


def entries(tensor: te.Tensor) -> list[Value]:
    (extent,) = tensor.shape
    assert isinstance(extent, int)
    return [te.cast(tensor[(position,)], LONG) for position in range(extent)]


def chosen(index: IntExpr, values: Sequence[Value]) -> Value:
    """The value at a place in a list."""
    last: Value = values[-1]
    for position in reversed(range(len(values) - 1)):
        last = te.select(te.equal(index, position), values[position], last)
    return last


def vector(values: Sequence[Value], name: str) -> te.Tensor:
    return te.compute((len(values),), lambda i: chosen(i, values), name=name)


def told(failures: Sequence[Value], values: Sequence[Value], name: str) -> te.Tensor:
    """The extents, or in their place the first of `failures` that happened."""
    first = values[0]
    for reason, happened in reversed(list(enumerate(failures))):
        first = te.select(happened, te.const(-1 - reason, LONG), first)
    return vector([first, *values[1:]], name)


def refuse(failures: Sequence[str], number: int, found: object) -> NoReturn:
    raise RelayError(rule="wrong-value", message=failures[number], found=str(found))


def known_shape(shape: Array) -> tuple[int, ...]:
    extents = tuple(int(extent) for extent in shape)
    return refuse(NEGATIVE, 0, extents) if min(extents, default=0) < 0 else extents


def shape_extents(shape: te.Tensor, name: str) -> te.Tensor:
    extents = entries(shape)
    return told([te.any_of(te.less(extent, 0) for extent in extents)], extents, name)

"""The distinct elements of a vector: unique.   data[n] → [k], with where they are and how often

Elements are equal as numbers are, and NaN to NaN. Of equal ones the first stands for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, TupleWrapper, call
from relay.ops.framework.elementwise import NUMBERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import PIECEWISE_CONSTANT, FromValues, FusionKind, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, wide
from relay.ops.framework.symbolic_integer import machine_numbers
from relay.ops.sorting.sort_loops import FirstInOrder
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import Cast, IndexValue, Load, Value, imm
from relay.tir.stmt import Allocate, For, If, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex


@frozen
class UniqueAttributes(Attributes):
    """`sorted`: in ascending order, NaN last; else in the order in which they first appear."""

    sorted: bool = True
    return_counts: bool = False


def _rule(run: RelationRun, attributes: UniqueAttributes) -> Type:
    """data[n] → (unique[k], indices[k], inverse_indices[n], num_unique[1], counts[k])"""
    data = run.tensor(0, 1)
    run.dtype_in(0, *NUMBERS)
    per_unique = TensorType((ANY,), DType.INT32)
    fields = [TensorType((ANY,), data.dtype), per_unique, TensorType(data.shape, DType.INT32)]
    fields.append(TensorType((1,), DType.INT32))
    return TupleType((*fields, per_unique) if attributes.return_counts else tuple(fields))


def _meaning(attributes: UniqueAttributes, data: Array) -> tuple[Array, ...]:
    _, first, inverse, counts = np.unique(
        machine_numbers(wide(data)), return_index=True, return_inverse=True, return_counts=True
    )
    if not attributes.sorted:
        order = np.argsort(first, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first, inverse, counts = first[order], place[inverse.reshape(-1)], counts[order]
    parts = (first, inverse.reshape(-1), np.asarray([len(first)]), counts)
    indices, inverse, count, counts = (part.astype(np.int32) for part in parts)
    found = (data[first], indices, inverse, count)
    return (*found, counts) if attributes.return_counts else found


def _before(left: Value, right: Value) -> Value:
    less = te.less(left, right)
    if left.dtype.is_float:
        less = te.logical_or(less, te.logical_and(te.logical_not(te.is_nan(left)), te.is_nan(right)))
    return less


def _order(data: te.Tensor) -> te.Tensor:
    """The places of the elements in order: int64[n]."""
    return FirstInOrder(0, True, data.shape[0], (DType.INT64,)).of(data, "unique_order")[0]


def _element(data: te.Tensor | Buffer, order: te.Tensor | Buffer, place: Any) -> Value:
    """The element at a place in order."""
    return Load(data, (ValueIndex(Load(order, (place,))),))


def _count(attributes: UniqueAttributes, inputs: tuple[te.Tensor], _: Type) -> te.Tensor:
    """How many elements, in order, come after the one in front of them; once for each result of that extent."""
    (data,) = inputs
    order = _order(data)
    j = te.reduce_axis(data.shape[0], "j")
    is_new = _before(_element(data, order, j - 1), _element(data, order, j))
    starts = te.select(te.equal(j, 0), te.const(True, DType.BOOL), is_new)
    total = te.compute((), lambda: te.sum(te.cast(starts, DType.INT64), axis=j), name="unique_count")
    results = 3 if attributes.return_counts else 2
    return te.compute((results,), lambda _: total[()], name="unique_extents")


def _compute(attributes: UniqueAttributes, inputs: tuple[te.Tensor], result: TupleType) -> tuple[te.Tensor, ...]:
    (data,) = inputs
    order = _order(data)
    types = [field for field in result.fields if isinstance(field, TensorType)]
    emit = _in_order if attributes.sorted else _as_they_appear
    return te.extern(
        [type_.shape for type_ in types], [type_.dtype for type_ in types], [data, order], emit, name="unique"
    )


class _Results:
    """The results of `unique` while they are written. `rank` is how many there are so far."""

    def __init__(self, data: Buffer, outputs: tuple[Buffer, ...]) -> None:
        self.data = data
        self.values, self.indices, self.inverse, self.number = outputs[:4]
        self.counts = outputs[4] if len(outputs) > 4 else None
        self.state = Buffer("state", (1,), DType.INT64, Scope.LOCAL)
        self.rank = Load(self.state, (0,))

    def add(self, place: Value) -> Stmt:
        """The element at a place of the data is a new one."""
        at = ValueIndex(self.rank)
        stores: list[Stmt] = [
            Store(self.values, (at,), Load(self.data, (ValueIndex(place),))),
            Store(self.indices, (at,), Cast(place, DType.INT32)),
        ]
        if self.counts is not None:
            stores.append(Store(self.counts, (at,), imm(0, DType.INT32)))
        room = te.less(self.rank, te.index_value(self.values.shape[0], DType.INT64))
        return Sequence((If(room, Sequence(tuple(stores))), Store(self.state, (0,), self.rank + 1)))

    def note(self, place: Value, rank: Value) -> Stmt:
        """The element at a place of the data is that of this rank."""
        stores: list[Stmt] = [Store(self.inverse, (ValueIndex(place),), Cast(rank, DType.INT32))]
        if self.counts is not None:
            at = ValueIndex(rank)
            room = te.less(rank, te.index_value(self.values.shape[0], DType.INT64))
            stores.append(If(room, Store(self.counts, (at,), Load(self.counts, (at,)) + 1)))
        return Sequence(tuple(stores))

    def written_by(self, *statements: Stmt) -> Stmt:
        number = Store(self.number, (0,), Cast(self.rank, DType.INT32))
        return Allocate(self.state, Sequence((Store(self.state, (0,), imm(0, DType.INT64)), *statements, number)))


def _in_order(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
    data, order = inputs
    results, k = _Results(data, outputs), Symbol("k")
    place = Load(order, (k,))
    is_new = _is_new(data, order, k)
    each = Sequence((If(is_new, results.add(place)), results.note(place, results.rank - 1)))
    return results.written_by(For(k, data.shape[0], each))


def _as_they_appear(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
    """First the place of the first element that is equal to each, in order; then the elements as they stand."""
    data, order = inputs
    results, k, i = _Results(data, outputs), Symbol("k"), Symbol("i")
    first = Buffer("first", data.shape, DType.INT64)
    latest = Buffer("latest", (1,), DType.INT64, Scope.LOCAL)
    place = Load(order, (k,))
    remember = Store(first, (ValueIndex(place),), Load(latest, (0,)))
    find = For(k, data.shape[0], Sequence((If(_is_new(data, order, k), Store(latest, (0,), place)), remember)))
    here, original = IndexValue(i, DType.INT64), Load(first, (i,))
    known = Cast(Load(results.inverse, (ValueIndex(original),)), DType.INT64)
    choice = If(
        te.equal(here, original),
        Sequence((results.add(here), results.note(here, results.rank - 1))),
        results.note(here, known),
    )
    return Allocate(first, Allocate(latest, results.written_by(find, For(i, data.shape[0], choice))))


def _is_new(data: Buffer, order: Buffer, k: Symbol) -> Value:
    """That the element at a place in order is not equal to the one in front of it."""
    before = _before(_element(data, order, k - 1), _element(data, order, k))
    return te.select(te.equal(k, 0), te.const(True, DType.BOOL), before)


UNIQUE = define(
    "unique",
    "The distinct elements of a vector: their values, where each stands first, which of them each element is, how many "
    "there are, and how often each stands there.",
    inputs={"data": "[n], a number type"},
    attributes=UniqueAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its result has one axis of its own"),
    gradient=PIECEWISE_CONSTANT,
    extents=FromValues(_count),
    effect=Effect.PURE,
    batch=DEPENDS_ON_VALUES,
    support_level=6,
)

DISTINCT: tuple[OperatorRecord, ...] = (UNIQUE,)


def unique(data: Argument, is_sorted: bool = True, return_counts: bool = False) -> TupleWrapper:
    """The distinct elements of data[n]: (unique[k], indices[k], inverse_indices[n], num_unique[1]), and counts[k] when
    these are asked for. `is_sorted`: in ascending order, NaN last; else in the order in which they first appear. NaN is
    equal to NaN.

    Raises `RelayError`: `wrong-rank`, `wrong-dtype`.
    """
    found = call(UNIQUE, (data,), UniqueAttributes(is_sorted, return_counts))
    return TupleWrapper(found, 5 if return_counts else 4)

"""Where a tensor is not zero: argwhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import PIECEWISE_CONSTANT, FromValues, FusionKind, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.tir.buffer import Buffer, Scope
from relay.tir.expr import IndexValue, Load, Value, imm
from relay.tir.stmt import Allocate, For, If, Sequence, Stmt, Store
from relay.tir.traversal import ValueIndex


def _rule(run: RelationRun, _: Attributes) -> Type:
    """data[..] → [how many are not zero, rank]"""
    rank = len(run.tensor(0).shape)
    if rank == 0:
        run.conflict("wrong-rank", "`data` must have at least 1 axis", "[..]", str(run.tensor(0)), (0,))
    return TensorType((ANY, rank), DType.INT32)


def _is_set(value: Value) -> Value:
    return value if value.dtype.is_bool else te.not_equal(value, te.const(0, value.dtype))


def _count(_: Attributes, inputs: tuple[te.Tensor], __: Type) -> te.Tensor:
    (data,) = inputs
    axes = [te.reduce_axis(extent, f"j{axis}") for axis, extent in enumerate(data.shape)]

    def total(_: IntExpr) -> Any:
        return te.sum(te.cast(_is_set(data[tuple(axes)]), DType.INT64), axis=axes)

    return te.compute((1,), total, name="argwhere_extents")


def _compute(_: Attributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    return te.extern([result.shape], [DType.INT32], inputs, _places, name="argwhere")[0]


def _places(inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
    """One pass over the data, in order, that writes down where it finds something."""
    (data,), (found,) = inputs, outputs
    place = Buffer("place", (1,), DType.INT64, Scope.LOCAL)
    indices = tuple(Symbol(f"i{axis}") for axis in range(len(data.shape)))
    next_place = Load(place, (0,))
    stores: list[Stmt] = [
        Store(found, (ValueIndex(next_place), axis), IndexValue(index, DType.INT32))
        for axis, index in enumerate(indices)
    ]
    stores.append(Store(place, (0,), next_place + 1))
    room = te.less(next_place, te.index_value(found.shape[0], DType.INT64))
    body: Stmt = If(te.logical_and(_is_set(Load(data, indices)), room), Sequence(tuple(stores)))
    for index, extent in reversed(list(zip(indices, data.shape, strict=True))):
        body = For(index, extent, body)
    return Allocate(place, Sequence((Store(place, (0,), imm(0, DType.INT64)), body)))


ARGWHERE = define(
    "argwhere",
    "The places of the elements that are not zero, in row-major order.",
    inputs={"condition": "[..]"},
    type_rule=_rule,
    meaning=lambda _, condition: np.argwhere(condition != 0).astype(np.int32),
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OwnLayout("its result counts axes in their order"),
    gradient=PIECEWISE_CONSTANT,
    extents=FromValues(_count),
    effect=Effect.PURE,
    batch=DEPENDS_ON_VALUES,
    support_level=10,
)

PLACES: tuple[OperatorRecord, ...] = (ARGWHERE,)


def argwhere(condition: Argument) -> Call:
    """The places where `condition` is not zero, in row-major order: condition[..] → [count, rank], int32.

    Raises `RelayError`: `wrong-rank` (a scalar has no places).

    >>> from relay.ops.framework.build import var
    >>> print(argwhere(var("x", shape=(4, 6))).checked_type)
    Tensor[(argwhere_0, 2), int32]
    """
    return call(ARGWHERE, (condition,))

"""One side of a diagonal: trilu."""

from __future__ import annotations

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.dyn.extents import LONG
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.places import wide_index
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.expr import Value


@frozen
class TriluAttributes(Attributes):
    """`upper`: what is on the diagonal and above it stays; else what is on it and below."""

    upper: bool = True


def _rule(run: RelationRun, _: TriluAttributes) -> Type:
    """data[.., m, n] × k → data"""
    data = run.tensor(0)
    if len(data.shape) < 2:
        run.conflict("wrong-rank", "`data` must have at least 2 axes", "[.., m, n]", str(data), (0,))
    run.tensor(1, 0)
    run.dtype_in(1, *INTEGERS)
    return data


def _meaning(attributes: TriluAttributes, data: Array, k: Array) -> Array:
    rows, columns = data.shape[-2:]
    distance = np.arange(columns) - np.arange(rows)[:, None]
    stays = distance >= int(k) if attributes.upper else distance <= int(k)
    return np.where(stays, data, np.zeros_like(data))


def _compute(attributes: TriluAttributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType) -> te.Tensor:
    data, k = inputs

    def element(*i: IntExpr) -> Value:
        distance = te.index_value(i[-1] - i[-2], LONG)
        compared = te.greater_equal if attributes.upper else te.less_equal
        return te.select(compared(distance, wide_index(k, ())), data[i], te.const(0, data.dtype))

    return te.compute(result.shape, element, name="trilu")


TRILU = define(
    "trilu",
    "The elements on one side of a diagonal, and 0 on the other.",
    inputs={"data": "[.., m, n]", "k": "an integer: how far the diagonal is above the main one"},
    attributes=TriluAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("its diagonal runs along the last two axes"),
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_trilu"),
    batch=NO_BATCH_RULE_YET,
    scale=NO_SCALE_YET,
    support_level=3,
)

TRIANGLES: tuple[OperatorRecord, ...] = (TRILU,)


def trilu(data: Argument, k: Argument, upper: bool = True) -> Call:
    """data[.., m, n] with 0 below the k-th diagonal of each matrix, counted from the main one upwards; with
    `upper=False`, above it.

    Raises `RelayError`: `wrong-rank`, `wrong-dtype`.
    """
    return call(TRILU, (data, k), TriluAttributes(upper))

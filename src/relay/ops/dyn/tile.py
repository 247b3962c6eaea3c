"""The tensor repeated as often as the run knows: dyn.tile."""

from __future__ import annotations

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import LONG, OWN_SHAPE, entries, refuse, shape_rank, told
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call
from relay.ops.framework.record import FromValues, FusionKind, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value

_FAILURES = ("`reps` must not be negative",)


def _rule(run: RelationRun, _: Attributes) -> Type:
    """data[.., e, ..] × reps[k] → [.., e · reps, ..], with new axes in front where there are more"""
    data, count = run.tensor(0), shape_rank(run, 1)
    return TensorType((ANY,) * max(count, len(data.shape)), data.dtype)


def _meaning(_: Attributes, data: Array, reps: Array) -> Array:
    times = [int(each) for each in reps]
    return refuse(_FAILURES, 0, times) if min(times, default=0) < 0 else np.tile(data, times)


def _extents(_: Attributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    data, times = inputs[0], entries(inputs[1])
    rank = max(len(data.shape), len(times))
    shape = [te.index_value(extent, LONG) for extent in ((1,) * (rank - len(data.shape)) + data.shape)]
    factors = [te.const(1, LONG)] * (rank - len(times)) + times
    extents = [extent * factor for extent, factor in zip(shape, factors, strict=True)]
    return told([te.any_of(te.less(each, 0) for each in times)], extents, "tile_extents")


def _compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data = inputs[0]
    added = len(result.shape) - len(data.shape)

    def element(*i: IntExpr) -> Value:
        return data[tuple(
            0 if extent == 0 else at % extent for at, extent in zip(i[added:], data.shape, strict=True)
        )]  # fmt: skip

    return te.compute(result.shape, element, name="tile")


TILE = define(
    "dyn.tile",
    "The tensor repeated as a whole; how often is computed at run time.",
    inputs={"data": "[..]", "reps": "[k], integers: how often along each axis, the last ones where they are fewer"},
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_extents, _FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("dynamic", "of_tile"),
    batch=DEPENDS_ON_VALUES,
    scale=MOVES_ELEMENTS,
    support_level=3,
)


def tile(data: Argument, reps: Argument) -> Call:
    """`data` repeated `reps` times along each axis, the last ones when there are fewer; new axes in front when more.
    Raises `unknown-rank`, `wrong-dtype`."""
    return call(TILE, (data, reps), NoAttributes())

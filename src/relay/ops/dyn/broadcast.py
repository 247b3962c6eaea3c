"""The data repeated to a shape that the run knows: dyn.broadcast_to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, minimum
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, Dimension, TensorType, Type
from relay.ops.dyn.extents import (
    LONG,
    NEGATIVE,
    OWN_SHAPE,
    entries,
    known_shape,
    refuse,
    shape_rank,
    told,
)
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call
from relay.ops.framework.record import FromValues, FusionKind, define, same_gradient
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value

_BROADCAST_FAILURES = (*NEGATIVE, "the data do not broadcast to the shape: only extents of 1 are repeated")


def _broadcast_rule(run: RelationRun, _: Attributes) -> Type:
    """data[..] × shape[rank] → [shape], of which the extents of the data are known that are not repeated"""
    data, rank = run.tensor(0), shape_rank(run, 1)
    if len(data.shape) > rank:
        run.conflict("wrong-rank", "`data` has more axes than the shape it is broadcast to", f"at most {rank} axes",
                     str(data), (0,))  # fmt: skip
    return TensorType(_extents(data.shape, rank), data.dtype)


def _extents(data: Sequence[Dimension], rank: int) -> tuple[Dimension, ...]:
    """What the data tell of the result. One extent stays open in any case: there the run tells if the shape fits."""
    own = tuple(extent if isinstance(extent, int) and extent != 1 else ANY for extent in data)
    found = (ANY,) * (rank - len(own)) + own
    return found if ANY in found else (*(ANY for _ in found[:1]), *found[1:])


def _broadcast_meaning(_: Attributes, data: Array, shape: Array) -> Array:
    wanted = known_shape(shape)
    fits = all(extent in (1, want) for extent, want in zip(reversed(data.shape), reversed(wanted), strict=False))
    return np.broadcast_to(data, wanted).copy() if fits else refuse(_BROADCAST_FAILURES, 1, f"{data.shape}, {wanted}")


def _broadcast_extents(_: Attributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    data, wanted = inputs[0], entries(inputs[1])
    pairs = zip(reversed(data.shape), reversed(wanted), strict=False)
    misfits = [
        te.logical_and(te.not_equal(extent, 1), te.not_equal(te.index_value(extent, LONG), want))
        for extent, want in pairs
    ]
    negative = te.any_of(te.less(extent, 0) for extent in wanted)
    open_ = _extents(data.shape, len(wanted))
    values = [each for each, extent in zip(wanted, open_, strict=True) if extent is ANY]
    return told([negative, te.any_of(misfits)], values, "broadcast_to_extents")


def _broadcast_compute(_: Attributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data = inputs[0]
    added = len(result.shape) - len(data.shape)

    def place(extent: IntExpr, index: IntExpr) -> IntExpr:
        if isinstance(extent, int):
            return 0 if extent == 1 else index
        return minimum(index, extent - 1)  # the index itself, but for an extent of 1

    def element(*i: IntExpr) -> Value:
        return data[tuple(place(extent, index) for extent, index in zip(data.shape, i[added:], strict=True))]

    return te.compute(result.shape, element, name="broadcast_to")


BROADCAST_TO = define(
    "dyn.broadcast_to",
    "The tensor repeated to a shape that is computed at run time.",
    inputs={"data": "[..]", "shape": "[rank], integers"},
    type_rule=_broadcast_rule,
    meaning=_broadcast_meaning,
    compute=_broadcast_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_broadcast_extents, _BROADCAST_FAILURES),
    effect=Effect.PURE,
    gradient=same_gradient,
    batch=DEPENDS_ON_VALUES,
    scale=MOVES_ELEMENTS,
    support_level=4,
)


def broadcast_to(data: Argument, shape: Argument) -> Call:
    """`data` repeated to `shape`, aligned at the last axis. Raises `unknown-rank`, `wrong-rank`, `wrong-dtype`."""
    return call(BROADCAST_TO, (data, shape), NoAttributes())

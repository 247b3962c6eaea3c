"""Repeated tensors: tile, repeat, broadcast_to, broadcast_to_like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.arith.prove import Proof
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET, BatchRule, Repeats
from relay.ops.framework.build import Argument, Shape, call, dimensions, is_dynamic, static_shape
from relay.ops.framework.dimensions import decide_equal, derived
from relay.ops.framework.elementwise import broadcast_indices
from relay.ops.framework.layout_rule import AxisAttribute, OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, StaticOf, define, gradient_above, same_gradient
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.symbolic_integer import expr_of


@frozen
class TileAttributes(Attributes):
    reps: tuple[IntExpr, ...]


@frozen
class RepeatAttributes(Attributes):
    repeats: int
    axis: int | None = None


@frozen
class BroadcastToAttributes(Attributes):
    shape: tuple[IntExpr, ...]


def _full_reps(reps: Sequence[IntExpr], rank: int) -> tuple[tuple[IntExpr, ...], int]:
    """`(a factor for each axis of the result, how many axes the data lacks in front)`."""
    padded = (1,) * (rank - len(reps)) + tuple(reps)
    return padded, len(padded) - rank


def _tile_rule(run: RelationRun, attributes: TileAttributes) -> Type:
    """data[.., e, ..] → [.., e · reps, ..]"""
    data = run.tensor(0)
    if any(isinstance(rep, int) and rep < 0 for rep in attributes.reps):
        run.conflict("wrong-attribute", "`reps` must not be negative", "0 or more", str(attributes.reps))
    reps, added = _full_reps(attributes.reps, len(data.shape))
    extents = (*(1,) * added, *data.shape)
    return TensorType(
        tuple(derived(lambda e, r: e * r, extent, rep) for extent, rep in zip(extents, reps, strict=True)), data.dtype
    )


def _tile_compute(attributes: TileAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    reps, added = _full_reps(attributes.reps, len(data.shape))

    def element(*i: IntExpr) -> Any:
        return data[tuple(
            at if rep == 1 else at % extent if extent != 0 else 0
            for at, extent, rep in zip(i[added:], data.shape, reps[added:], strict=True)
        )]  # fmt: skip

    return te.compute(result.shape, element, name="tile")


def _repeat_rule(run: RelationRun, attributes: RepeatAttributes) -> Type:
    """data[.., e, ..] → [.., e · repeats, ..]"""
    data = run.tensor(0)
    axis = run.axis(attributes.axis if attributes.axis is not None else 0, len(data.shape))
    if attributes.axis is None and len(data.shape) != 1:
        run.conflict("wrong-attribute", "`axis` must be given for data of more than one axis", "an axis", "None")
    if attributes.repeats < 0:
        run.conflict("wrong-attribute", "`repeats` must not be negative", "0 or more", str(attributes.repeats))
    extent = derived(lambda e: e * attributes.repeats, data.shape[axis])
    return TensorType((*data.shape[:axis], extent, *data.shape[axis + 1 :]), data.dtype)


def _repeat_compute(attributes: RepeatAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    axis = (attributes.axis or 0) % len(data.shape)
    return te.compute(
        result.shape, lambda *i: data[(*i[:axis], i[axis] // max(attributes.repeats, 1), *i[axis + 1 :])], name="repeat"
    )


def _broadcast_to(run: RelationRun, data: TensorType, shape: tuple[Dimension, ...]) -> Type:
    if len(data.shape) > len(shape):
        run.conflict("wrong-rank", "`data` has more axes than the shape it is broadcast to",
                     f"at most {len(shape)} axes", str(data), (0,))  # fmt: skip
    for axis, (extent, wanted) in enumerate(zip(reversed(data.shape), reversed(shape), strict=False), start=1):
        if extent != 1 and decide_equal(extent, wanted) is not Proof.YES:
            run.repeats(extent, wanted, f"axis {-axis} of `data`", (0,), "only extents of 1 are repeated")
    return TensorType(shape, data.dtype)


def _broadcast_compute(name: str) -> Any:
    def compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
        data = inputs[0]
        return te.compute(result.shape, lambda *i: data[broadcast_indices(data, i, result.shape)], name=name)

    return compute


def _record(
    name: str, description: str, layout: Any = None, level: int = 3, batch: BatchRule = NO_BATCH_RULE_YET, **fields: Any
) -> OperatorRecord:  # fmt: skip
    return define(
        name, description, effect=Effect.PURE, batch=batch,
        layout=layout or OwnLayout("its attributes count axes in their order"), scale=MOVES_ELEMENTS,
        support_level=level, **fields,
    )  # fmt: skip


def _static_tile(_: Attributes, reps: Any) -> TileAttributes | None:
    return None if any(each < 0 for each in reps) else TileAttributes(tuple(map(expr_of, reps)))


TILE = _record(
    "tile", "The tensor repeated as a whole.", inputs={"data": "[..]"}, attributes=TileAttributes,
    type_rule=_tile_rule, meaning=lambda attributes, data: np.tile(data, attributes.reps), compute=_tile_compute,
    fusion=FusionKind.INJECTIVE, static_of=StaticOf(dyn.TILE, _static_tile),
    gradient=gradient_above("manipulation", "of_tile"),
)  # fmt: skip
REPEAT = _record(
    "repeat", "Each element repeated along an axis.", AxisAttribute("axis"), inputs={"data": "[..]"},
    attributes=RepeatAttributes, type_rule=_repeat_rule, compute=_repeat_compute,
    meaning=lambda attributes, data: np.repeat(data, attributes.repeats, attributes.axis),
    fusion=FusionKind.INJECTIVE, gradient=gradient_above("manipulation", "of_repeat"),
)  # fmt: skip


def _static_broadcast(_: Attributes, shape: Any) -> BroadcastToAttributes | None:
    return None if any(extent < 0 for extent in shape) else BroadcastToAttributes(tuple(map(expr_of, shape)))


BROADCAST_TO = _record(
    "broadcast_to", "The tensor repeated to a shape.", inputs={"data": "[..]"}, attributes=BroadcastToAttributes,
    type_rule=lambda run, attributes: _broadcast_to(run, run.tensor(0), attributes.shape),
    meaning=lambda attributes, data: np.broadcast_to(data, attributes.shape).copy(),
    compute=_broadcast_compute("broadcast_to"), fusion=FusionKind.BROADCAST, level=4, gradient=same_gradient,
    batch=Repeats(),
    static_of=StaticOf(dyn.BROADCAST_TO, _static_broadcast),
)  # fmt: skip
BROADCAST_TO_LIKE = _record(
    "broadcast_to_like", "The tensor repeated to the shape of another.",
    inputs={"data": "[..]", "broadcast_type": "[..], whose shape is taken"},
    type_rule=lambda run, _: _broadcast_to(run, run.tensor(0), run.tensor(1).shape),
    meaning=lambda _, data, like: np.broadcast_to(data, like.shape).copy(),
    compute=_broadcast_compute("broadcast_to_like"), fusion=FusionKind.BROADCAST, level=10, gradient=same_gradient,
    batch=Repeats(),
)  # fmt: skip

REPETITIONS: tuple[OperatorRecord, ...] = (TILE, REPEAT, BROADCAST_TO, BROADCAST_TO_LIKE)


def tile(data: Argument, reps: Shape | Expr) -> Call:
    """`data` repeated `reps` times along each axis, the last ones when there are fewer; new axes in front when more.
    An expression that is no constant makes a `dyn.tile`."""
    if is_dynamic(reps):
        return dyn.tile(data, reps)
    return call(TILE, (data,), TileAttributes(dimensions(static_shape(reps))))


def repeat(data: Argument, repeats: int, axis: int | None = None) -> Call:
    """Each element of `data` repeated along `axis`. Raises `wrong-attribute`, `axis-out-of-range`."""
    return call(REPEAT, (data,), RepeatAttributes(repeats, axis))


def broadcast_to(data: Argument, shape: Shape | Expr) -> Call:
    """`data` repeated to `shape`, aligned at the last axis. An expression that is no constant makes a
    `dyn.broadcast_to`. Raises `extents-differ`, `wrong-rank`."""
    if is_dynamic(shape):
        return dyn.broadcast_to(data, shape)
    return call(BROADCAST_TO, (data,), BroadcastToAttributes(dimensions(static_shape(shape))))


def broadcast_to_like(data: Argument, broadcast_type: Argument) -> Call:
    """`data` repeated to the shape of another tensor. Raises `extents-differ`, `wrong-rank`."""
    return call(BROADCAST_TO_LIKE, (data, broadcast_type))

"""Running sums and products along an axis: cumsum, cumprod.   data[.., e, ..] → [.., e, ..]"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call, optional_dtype
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import NUMBERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FusionKind, Gradient, OperatorRecord, define, gradient_above
from relay.ops.framework.reindex import reindexed
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, element_type, to_dtype
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.expr import BinaryOp, Value, binary


@frozen
class ScanAttributes(Attributes):
    """`axis`: None runs over the data flattened. `exclusive`: an element does not count itself."""

    axis: int | None = None
    dtype: DType | None = None
    exclusive: bool = False


def _rule(run: RelationRun, attributes: ScanAttributes) -> Type:
    data = run.tensor(0)
    run.dtype_in(0, *NUMBERS)
    dtype = attributes.dtype or data.dtype
    if attributes.axis is None:
        return TensorType((product(data.shape),), dtype)
    run.axis(attributes.axis, len(data.shape))
    return TensorType(data.shape, dtype)


def _meaning(function: Callable[..., Array], identity: int, attributes: ScanAttributes, data: Array) -> Array:
    dtype = attributes.dtype or element_type(data)
    axis = 0 if attributes.axis is None else attributes.axis
    x = to_dtype(data.reshape(-1) if attributes.axis is None else data, dtype.computation)
    with np.errstate(all="ignore"):
        total = function(x, axis=axis, dtype=x.dtype)
    if attributes.exclusive and total.shape[axis]:
        total = np.roll(total, 1, axis)
        np.moveaxis(total, axis, 0)[0] = identity
    return to_dtype(total, dtype)


def _compute(
    op: BinaryOp, identity: int, name: str, attributes: ScanAttributes, inputs: tuple[te.Tensor], result: TensorType
) -> te.Tensor:
    """A recurrence over the axis, `<name>_scan`, and the stage `<name>` that puts the axis in its place."""
    (data,) = inputs
    shape = result.shape
    axis = 0 if attributes.axis is None else attributes.axis % len(shape)
    dtype = result.dtype.computation
    state_shape = (shape[axis], *shape[:axis], *shape[axis + 1 :])

    def read(time: IntExpr, *rest: IntExpr) -> Value:
        place = (*rest[:axis], time, *rest[axis:])
        return te.cast(data[reindexed(data.shape, shape, place) if attributes.axis is None else place], dtype)

    state = te.placeholder(state_shape, dtype, f"{name}_state")

    def update(time: IntExpr, *rest: IntExpr) -> Value:
        before = state[(time - 1, *rest)]
        if attributes.exclusive:
            first, later = te.const(identity, dtype), binary(op, before, read(time - 1, *rest))
        else:
            first, later = read(time, *rest), binary(op, before, read(time, *rest))
        return te.select(te.equal(time, 0), first, later)

    # No rows come first: an axis may be empty.
    start = te.compute((0, *state_shape[1:]), lambda *_: te.const(identity, dtype), name=f"{name}_start")
    total = te.scan(start, te.compute(state_shape, update, name=f"{name}_update"), state, name=f"{name}_scan")
    return te.compute(
        shape, lambda *i: te.cast(total[(i[axis], *i[:axis], *i[axis + 1 :])], result.dtype), name=name
    )  # fmt: skip


def _record(
    name: str, description: str, function: Callable[..., Array], op: BinaryOp, identity: int, gradient: Gradient
) -> OperatorRecord:
    return define(
        name,
        description,
        inputs={"data": "[.., e, ..], a number type"},
        attributes=ScanAttributes,
        type_rule=_rule,
        meaning=partial(_meaning, function, identity),
        compute=partial(_compute, op, identity, name),
        fusion=FusionKind.OPAQUE,
        layout=OwnLayout("its axis is where the recurrence runs"),
        floating_point=FloatingPointClass.ROUNDING,
        effect=Effect.PURE,
        gradient=gradient,
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=3,
    )


CUMSUM = _record(
    "cumsum",
    "The sum of all elements up to each one.",
    np.cumsum,
    BinaryOp.ADD,
    0,
    gradient_above("reduction", "of_cumsum"),
)
CUMPROD = _record(
    "cumprod",
    "The product of all elements up to each one.",
    np.cumprod,
    BinaryOp.MULTIPLY,
    1,
    gradient_above("reduction", "of_cumprod"),
)

SCANS: tuple[OperatorRecord, ...] = (CUMSUM, CUMPROD)


def cumsum(data: Argument, axis: int | None = None, dtype: str | DType | None = None, exclusive: bool = False) -> Call:
    """The sum of the elements of `data` up to each one along `axis` (None: flattened), in `dtype`.

    Raises `RelayError`: `axis-out-of-range`, `wrong-dtype`.
    """
    return call(CUMSUM, (data,), ScanAttributes(axis, optional_dtype(dtype), exclusive))


def cumprod(data: Argument, axis: int | None = None, dtype: str | DType | None = None, exclusive: bool = False) -> Call:
    """The product of the elements of `data` up to each one along `axis`; otherwise as `cumsum`."""
    return call(CUMPROD, (data,), ScanAttributes(axis, optional_dtype(dtype), exclusive))

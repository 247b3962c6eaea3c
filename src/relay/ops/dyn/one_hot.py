"""A new axis that is on at an index, as long as the run knows: dyn.one_hot."""

from __future__ import annotations

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import LONG, OWN_SHAPE, refuse, told
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, as_expr, call, known_dtype
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.places import wide_index
from relay.ops.framework.record import PIECEWISE_CONSTANT, FromValues, FusionKind, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype
from relay.tir.expr import Value


@frozen
class DynOneHotAttributes(Attributes):
    dtype: DType
    axis: int = -1


_FAILURES = ("`depth` must not be negative",)


def _rule(run: RelationRun, attributes: DynOneHotAttributes) -> Type:
    """indices[..] × on_value × off_value × depth → [.., depth, ..]"""
    indices = run.tensor(0)
    run.dtype_in(0, *INTEGERS)
    for position in (1, 2):
        run.tensor_like(position, (), attributes.dtype, "it is one number of the type `dtype`")
    run.tensor(3, 0)
    run.dtype_in(3, *INTEGERS)
    axis = run.axis(attributes.axis, len(indices.shape) + 1)
    return TensorType((*indices.shape[:axis], ANY, *indices.shape[axis:]), attributes.dtype)


def _meaning(
    attributes: DynOneHotAttributes, indices: Array, on_value: Array, off_value: Array, depth: Array
) -> Array:  # fmt: skip
    if depth < 0:
        refuse(_FAILURES, 0, int(depth))
    hot = indices.astype(np.int64)[..., None] == np.arange(int(depth))
    axis = attributes.axis % (indices.ndim + 1)
    return to_dtype(np.moveaxis(np.where(hot, on_value, off_value), -1, axis), attributes.dtype)


def _extents(_: DynOneHotAttributes, inputs: tuple[te.Tensor, ...], __: Type) -> te.Tensor:
    depth = te.cast(inputs[3][()], LONG)
    return told([te.less(depth, 0)], [depth], "one_hot_extents")


def _compute(attributes: DynOneHotAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    indices, on_value, off_value, _ = inputs
    axis = attributes.axis % len(result.shape)

    def element(*i: IntExpr) -> Value:
        hot = te.equal(wide_index(indices, (*i[:axis], *i[axis + 1 :])), te.index_value(i[axis], LONG))
        return te.select(hot, on_value[()], off_value[()])

    return te.compute(result.shape, element, name="one_hot")


ONE_HOT = define(
    "dyn.one_hot",
    "A new axis that is on at the place that an index names, and off elsewhere; its length is computed at run time.",
    inputs={
        "indices": "[..], integers", "on_value": "a number", "off_value": "a number",
        "depth": "an integer: how long the new axis is",
    },
    attributes=DynOneHotAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_extents, _FAILURES),
    effect=Effect.PURE,
    gradient=PIECEWISE_CONSTANT,
    batch=DEPENDS_ON_VALUES,
    support_level=10,
)  # fmt: skip


def one_hot(
    indices: Argument, on_value: Argument, off_value: Argument, depth: Argument, axis: int, dtype: str | DType
) -> Call:
    """indices[..] → [.., depth, ..]: `on_value` where the new axis `axis` is at the index, `off_value` elsewhere.

    Raises `RelayError`: `wrong-dtype`, `axis-out-of-range`, `wrong-shape`.
    """
    number = dtype_of(dtype)
    values = tuple(value if known_dtype(value) else as_expr(value, number) for value in (on_value, off_value))
    return call(ONE_HOT, (indices, *values, depth), DynOneHotAttributes(number, axis))

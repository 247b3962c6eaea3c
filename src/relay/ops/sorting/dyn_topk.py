"""The first elements in order, as many as the run knows: dyn.topk."""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.ops.dyn.extents import LONG, OWN_SHAPE, refuse, told
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, TupleWrapper, call
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.record import FromValues, FusionKind, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.sorting.order import order_of
from relay.ops.sorting.sort_loops import FirstInOrder


@frozen
class DynTopKAttributes(Attributes):
    """`ret_type`: `both`, `values` or `indices`. `dtype`: of the indices."""

    axis: int = -1
    ret_type: str = "both"
    is_ascend: bool = False
    dtype: DType = DType.INT32


_FAILURES = ("`k` must not be above the number of elements along the axis",)


def _rule(run: RelationRun, attributes: DynTopKAttributes) -> Type:
    """data[.., e, ..] × k → (values[.., k, ..], indices[.., k, ..])"""
    data = run.tensor(0)
    axis = run.axis(attributes.axis, len(data.shape))
    run.tensor(1, 0)
    run.dtype_in(1, *INTEGERS)
    if attributes.ret_type not in ("both", "values", "indices"):
        run.conflict("wrong-attribute", "`ret_type` is not known", "`both`, `values` or `indices`", attributes.ret_type)
    shape = (*data.shape[:axis], ANY, *data.shape[axis + 1 :])
    values, indices = TensorType(shape, data.dtype), TensorType(shape, attributes.dtype)
    return {"values": values, "indices": indices}.get(attributes.ret_type, TupleType((values, indices)))


def _meaning(attributes: DynTopKAttributes, data: Array, k: Array) -> Any:
    axis = attributes.axis % data.ndim
    count = data.shape[axis] if k < 1 else int(k)
    if count > data.shape[axis]:
        refuse(_FAILURES, 0, count)
    order = order_of(data, axis, attributes.is_ascend)[(slice(None),) * axis + (slice(count),)]
    values, indices = np.take_along_axis(data, order, axis), order.astype(attributes.dtype.numpy)
    return {"values": values, "indices": indices}.get(attributes.ret_type, (values, indices))


def _extents(attributes: DynTopKAttributes, inputs: tuple[te.Tensor, ...], _: Type) -> te.Tensor:
    data, k = inputs[0], te.cast(inputs[1][()], LONG)
    whole = te.index_value(data.shape[attributes.axis % len(data.shape)], LONG)
    count = te.select(te.less(k, 1), whole, k)
    results = 2 if attributes.ret_type == "both" else 1
    return told([te.less(whole, k)], [count] * results, "topk_extents")


def _compute(attributes: DynTopKAttributes, inputs: tuple[te.Tensor, ...], result: Type) -> Any:
    data, axis = inputs[0], attributes.axis % len(inputs[0].shape)
    first = result.fields[0] if isinstance(result, TupleType) else result
    assert isinstance(first, TensorType)
    kinds = {"values": (None,), "indices": (attributes.dtype,)}.get(attributes.ret_type, (None, attributes.dtype))
    found = FirstInOrder(axis, attributes.is_ascend, first.shape[axis], kinds).of(data, "topk")
    return found if attributes.ret_type == "both" else found[0]


TOPK = define(
    "dyn.topk",
    "The first elements in order, and where they are; how many is computed at run time.",
    inputs={"data": "[.., e, ..]", "k": "an integer: how many; below 1 for all"},
    attributes=DynTopKAttributes,
    type_rule=_rule,
    meaning=_meaning,
    compute=_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_extents, _FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("dynamic", "of_topk"),
    batch=DEPENDS_ON_VALUES,
    scale=MOVES_ELEMENTS,
    support_level=6,
)


def topk(
    data: Argument, k: Argument, axis: int = -1, ret_type: str = "both", is_ascend: bool = False,
    dtype: str | DType = "int32",
) -> Call | TupleWrapper:  # fmt: skip
    """The `k` largest elements (smallest, with `is_ascend`) along `axis`, in order; all of them when k is below 1.

    Raises `RelayError`: `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    attributes = DynTopKAttributes(axis, ret_type, is_ascend, dtype_of(dtype))
    found = call(TOPK, (data, k), attributes)
    return TupleWrapper(found, 2) if ret_type == "both" else found

"""Elements in order along an axis: argsort, sort, topk.   data[.., e, ..]

The order is stable: of equal elements the first comes first. NaN comes after all numbers, in both directions. 0 and −0
are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, TupleType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, TupleWrapper, call, is_dynamic, static_extent
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import (
    PIECEWISE_CONSTANT,
    FusionKind,
    Gradient,
    OperatorRecord,
    StaticOf,
    define,
    gradient_above,
    scale_role_of,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.symbolic_integer import expr_of
from relay.ops.sorting.dyn_topk import TOPK as DYN_TOPK
from relay.ops.sorting.dyn_topk import DynTopKAttributes
from relay.ops.sorting.dyn_topk import topk as dyn_topk
from relay.ops.sorting.order import order_of
from relay.ops.sorting.sort_loops import FirstInOrder


@frozen
class ArgsortAttributes(Attributes):
    axis: int = -1
    is_ascend: bool = True
    dtype: DType = DType.INT32


@frozen
class SortAttributes(Attributes):
    axis: int = -1
    is_ascend: bool = True


@frozen
class TopKAttributes(Attributes):
    """`k`: how many; below 1 for all. `ret_type`: `both`, `values` or `indices`. `dtype`: of the indices."""

    k: IntExpr = 1
    axis: int = -1
    ret_type: str = "both"
    is_ascend: bool = False
    dtype: DType = DType.INT32


def _argsort_rule(run: RelationRun, attributes: ArgsortAttributes) -> Type:
    data = run.tensor(0)
    run.axis(attributes.axis, len(data.shape))
    return TensorType(data.shape, attributes.dtype)


def _sort_rule(run: RelationRun, attributes: SortAttributes) -> Type:
    data = run.tensor(0)
    run.axis(attributes.axis, len(data.shape))
    return data


def _topk_rule(run: RelationRun, attributes: TopKAttributes) -> Type:
    """data[.., e, ..] → (values[.., k, ..], indices[.., k, ..])"""
    data = run.tensor(0)
    axis = run.axis(attributes.axis, len(data.shape))
    if attributes.ret_type not in ("both", "values", "indices"):
        run.conflict("wrong-attribute", "`ret_type` is not known", "`both`, `values` or `indices`", attributes.ret_type)
    extent = data.shape[axis]
    count = extent if _takes_all(attributes) else attributes.k
    if extent is not ANY and count is not extent:
        run.require(Comparison(count, "<=", extent), "not-enough-elements",
                    f"`k` must not be above the {extent} elements of axis {axis}", (0,))  # fmt: skip
    shape = (*data.shape[:axis], count, *data.shape[axis + 1 :])
    values, indices = TensorType(shape, data.dtype), TensorType(shape, attributes.dtype)
    return {"values": values, "indices": indices}.get(attributes.ret_type, TupleType((values, indices)))


def _takes_all(attributes: TopKAttributes) -> bool:
    return isinstance(attributes.k, int) and attributes.k < 1


def _topk_meaning(attributes: TopKAttributes, data: Array) -> Any:
    axis = attributes.axis % data.ndim
    count = data.shape[axis] if _takes_all(attributes) else int(attributes.k)  # pyright: ignore[reportArgumentType]
    order = np.take(order_of(data, axis, attributes.is_ascend), np.arange(count), axis)
    values, indices = np.take_along_axis(data, order, axis), order.astype(attributes.dtype.numpy)
    return {"values": values, "indices": indices}.get(attributes.ret_type, (values, indices))


def _topk_compute(attributes: TopKAttributes, inputs: tuple[te.Tensor], _: Type) -> Any:
    (data,) = inputs
    axis = attributes.axis % len(data.shape)
    count = data.shape[axis] if _takes_all(attributes) else attributes.k
    kinds = {"values": (None,), "indices": (attributes.dtype,)}.get(attributes.ret_type, (None, attributes.dtype))
    found = FirstInOrder(axis, attributes.is_ascend, count, kinds).of(data, "topk")
    return found if attributes.ret_type == "both" else found[0]


def _argsort_compute(attributes: ArgsortAttributes, inputs: tuple[te.Tensor], _: Type) -> te.Tensor:
    (data,) = inputs
    axis = attributes.axis % len(data.shape)
    return FirstInOrder(axis, attributes.is_ascend, data.shape[axis], (attributes.dtype,)).of(data, "argsort")[0]


def _sort_compute(attributes: SortAttributes, inputs: tuple[te.Tensor], _: Type) -> te.Tensor:
    (data,) = inputs
    axis = attributes.axis % len(data.shape)
    return FirstInOrder(axis, attributes.is_ascend, data.shape[axis], (None,)).of(data, "sort")[0]


def _argsort_meaning(attributes: ArgsortAttributes, data: Array) -> Array:
    return order_of(data, attributes.axis, attributes.is_ascend).astype(attributes.dtype.numpy)


def _sort_meaning(attributes: SortAttributes, data: Array) -> Array:
    return np.take_along_axis(data, order_of(data, attributes.axis, attributes.is_ascend), attributes.axis)


def _record(
    name: str, description: str, attributes: type[Attributes], rule: Any, meaning: Any, compute: Any,
    gradient: Gradient, static_of: StaticOf | None = None,
) -> OperatorRecord:  # fmt: skip
    return define(
        name,
        description,
        inputs={"data": "[.., e, ..]"},
        attributes=attributes,
        type_rule=rule,
        meaning=meaning,
        compute=compute,
        fusion=FusionKind.OPAQUE,
        layout=OwnLayout("its axis is the one that is put in order"),
        gradient=gradient,
        effect=Effect.PURE,
        batch=NO_BATCH_RULE_YET,
        scale=scale_role_of(gradient) or MOVES_ELEMENTS,
        support_level=6,
        static_of=static_of,
    )


ARGSORT = _record(
    "argsort", "Where the elements in order are.", ArgsortAttributes, _argsort_rule, _argsort_meaning, _argsort_compute,
    PIECEWISE_CONSTANT,
)  # fmt: skip
SORT = _record(
    "sort",
    "The elements in order.",
    SortAttributes,
    _sort_rule,
    _sort_meaning,
    _sort_compute,
    gradient_above("indexing", "of_sort"),
)


def _static_topk(attributes: DynTopKAttributes, k: Array) -> TopKAttributes:
    return TopKAttributes(expr_of(k[()]), attributes.axis, attributes.ret_type, attributes.is_ascend, attributes.dtype)


TOPK = _record(
    "topk", "The first elements in order, and where they are.", TopKAttributes, _topk_rule, _topk_meaning,
    _topk_compute, gradient_above("indexing", "of_topk"), StaticOf(DYN_TOPK, _static_topk),
)  # fmt: skip

SORTS: tuple[OperatorRecord, ...] = (ARGSORT, SORT, TOPK, DYN_TOPK)


def argsort(data: Argument, axis: int = -1, is_ascend: bool = True, dtype: str | DType = "int32") -> Call:
    """The indices that put `data` in order along `axis`, as `dtype`; stable, NaN last.

    Raises `RelayError`: `axis-out-of-range`, `wrong-dtype`.
    """
    return call(ARGSORT, (data,), ArgsortAttributes(axis, is_ascend, dtype_of(dtype)))


def sort(data: Argument, axis: int = -1, is_ascend: bool = True) -> Call:
    """`data` in order along `axis`, NaN last. Raises `axis-out-of-range`, `wrong-dtype`."""
    return call(SORT, (data,), SortAttributes(axis, is_ascend))


def topk(
    data: Argument, k: IntExpr | Expr = 1, axis: int = -1, ret_type: str = "both", is_ascend: bool = False,
    dtype: str | DType = "int32",
) -> Call | TupleWrapper:  # fmt: skip
    """The `k` largest elements (smallest, with `is_ascend`) along `axis`, in order; all of them when k is below 1.
    An expression that is no constant makes a `dyn.topk`.

    data[.., e, ..] → (values[.., k, ..], indices[.., k, ..]), or one of both by `ret_type`.

    Raises `RelayError`: `not-enough-elements`, `axis-out-of-range`, `wrong-attribute`, `wrong-dtype`.
    """
    if is_dynamic(k):
        return dyn_topk(data, k, axis, ret_type, is_ascend, dtype)
    attributes = TopKAttributes(static_extent(k), axis, ret_type, is_ascend, dtype_of(dtype))
    found = call(TOPK, (data,), attributes)
    return TupleWrapper(found, 2) if ret_type == "both" else found

"""Elements by computed places: take, gather, gather_nd, one_hot.

Places outside the data are never read: `take` clips or wraps as asked; elsewhere negative places count from the end
and the rest is clipped.
"""

from __future__ import annotations

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET, TakesEntries
from relay.ops.framework.build import Argument, as_expr, call, is_dynamic, known_dtype, static_extent
from relay.ops.framework.dimensions import product
from relay.ops.framework.elementwise import INTEGERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.places import clipped, from_end, from_end_array, no_empty_source, wide_index
from relay.ops.framework.record import PIECEWISE_CONSTANT, FusionKind, OperatorRecord, StaticOf, define, gradient_above
from relay.ops.framework.reindex import reindexed
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.symbolic_integer import expr_of
from relay.tir.expr import Value


@frozen
class TakeAttributes(Attributes):
    """`axis`: None takes from the data flattened. `mode`: places outside are moved to the ends (`clip`, `fast`) or
    counted round (`wrap`)."""

    batch_dims: int = 0
    axis: int | None = None
    mode: str = "clip"


@frozen
class GatherAttributes(Attributes):
    axis: int


@frozen
class GatherNDAttributes(Attributes):
    """`index_rank`: how many places an index has, where its extent is not known."""

    batch_dims: int = 0
    index_rank: int | None = None


@frozen
class OneHotAttributes(Attributes):
    dtype: DType
    depth: IntExpr = 1
    axis: int = -1


def _take_axis(run: RelationRun, attributes: TakeAttributes) -> tuple[int, int]:
    """`(axis, batch_dims)` counted from the front."""
    rank = len(run.tensor(0).shape)
    axis = run.axis(attributes.axis, rank) if attributes.axis is not None else 0
    batch = attributes.batch_dims + (len(run.tensor(1).shape) if attributes.batch_dims < 0 else 0)
    if (batch and attributes.axis is None) or batch > axis or not 0 <= batch <= len(run.tensor(1).shape):
        run.conflict("wrong-attribute", "`batch_dims` must not be above `axis` or the rank of `indices`",
                     f"at most {axis}", str(attributes.batch_dims))  # fmt: skip
    return axis, batch


def _take_rule(run: RelationRun, attributes: TakeAttributes) -> Type:
    """data[.., e, ..] × indices[..] → [.., indices, ..]"""
    data, indices = run.tensor(0), run.tensor(1)
    run.dtype_in(1, *INTEGERS)
    if attributes.mode not in ("clip", "wrap", "fast"):
        run.conflict("wrong-attribute", "`mode` is not known", "`clip`, `wrap` or `fast`", attributes.mode)
    axis, batch = _take_axis(run, attributes)
    if attributes.axis is None:
        no_empty_source(run, product(data.shape), indices.shape)
        return TensorType(indices.shape, data.dtype)
    for position in range(batch):
        run.equal(data.shape[position], indices.shape[position], f"batch axis {position} of `indices`", (0, 1))
    no_empty_source(run, data.shape[axis], indices.shape)
    return TensorType((*data.shape[:axis], *indices.shape[batch:], *data.shape[axis + 1 :]), data.dtype)


def _take_meaning(attributes: TakeAttributes, data: Array, indices: Array) -> Array:
    mode = "wrap" if attributes.mode == "wrap" else "clip"
    places = indices.astype(np.int64)
    if attributes.axis is None:
        return np.empty(places.shape, data.dtype) if places.size == 0 else np.asarray(np.take(data, places, mode=mode))
    axis = attributes.axis % data.ndim
    batch = attributes.batch_dims if attributes.batch_dims >= 0 else places.ndim + attributes.batch_dims
    result = np.empty((*data.shape[:axis], *places.shape[batch:], *data.shape[axis + 1 :]), data.dtype)
    if result.size:
        for at in np.ndindex(data.shape[:batch]):
            result[at] = np.take(data[at], places[at], axis - batch, mode=mode)
    return result


def _take_compute(attributes: TakeAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, indices = inputs
    count = len(indices.shape)

    def place(value: Value, extent: IntExpr) -> Value:
        if attributes.mode == "wrap":
            return te.floor_modulo(value, te.index_value(extent, DType.INT64))
        return clipped(value, extent)

    if attributes.axis is None:
        size = product(data.shape)

        def flat_element(*i: IntExpr) -> Value:
            flat = te.as_index(place(wide_index(indices, i), size))
            return data[reindexed(data.shape, (size,), (flat,))]

        return te.compute(result.shape, flat_element, name="take")
    axis = attributes.axis % len(data.shape)
    batch = attributes.batch_dims if attributes.batch_dims >= 0 else count + attributes.batch_dims

    def element(*i: IntExpr) -> Value:
        at = (*i[:batch], *i[axis : axis + count - batch])
        return data[(*i[:axis], place(wide_index(indices, at), data.shape[axis]), *i[axis + count - batch :])]

    return te.compute(result.shape, element, name="take")


def _gather_rule(run: RelationRun, attributes: GatherAttributes) -> Type:
    """data[.., e, ..] × indices[.., k, ..] → [.., k, ..]"""
    data, indices = run.tensor(0), run.tensor(1)
    run.dtype_in(1, *INTEGERS)
    if len(indices.shape) != len(data.shape):
        run.conflict("wrong-rank", "`indices` must have as many axes as `data`", str(data), str(indices), (0, 1))
    axis = run.axis(attributes.axis, len(data.shape))
    for position, (extent, found) in enumerate(zip(data.shape, indices.shape, strict=True)):
        if position != axis:
            run.equal(extent, found, f"axis {position} of `indices`", (0, 1))
    no_empty_source(run, data.shape[axis], indices.shape)
    return TensorType(indices.shape, data.dtype)


def _gather_meaning(attributes: GatherAttributes, data: Array, indices: Array) -> Array:
    axis = attributes.axis % data.ndim
    return np.take_along_axis(data, from_end_array(indices, data.shape[axis]), axis)


def _gather_compute(attributes: GatherAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, indices = inputs
    axis = attributes.axis % len(data.shape)

    def element(*i: IntExpr) -> Value:
        return data[(*i[:axis], from_end(wide_index(indices, i), data.shape[axis]), *i[axis + 1 :])]

    return te.compute(result.shape, element, name="gather")


def _gather_nd_rule(run: RelationRun, attributes: GatherNDAttributes) -> Type:
    """data[batch, e0, e1, .., rest] × indices[k, batch, ..] → [batch, .., rest], with k places in each index"""
    data, indices = run.tensor(0), run.tensor(1)
    run.dtype_in(1, *INTEGERS)
    batch = attributes.batch_dims
    count = indices.shape[0] if indices.shape else 0
    if not isinstance(count, int):
        if attributes.index_rank is None:
            run.conflict("wrong-attribute", "the first extent of `indices` must be known", "`index_rank`", str(indices))
        count = attributes.index_rank
    if not indices.shape or batch < 0 or batch >= len(indices.shape) or batch + count > len(data.shape):
        run.conflict("wrong-rank", "`indices` has more places than `data` has axes",
                     f"at most {len(data.shape)} places", str(indices), (0, 1))  # fmt: skip
    for position in range(batch):
        run.equal(data.shape[position], indices.shape[1 + position], f"batch axis {position} of `indices`", (0, 1))
    for position in range(count):
        no_empty_source(run, data.shape[batch + position], indices.shape[1:])
    return TensorType((*indices.shape[1:], *data.shape[batch + count :]), data.dtype)


def _gather_nd_meaning(attributes: GatherNDAttributes, data: Array, indices: Array) -> Array:
    batch, count = attributes.batch_dims, indices.shape[0]
    places = tuple(from_end_array(indices[k], data.shape[batch + k]) for k in range(count))
    lead = np.indices(indices.shape[1:], sparse=True)[:batch] if batch else ()
    return data[(*lead, *places)]


def _gather_nd_compute(attributes: GatherNDAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    data, indices = inputs
    batch = attributes.batch_dims
    count = indices.shape[0] if isinstance(indices.shape[0], int) else attributes.index_rank or 0
    outer = len(indices.shape) - 1

    def element(*i: IntExpr) -> Value:
        places = [from_end(wide_index(indices, (k, *i[:outer])), data.shape[batch + k]) for k in range(count)]
        return data[(*i[:batch], *places, *i[outer:])]

    return te.compute(result.shape, element, name="gather_nd")


def _one_hot_rule(run: RelationRun, attributes: OneHotAttributes) -> Type:
    """indices[..] × on_value × off_value → [.., depth, ..]"""
    indices = run.tensor(0)
    run.dtype_in(0, *INTEGERS)
    for position in (1, 2):
        run.tensor_like(position, (), attributes.dtype, "it is one number of the type `dtype`")
    if isinstance(attributes.depth, int) and attributes.depth < 0:
        run.conflict("wrong-attribute", "`depth` must not be negative", "0 or more", str(attributes.depth))
    axis = run.axis(attributes.axis, len(indices.shape) + 1)
    return TensorType((*indices.shape[:axis], attributes.depth, *indices.shape[axis:]), attributes.dtype)


def _one_hot_meaning(attributes: OneHotAttributes, indices: Array, on_value: Array, off_value: Array) -> Array:
    axis = attributes.axis % (indices.ndim + 1)
    classes = np.arange(int(attributes.depth))  # pyright: ignore[reportArgumentType]
    classes = classes.reshape([-1 if position == axis else 1 for position in range(indices.ndim + 1)])
    hot = np.expand_dims(indices.astype(np.int64), axis) == classes
    return to_dtype(np.where(hot, on_value, off_value), attributes.dtype)


def _one_hot_compute(attributes: OneHotAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    indices, on_value, off_value = inputs
    axis = attributes.axis % len(result.shape)

    def element(*i: IntExpr) -> Value:
        hot = te.equal(wide_index(indices, (*i[:axis], *i[axis + 1 :])), te.index_value(i[axis], DType.INT64))
        return te.select(hot, on_value[()], off_value[()])

    return te.compute(result.shape, element, name="one_hot")


_OWN = OwnLayout("its indices count axes in their order")

TAKE = define(
    "take",
    "Elements of the data, or slices of an axis, at given places.",
    inputs={"data": "[.., e, ..]", "indices": "[..], integers"},
    attributes=TakeAttributes,
    type_rule=_take_rule,
    meaning=_take_meaning,
    compute=_take_compute,
    fusion=FusionKind.INJECTIVE,
    layout=_OWN,
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_take"),
    batch=TakesEntries(),
    scale=MOVES_ELEMENTS,
    support_level=3,
)
GATHER = define(
    "gather",
    "Along one axis, the element at the place that indices give for each element of the result.",
    inputs={"data": "[.., e, ..]", "indices": "[.., k, ..], integers"},
    attributes=GatherAttributes,
    type_rule=_gather_rule,
    meaning=_gather_meaning,
    compute=_gather_compute,
    fusion=FusionKind.INJECTIVE,
    layout=_OWN,
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_gather"),
    batch=NO_BATCH_RULE_YET,
    scale=MOVES_ELEMENTS,
    support_level=3,
)
GATHER_ND = define(
    "gather_nd",
    "Elements or slices at places of several axes at once.",
    inputs={"data": "[batch, e0, e1, .., rest]", "indices": "[k, batch, ..], integers: k places in each index"},
    attributes=GatherNDAttributes,
    type_rule=_gather_nd_rule,
    meaning=_gather_nd_meaning,
    compute=_gather_nd_compute,
    fusion=FusionKind.INJECTIVE,
    layout=_OWN,
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_gather_nd"),
    batch=NO_BATCH_RULE_YET,
    scale=MOVES_ELEMENTS,
    support_level=3,
)


def _static_one_hot(attributes: dyn.DynOneHotAttributes, depth: Array) -> OneHotAttributes | None:
    return None if depth[()] < 0 else OneHotAttributes(attributes.dtype, expr_of(depth[()]), attributes.axis)


ONE_HOT = define(
    "one_hot",
    "A new axis that is on at the place that an index names, and off elsewhere.",
    inputs={"indices": "[..], integers", "on_value": "a number", "off_value": "a number"},
    attributes=OneHotAttributes,
    type_rule=_one_hot_rule,
    meaning=_one_hot_meaning,
    compute=_one_hot_compute,
    fusion=FusionKind.INJECTIVE,
    layout=_OWN,
    gradient=PIECEWISE_CONSTANT,
    effect=Effect.PURE,
    batch=NO_BATCH_RULE_YET,
    support_level=10,
    static_of=StaticOf(dyn.ONE_HOT, _static_one_hot),
)

INDEXING: tuple[OperatorRecord, ...] = (TAKE, GATHER, GATHER_ND, ONE_HOT)


def take(
    data: Argument, indices: Argument, axis: int | None = None, batch_dims: int = 0, mode: str = "clip"
) -> Call:  # fmt: skip
    """data[.., e, ..] × indices[..] → [.., indices, ..]: what stands at `indices` along `axis` (None: of all elements).

    Places outside are moved to the ends (`clip`, `fast`) or counted round (`wrap`). The first `batch_dims` axes of both
    go together. Raises `RelayError`: `wrong-dtype`, `axis-out-of-range`, `wrong-attribute`, `empty-source`.

    >>> from relay.ops.framework.build import var
    >>> print(take(var("table", shape=(1000, 64)), var("ids", shape=("n", 8), dtype="int64"), axis=0).checked_type)
    Tensor[(n, 8, 64), float32]
    """
    return call(TAKE, (data, indices), TakeAttributes(batch_dims, axis, mode))


def gather(data: Argument, axis: int, indices: Argument) -> Call:
    """result[.., i, ..] = data[.., indices[.., i, ..], ..] along `axis`; negative places count from the end.

    Raises `RelayError`: `extents-differ`, `wrong-rank`, `wrong-dtype`, `axis-out-of-range`, `empty-source`.
    """
    return call(GATHER, (data, indices), GatherAttributes(axis))


def gather_nd(data: Argument, indices: Argument, batch_dims: int = 0, index_rank: int | None = None) -> Call:
    """data[batch, e0, .., rest] × indices[k, batch, ..] → [batch, .., rest]; column k of an index is a place of axis k.

    Raises `RelayError`: `wrong-rank`, `wrong-dtype`, `extents-differ`, `empty-source`.
    """
    return call(GATHER_ND, (data, indices), GatherNDAttributes(batch_dims, index_rank))


def one_hot(
    indices: Argument, on_value: Argument, off_value: Argument, depth: IntExpr | Expr, axis: int, dtype: str | DType
) -> Call:
    """indices[..] → [.., depth, ..]: `on_value` where the new axis `axis` is at the index, `off_value` elsewhere. A
    `depth` that is an expression and no constant makes a `dyn.one_hot`.

    Raises `RelayError`: `wrong-dtype`, `wrong-attribute`, `axis-out-of-range`, `wrong-shape`.
    """
    if is_dynamic(depth):
        return dyn.one_hot(indices, on_value, off_value, depth, axis, dtype)
    number = dtype_of(dtype)
    values = tuple(value if known_dtype(value) else as_expr(value, number) for value in (on_value, off_value))
    return call(ONE_HOT, (indices, *values), OneHotAttributes(number, static_extent(depth), axis))

"""Places in several axes at once: adv_index, meshgrid, unravel_index."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from relay import te
from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, TupleType, Type
from relay.ops.dyn.extents import LONG, chosen, entries, shape_rank
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, TupleWrapper, as_tuple, call, tuple_call
from relay.ops.framework.elementwise import INTEGERS, broadcast_indices
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.places import from_end, from_end_array, no_empty_source, wide_index
from relay.ops.framework.record import (
    PIECEWISE_CONSTANT,
    FusionKind,
    OperatorRecord,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value


@frozen
class MeshgridAttributes(Attributes):
    """`indexing`: `ij`, one axis a tensor in their order, or `xy`, the first two axes swapped."""

    indexing: str = "ij"


def _adv_index_rule(run: RelationRun, _: Attributes) -> Type:
    """(data[e0, e1, .., rest], i0[..], i1[..], ..) → [.., rest], the indices broadcast"""
    data, *indices = run.tensors(0)
    if not 1 <= len(indices) <= len(data.shape):
        run.conflict("wrong-rank", "`inputs` must be a tensor and indices of some of its axes",
                     f"1 to {len(data.shape)} tensors of indices", str(len(indices)), (0,))  # fmt: skip
    shape: tuple[Dimension, ...] = ()
    for position, each in enumerate(indices, start=1):
        if not each.dtype.is_integer:
            run.conflict("wrong-dtype", f"field {position} of `inputs` must be {INTEGERS[1]}", INTEGERS[1],
                         each.dtype, (0,), "cast it first")  # fmt: skip
        shape = run.broadcast(shape, each.shape)
    for extent in data.shape[: len(indices)]:
        no_empty_source(run, extent, shape)
    return TensorType((*shape, *data.shape[len(indices) :]), data.dtype)


def _adv_index_meaning(_: Attributes, inputs: tuple[Array, ...]) -> Array:
    data, *indices = inputs
    return data[tuple(map(from_end_array, indices, data.shape))]


def _adv_index_compute(_: Attributes, inputs: tuple[tuple[te.Tensor, ...]], result: TensorType) -> te.Tensor:
    ((data, *indices),) = inputs
    outer = len(result.shape) - (len(data.shape) - len(indices))

    def element(*i: IntExpr) -> Value:
        at = [broadcast_indices(each, i[:outer], result.shape[:outer]) for each in indices]
        places = [from_end(wide_index(each, place), extent)
                  for each, place, extent in zip(indices, at, data.shape, strict=False)]  # fmt: skip
        return data[(*places, *i[outer:])]

    return te.compute(result.shape, element, name="adv_index")


def grid_axes(attributes: MeshgridAttributes, count: int) -> list[int]:
    """Along which axis each tensor runs."""
    axes = list(range(count))
    return [1, 0, *axes[2:]] if attributes.indexing == "xy" and count > 1 else axes


def _meshgrid_rule(run: RelationRun, attributes: MeshgridAttributes) -> Type:
    """(a[m], b[n], ..) → (a along axis 0 of [m, n, ..], b along axis 1, ..)"""
    tensors = run.tensors(0)
    if attributes.indexing not in ("ij", "xy"):
        run.conflict("wrong-attribute", "`indexing` is not known", "`ij` or `xy`", attributes.indexing)
    for position, each in enumerate(tensors):
        if len(each.shape) > 1:
            run.conflict("wrong-rank", f"field {position} of `data` must have at most 1 axis", "[n]", str(each), (0,))
    shape: list[Dimension] = [1] * len(tensors)
    for axis, each in zip(grid_axes(attributes, len(tensors)), tensors, strict=True):
        shape[axis] = each.shape[0] if each.shape else 1
    return TupleType(tuple(TensorType(tuple(shape), each.dtype) for each in tensors))


def _meshgrid_meaning(attributes: MeshgridAttributes, data: tuple[Array, ...]) -> tuple[Array, ...]:
    return tuple(np.meshgrid(*data, indexing=attributes.indexing))  # pyright: ignore[reportArgumentType, reportCallIssue]


def _meshgrid_compute(
    attributes: MeshgridAttributes, inputs: tuple[tuple[te.Tensor, ...]], result: TupleType
) -> tuple[te.Tensor, ...]:
    """One stage a tensor: `meshgrid0`, `meshgrid1`, …"""
    (tensors,) = inputs
    axes = grid_axes(attributes, len(tensors))
    shapes = [field.shape for field in result.fields if isinstance(field, TensorType)]
    grids: list[te.Tensor] = []
    for position, (axis, each, shape) in enumerate(zip(axes, tensors, shapes, strict=True)):

        def element(*i: IntExpr, axis: int = axis, each: te.Tensor = each) -> Value:
            return each[(i[axis],) if each.shape else ()]

        grids.append(te.compute(shape, element, name=f"meshgrid{position}"))
    return tuple(grids)


def _unravel_rule(run: RelationRun, _: Attributes) -> Type:
    """indices[..] × shape[k] → [k, ..]"""
    indices = run.tensor(0)
    run.dtype_in(0, *INTEGERS)
    return TensorType((shape_rank(run, 1), *indices.shape), indices.dtype)


def _unravel_meaning(_: Attributes, indices: Array, shape: Array) -> Array:
    extents = [max(extent, 1) for extent in shape.astype(np.int64).tolist()]
    rest = np.clip(indices.astype(np.int64), 0, math.prod(extents) - 1)
    places: list[Array] = []
    for extent in reversed(extents):
        places.append(rest % extent)
        rest = rest // extent
    return np.array(places[::-1]).reshape(len(places), *indices.shape).astype(indices.dtype)


def _unravel_compute(_: Attributes, inputs: tuple[te.Tensor, te.Tensor], result: TensorType) -> te.Tensor:
    indices, shape = inputs
    extents = [te.maximum(extent, 1) for extent in entries(shape)]
    strides: list[Value] = [te.const(1, LONG)]
    for extent in reversed(extents):
        strides.append(strides[-1] * extent)
    size, *strides = reversed(strides)

    def element(axis: IntExpr, *i: IntExpr) -> Value:
        inside = te.maximum(te.minimum(wide_index(indices, i), size - 1), 0)
        places = [te.floor_modulo(te.floor_divide(inside, stride), extent)
                  for stride, extent in zip(strides, extents, strict=True)]  # fmt: skip
        return te.cast(chosen(axis, places), indices.dtype) if places else te.const(0, indices.dtype)

    return te.compute(result.shape, element, name="unravel_index")


_OWN = OwnLayout("its indices count axes in their order")

ADV_INDEX = define(
    "adv_index",
    "Elements or slices of the data at places that tensors of indices tell, one for each of the first axes.",
    inputs={"inputs": "a tuple: data[e0, e1, .., rest], then indices [..] that broadcast, one for each of e0, e1, …"},
    type_rule=_adv_index_rule,
    meaning=_adv_index_meaning,
    compute=_adv_index_compute,
    fusion=FusionKind.INJECTIVE,
    layout=_OWN,
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_adv_index"),
    batch=NO_BATCH_RULE_YET,
    scale=MOVES_ELEMENTS,
    support_level=3,
)
MESHGRID = define(
    "meshgrid",
    "Tensors of one axis, each repeated along the axes of the others.",
    inputs={"data": "a tuple of tensors [n]"},
    attributes=MeshgridAttributes,
    type_rule=_meshgrid_rule,
    meaning=_meshgrid_meaning,
    compute=_meshgrid_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("its results have an axis for each tensor"),
    effect=Effect.PURE,
    gradient=gradient_above("indexing", "of_meshgrid"),
    batch=NO_BATCH_RULE_YET,
    scale=MOVES_ELEMENTS,
    support_level=3,
)
UNRAVEL_INDEX = define(
    "unravel_index",
    "The places, an axis a row, of elements that are counted in row-major order; numbers outside are clipped.",
    inputs={"indices": "[..], integers", "shape": "[k], integers"},
    type_rule=_unravel_rule,
    meaning=_unravel_meaning,
    compute=_unravel_compute,
    fusion=FusionKind.INJECTIVE,
    layout=_OWN,
    effect=Effect.PURE,
    gradient=PIECEWISE_CONSTANT,
    batch=NO_BATCH_RULE_YET,
    support_level=3,
)

COORDINATES: tuple[OperatorRecord, ...] = (ADV_INDEX, MESHGRID, UNRAVEL_INDEX)


def adv_index(inputs: Sequence[Argument] | Argument) -> Call:
    """(data[e0, e1, .., rest], i0, i1, …) → data[i0, i1, …], as NumPy indexes by arrays of integers: the indices
    broadcast; negative ones count from the end, and those outside are clipped.

    Raises `RelayError`: `wrong-rank`, `wrong-dtype`, `extents-differ`, `empty-source`, `not-a-tuple`.

    >>> from relay.ops.framework.build import var
    >>> ids = [var("i", shape=("n",), dtype="int64"), var("j", shape=(3, 1), dtype="int64")]
    >>> print(adv_index([var("x", shape=(10, 20, 64)), *ids]).checked_type)
    Tensor[(3, n, 64), float32]
    """
    return call(ADV_INDEX, (as_tuple(inputs),))


def meshgrid(data: Sequence[Argument] | Argument, indexing: str = "ij") -> TupleWrapper:
    """Tensors [m], [n], … → as many of shape [m, n, …] (`ij`) or [n, m, …] (`xy`), each running along its own axis.

    Raises `RelayError`: `wrong-rank`, `wrong-attribute`, `not-a-tuple`.
    """
    given = as_tuple(data)
    type_ = given.checked_type
    size = len(type_.fields) if isinstance(type_, TupleType) else 0
    return tuple_call(MESHGRID, (given,), MeshgridAttributes(indexing), size)


def unravel_index(indices: Argument, shape: Argument) -> Call:
    """indices[..] × shape[k] → [k, ..]: the place along each axis of `shape` of the elements that `indices` counts in
    row-major order. Numbers outside are clipped.

    Raises `RelayError`: `wrong-dtype`, `wrong-rank`, `unknown-rank`.
    """
    return call(UNRAVEL_INDEX, (indices, shape))

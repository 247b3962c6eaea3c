"""Elements at places that indices tell are changed: scatter, scatter_add, scatter_elements, scatter_nd.

Negative places count from the end, and what has a place outside is left out. Of several updates at one place, the last
in row-major order stays; sums, products, minima and maxima take one after another, each rounded to the type of the
data. So the result is the same on any number of threads. Where nobody else has a use for the data, an update costs as
much as it has elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import INTEGERS, NUMBERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.part_update import Place, changing, write_part
from relay.ops.framework.record import WAITS_FOR_AUTODIFF, FusionKind, OperatorRecord, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value, ValueVar
from relay.tir.stmt import Stmt
from relay.tir.traversal import ValueIndex

Mode: TypeAlias = tuple[Callable[[Array, tuple[Array, ...], Array], None], Callable[[Value, Value], Value]]
"""What becomes of an element and its update, in NumPy and as a value."""


def _put(data: Array, places: tuple[Array, ...], updates: Array) -> None:
    data[places] = updates


MODES: Mapping[str, Mode] = MappingProxyType({
    "update": (_put, lambda _, new: new),
    "add": (np.add.at, lambda old, new: old + new),
    "mul": (np.multiply.at, lambda old, new: old * new),
    "min": (np.minimum.at, te.minimum),
    "max": (np.maximum.at, te.maximum),
})  # fmt: skip


@frozen
class ScatterAttributes(Attributes):
    axis: int = 0


@frozen
class ScatterElementsAttributes(Attributes):
    """`reduction`: what becomes of an element and its update: `update`, `add`, `mul`, `min` or `max`."""

    axis: int = 0
    reduction: str = "update"


@frozen
class ScatterNDAttributes(Attributes):
    """`mode`: what becomes of an element and its update: `update`, `add`, `mul`, `min` or `max`."""

    mode: str = "update"


ModeOf: TypeAlias = Callable[[Any], str]


def _check(run: RelationRun, mode: str, attribute: str) -> tuple[TensorType, TensorType, TensorType]:
    """The types of data, indices and updates."""
    data, indices, updates = run.tensor(0), run.tensor(1), run.tensor(2)
    run.dtype_in(1, *INTEGERS)
    run.same_dtype(data.dtype, 2)
    if mode not in MODES:
        run.conflict("wrong-attribute", f"`{attribute}` is not known", ", ".join(MODES), mode)
    if mode != "update":
        run.dtype_in(0, *NUMBERS)
    return data, indices, updates


def _elements_rule(mode_of: ModeOf, run: RelationRun, attributes: Any) -> Type:
    """data[.., e, ..] × indices[.., k, ..] × updates[.., k, ..] → data"""
    data, indices, updates = _check(run, mode_of(attributes), "reduction")
    for position, each in ((1, indices), (2, updates)):
        if len(each.shape) != len(data.shape):
            run.conflict("wrong-rank", f"`{run.names[position]}` must have as many axes as `data`", str(data),
                         str(each), (0, position))  # fmt: skip
    axis = run.axis(attributes.axis, len(data.shape))
    for position, (extent, count) in enumerate(zip(data.shape, indices.shape, strict=True)):
        run.equal(count, updates.shape[position], f"axis {position} of `updates`", (1, 2))
        if position != axis:
            run.require(Comparison(count, "<=", extent), "extents-differ",
                        f"axis {position} of `indices` is longer than that of `data`", (0, 1))  # fmt: skip
    return data


def _elements_meaning(mode_of: ModeOf, attributes: Any, data: Array, indices: Array, updates: Array) -> Array:
    axis = attributes.axis % data.ndim
    grid = list(np.indices(indices.shape, sparse=True))
    grid[axis] = indices
    return _scattered(mode_of(attributes), data, np.broadcast_arrays(*grid), {axis}, updates)


def _scattered(mode: str, data: Array, places: Sequence[Array], given: set[int], updates: Array) -> Array:
    """The data after updates at places of the first axes, those of the axes in `given` being indices."""
    result = data.copy()
    is_inside = np.ones(places[0].shape, bool)
    counted: list[Array] = []
    for axis, each in enumerate(places):
        place = each.astype(np.int64)
        if axis in given:
            place = np.where(place < 0, place + data.shape[axis], place)
            is_inside &= (place >= 0) & (place < data.shape[axis])
        counted.append(place)
    with np.errstate(all="ignore"):
        MODES[mode][0](result, tuple(each[is_inside] for each in counted), updates[is_inside])
    return result


def _place(depth: int, axis: int, index: Load, extent: IntExpr) -> Place:
    """The place of an axis that an index tells."""
    wide, size = te.cast(index, DType.INT64), te.index_value(extent, DType.INT64)
    place = te.select(te.less(wide, 0), wide + size, wide)
    return Place(depth, ValueVar(f"place{axis}", DType.INT64), place, te.const(0, DType.INT64), size)


def _part_indices(part: Buffer) -> tuple[Symbol, ...]:
    return tuple(Symbol(f"j{axis}") for axis in range(len(part.shape)))


def _write_elements(
    mode_of: ModeOf, attributes: Any, inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]
) -> Stmt:  # fmt: skip
    _, indices, part = inputs
    (to,) = outputs
    at = _part_indices(part)
    axis = attributes.axis % len(at)
    place = _place(len(at), axis, Load(indices, at), to.shape[axis])
    target = (*at[:axis], ValueIndex(place.variable), *at[axis + 1 :])
    return write_part(to, part, at, target, [place], MODES[mode_of(attributes)][1])


def _nd_rule(run: RelationRun, attributes: ScatterNDAttributes) -> Type:
    """data[e0, e1, .., rest] × indices[k, ..] × updates[.., rest] → data, with k places in each index"""
    data, indices, updates = _check(run, attributes.mode, "mode")
    outer = len(indices.shape) - 1
    rest = len(updates.shape) - outer
    count = len(data.shape) - rest
    if outer < 0 or rest < 0 or count < 1:
        run.conflict("wrong-rank", "`updates` must have the axes of `indices` but the first, then those of `data` that "
                     "have no places", "indices[k, ..] and updates[.., rest], where `data` has k + rest axes",
                     f"{indices} and {updates}, where `data` is {data}", (0, 1, 2))  # fmt: skip
    run.equal(count, indices.shape[0], "the number of places in an index", (0, 1, 2))
    for axis in range(outer):
        run.equal(indices.shape[1 + axis], updates.shape[axis], f"axis {axis} of `updates`", (1, 2))
    for axis in range(rest):
        run.equal(data.shape[count + axis], updates.shape[outer + axis], f"axis {outer + axis} of `updates`", (0, 2))
    return data


def _nd_meaning(attributes: ScatterNDAttributes, data: Array, indices: Array, updates: Array) -> Array:
    places = [indices[axis, ...] for axis in range(len(indices))]
    return _scattered(attributes.mode, data, places, set(range(len(indices))), updates)


def _write_nd(attributes: ScatterNDAttributes, inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]) -> Stmt:
    _, indices, part = inputs
    (to,) = outputs
    at = _part_indices(part)
    outer = len(indices.shape) - 1
    count = len(to.shape) - (len(at) - outer)
    places = [_place(outer, axis, Load(indices, (axis, *at[:outer])), to.shape[axis]) for axis in range(count)]
    target = (*(ValueIndex(each.variable) for each in places), *at[outer:])
    return write_part(to, part, at, target, places, MODES[attributes.mode][1])


def _record(name: str, description: str, indices: str, updates: str, write: Any, **fields: Any) -> OperatorRecord:
    compute, update = changing(name, write, part=2)
    return define(
        name,
        description,
        inputs={"data": "[..]", "indices": f"{indices}, integers", "updates": f"{updates}, of the type of `data`"},
        compute=compute,
        update=update,
        effect=Effect.PURE,
        gradient=WAITS_FOR_AUTODIFF,
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        fusion=FusionKind.OPAQUE,
        layout=OwnLayout("its indices count axes in their order"),
        support_level=10,
        **fields,
    )


def _along_axis(name: str, description: str, attributes: type[Attributes], mode_of: ModeOf) -> OperatorRecord:
    return _record(
        name, description, "[.., k, ..]", "[.., k, ..]", partial(_write_elements, mode_of), attributes=attributes,
        type_rule=partial(_elements_rule, mode_of), meaning=partial(_elements_meaning, mode_of),
    )  # fmt: skip


SCATTER = _along_axis(
    "scatter", "The data with other elements at places along an axis.", ScatterAttributes, lambda _: "update"
)
SCATTER_ADD = _along_axis(
    "scatter_add", "The data with something added at places along an axis.", ScatterAttributes, lambda _: "add"
)
SCATTER_ELEMENTS = _along_axis(
    "scatter_elements", "The data with elements changed at places along an axis.", ScatterElementsAttributes,
    lambda attributes: attributes.reduction,
)  # fmt: skip
SCATTER_ND = _record(
    "scatter_nd",
    "The data with elements or slices changed at places of several axes at once.",
    "[k, ..]: k places in each index",
    "[.., rest]",
    _write_nd,
    attributes=ScatterNDAttributes,
    type_rule=_nd_rule,
    meaning=_nd_meaning,
)

SCATTERS: tuple[OperatorRecord, ...] = (SCATTER, SCATTER_ADD, SCATTER_ELEMENTS, SCATTER_ND)


def scatter(data: Argument, indices: Argument, updates: Argument, axis: int) -> Call:
    """`data` after data[.., indices[.., i, ..], ..] = updates[.., i, ..] along `axis`.

    Raises `RelayError`: `extents-differ`, `wrong-rank`, `wrong-dtype`, `dtypes-differ`, `axis-out-of-range`.
    """
    return call(SCATTER, (data, indices, updates), ScatterAttributes(axis))


def scatter_add(data: Argument, indices: Argument, updates: Argument, axis: int) -> Call:
    """`data` after data[.., indices[.., i, ..], ..] += updates[.., i, ..] along `axis`.

    Errors as those of `scatter`.
    """
    return call(SCATTER_ADD, (data, indices, updates), ScatterAttributes(axis))


def scatter_elements(
    data: Argument, indices: Argument, updates: Argument, axis: int = 0, reduction: str = "update"
) -> Call:
    """`scatter` by `reduction`: `update` puts elements in place; `add`, `mul`, `min` and `max` combine them with what
    is there. Errors as those of `scatter`, and `wrong-attribute`.

    >>> from relay.ops.framework.build import var
    >>> x, updates = var("x", shape=(1000, 64)), var("updates", shape=("n", 64))
    >>> print(scatter_elements(x, var("ids", shape=("n", 64), dtype="int64"), updates, reduction="add").checked_type)
    Tensor[(1000, 64), float32]
    """
    return call(SCATTER_ELEMENTS, (data, indices, updates), ScatterElementsAttributes(axis, reduction))


def scatter_nd(data: Argument, indices: Argument, updates: Argument, mode: str = "update") -> Call:
    """`data` after data[indices[0, ..], indices[1, ..], …] = updates[.., rest]: column k of an index is a place of axis
    k, as in `gather_nd`. `mode` as `reduction` of `scatter_elements`.

    Raises `RelayError`: `extents-differ`, `wrong-rank`, `wrong-dtype`, `dtypes-differ`, `wrong-attribute`.

    >>> from relay.ops.framework.build import var
    >>> cache, rows = var("cache", shape=(4096, 64)), var("rows", shape=("n", 64))
    >>> print(scatter_nd(cache, var("at", shape=(1, "n"), dtype="int64"), rows).checked_type)
    Tensor[(4096, 64), float32]
    """
    return call(SCATTER_ND, (data, indices, updates), ScatterNDAttributes(mode))

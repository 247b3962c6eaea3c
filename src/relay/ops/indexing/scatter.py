"""Elements at places that indices tell are changed: scatter, scatter_add, scatter_elements, scatter_nd.

Negative places count from the end, and what has a place outside is left out. Of several updates at one place, the last
in row-major order stays; sums, products, minima and maxima take one after another, each rounded to the type of the
data. A mean is such a sum, divided once by the number of what it is of; that of integers is rounded down. The element
that was there is the first of them, or, where the attributes say so, none: then a place that has updates begins with
the identity of the operation. So the result is the same on any number of threads, which share what never meets in one
place. Where nobody else has a use for the data, an update costs as much as it has elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr
from relay.base.dtypes import DType, dtype_of
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import INTEGERS, NUMBERS
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.part_update import PartLoops, Place, changing, over_part, part_loops, write_part
from relay.ops.framework.record import FusionKind, OperatorRecord, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.tir.buffer import Buffer
from relay.tir.expr import Load, Value, ValueVar
from relay.tir.stmt import Allocate, If, Stmt, Store
from relay.tir.stmt import Sequence as Statements
from relay.tir.traversal import ValueIndex


@frozen(eq=False)
class Mode:
    """What becomes of elements and their updates in NumPy, and of an element and one update as a value. `identity`: the
    number that changes nothing; None where an update is all that counts. `is_mean`: the sum is divided in the end."""

    in_numpy: Callable[[Array, tuple[Array, ...], Array], None]
    combined: Callable[[Value, Value], Value]
    identity: Callable[[DType], float | int] | None = None
    is_mean: bool = False


def _put(data: Array, places: tuple[Array, ...], updates: Array) -> None:
    data[places] = updates


MODES: Mapping[str, Mode] = MappingProxyType({
    "update": Mode(_put, lambda _, new: new),
    "add": Mode(np.add.at, lambda old, new: old + new, lambda _: 0),
    "mul": Mode(np.multiply.at, lambda old, new: old * new, lambda _: 1),
    "min": Mode(np.minimum.at, te.minimum, te.highest),
    "max": Mode(np.maximum.at, te.maximum, te.lowest),
    "mean": Mode(np.add.at, lambda old, new: old + new, lambda _: 0, is_mean=True),
})  # fmt: skip


@frozen
class ScatterAttributes(Attributes):
    axis: int = 0


@frozen
class ScatterElementsAttributes(Attributes):
    """`reduction`: what becomes of an element and its updates: `update`, `add`, `mul`, `min`, `max` or `mean`;
    without `include_self` of its updates alone, where it has some."""

    axis: int = 0
    reduction: str = "update"
    include_self: bool = True


@frozen
class ScatterNDAttributes(Attributes):
    """`mode`: what becomes of an element and its updates: `update`, `add`, `mul`, `min`, `max` or `mean`."""

    mode: str = "update"


@frozen
class Reduced:
    """How an operator's attributes say that elements and their updates become one."""

    mode: str
    include_self: bool = True

    @property
    def first(self) -> Callable[[DType], float | int] | None:
        """What a place that has updates begins with; None for the element that is there."""
        return None if self.include_self else MODES[self.mode].identity


HowOf: TypeAlias = Callable[[Any], Reduced]


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


def _elements_rule(how_of: HowOf, run: RelationRun, attributes: Any) -> Type:
    """data[.., e, ..] × indices[.., k, ..] × updates[.., k, ..] → data"""
    data, indices, updates = _check(run, how_of(attributes).mode, "reduction")
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


def _elements_meaning(how_of: HowOf, attributes: Any, data: Array, indices: Array, updates: Array) -> Array:
    axis = attributes.axis % data.ndim
    grid = list(np.indices(indices.shape, sparse=True))
    grid[axis] = indices
    return _scattered(how_of(attributes), data, np.broadcast_arrays(*grid), {axis}, updates)


def _scattered(how: Reduced, data: Array, places: Sequence[Array], given: set[int], updates: Array) -> Array:
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
    inside = tuple(each[is_inside] for each in counted)
    with np.errstate(all="ignore"):
        if how.first is not None:
            result[inside] = how.first(dtype_of(data.dtype))
        mode = MODES[how.mode]
        mode.in_numpy(result, inside, updates[is_inside])
        return _divided(result, inside, how.include_self) if mode.is_mean else result


def _divided(totals: Array, places: tuple[Array, ...], include_self: bool) -> Array:
    """The totals by the number of what was added up there, what was there before among them or not."""
    counts = np.ones(totals.shape, np.int64)
    counts[places] = include_self
    np.add.at(counts, places, 1)
    total = wide(totals)
    count = counts.astype(total.dtype)
    return to_dtype(total / count if total.dtype.kind == "f" else np.floor_divide(total, count), dtype_of(totals.dtype))


def _place(depth: int, axis: int, index: Load, extent: IntExpr) -> Place:
    """The place of an axis that an index tells."""
    wide, size = te.cast(index, DType.INT64), te.index_value(extent, DType.INT64)
    place = te.select(te.less(wide, 0), wide + size, wide)
    return Place(depth, ValueVar(f"place{axis}", DType.INT64), place, te.const(0, DType.INT64), size)


@frozen(eq=False)
class _Way:
    """Where the elements of a part go: in its `loops`, to `target` with these `places`."""

    loops: PartLoops
    target: tuple[IntExpr, ...]
    places: tuple[Place, ...]


WayOf: TypeAlias = Callable[[Any, Buffer, Buffer, Buffer], _Way]


def _write(
    how_of: HowOf, way_of: WayOf, attributes: Any, inputs: tuple[Buffer, ...], outputs: tuple[Buffer, ...]
) -> Stmt:
    how, (_, indices, part), (to,) = how_of(attributes), inputs, outputs
    first = how.first

    def over(body: Callable[[tuple[IntExpr, ...]], Stmt]) -> Stmt:
        way = way_of(attributes, indices, part, to)
        return over_part(way.loops, way.places, body(way.target))

    def combine() -> Stmt:
        way = way_of(attributes, indices, part, to)
        return write_part(to, part, way.loops, way.target, way.places, MODES[how.mode].combined)

    begin = () if first is None else (over(lambda at: Store(to, at, te.const(first(to.dtype), to.dtype))),)
    if MODES[how.mode].is_mean:
        return _write_means(how, over, (*begin, combine()), to)
    return Statements((*begin, combine())) if begin else combine()


def _write_means(
    how: Reduced, over: Callable[[Callable[[tuple[IntExpr, ...]], Stmt]], Stmt], sums: Sequence[Stmt], to: Buffer
) -> Stmt:
    """What has updates is counted, from 1 if the element itself counts, and divided where the last of them would be:
    what is divided counts 0 from then on. Nothing else is touched, neither of the tensor nor of the counts.

        for each place:  counts[place] = 1
        for each place:  counts[place] += 1
        for each place:  result[place] += part[..]
        for each place:  if 0 < counts[place]:  result[place] /= counts[place]; counts[place] = 0
    """
    counts = Buffer("counts", to.shape, DType.INT64)
    wide = to.dtype.computation

    def divided(at: tuple[IntExpr, ...]) -> Stmt:
        total, count = te.cast(Load(to, at), wide), te.cast(Load(counts, at), wide)
        mean = total / count if wide.is_float else te.floor_divide(total, count)
        finish = Statements((Store(to, at, te.cast(mean, to.dtype)), Store(counts, at, te.const(0, DType.INT64))))
        return If(te.greater(Load(counts, at), 0), finish)

    clear = over(lambda at: Store(counts, at, te.const(int(how.include_self), DType.INT64)))
    count = over(lambda at: Store(counts, at, Load(counts, at) + 1))
    return Allocate(counts, Statements((clear, count, *sums, over(divided))))


def _way_along_axis(attributes: Any, indices: Buffer, part: Buffer, to: Buffer) -> _Way:
    axis = attributes.axis % len(part.shape)
    loops = part_loops(part, {*range(len(part.shape))} - {axis})
    at = loops.indices
    place = _place(len(at), axis, Load(indices, at), to.shape[axis])
    return _Way(loops, (*at[:axis], ValueIndex(place.variable), *at[axis + 1 :]), (place,))


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
    return _scattered(Reduced(attributes.mode), data, places, set(range(len(indices))), updates)


def _way_nd(_: ScatterNDAttributes, indices: Buffer, part: Buffer, to: Buffer) -> _Way:
    outer = len(indices.shape) - 1
    loops = part_loops(part)
    at = loops.indices
    count = len(to.shape) - (len(at) - outer)
    places = tuple(_place(outer, axis, Load(indices, (axis, *at[:outer])), to.shape[axis]) for axis in range(count))
    return _Way(loops, (*(ValueIndex(each.variable) for each in places), *at[outer:]), places)


def _record(
    name: str, description: str, indices: str, updates: str, how_of: HowOf, way_of: WayOf, **fields: Any
) -> OperatorRecord:
    compute, update = changing(name, partial(_write, how_of, way_of), part=2)
    return define(
        name,
        description,
        inputs={"data": "[..]", "indices": f"{indices}, integers", "updates": f"{updates}, of the type of `data`"},
        compute=compute,
        update=update,
        effect=Effect.PURE,
        gradient=gradient_above("indexing", f"of_{name}"),
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        fusion=FusionKind.OPAQUE,
        layout=OwnLayout("its indices count axes in their order"),
        support_level=10,
        **fields,
    )


def _along_axis(name: str, description: str, attributes: type[Attributes], how_of: HowOf) -> OperatorRecord:
    return _record(
        name, description, "[.., k, ..]", "[.., k, ..]", how_of, _way_along_axis, attributes=attributes,
        type_rule=partial(_elements_rule, how_of), meaning=partial(_elements_meaning, how_of),
    )  # fmt: skip


SCATTER = _along_axis(
    "scatter", "The data with other elements at places along an axis.", ScatterAttributes, lambda _: Reduced("update")
)
SCATTER_ADD = _along_axis(
    "scatter_add", "The data with something added at places along an axis.", ScatterAttributes, lambda _: Reduced("add")
)
SCATTER_ELEMENTS = _along_axis(
    "scatter_elements", "The data with elements changed at places along an axis.", ScatterElementsAttributes,
    lambda attributes: Reduced(attributes.reduction, attributes.include_self),
)  # fmt: skip
SCATTER_ND = _record(
    "scatter_nd",
    "The data with elements or slices changed at places of several axes at once.",
    "[k, ..]: k places in each index",
    "[.., rest]",
    lambda attributes: Reduced(attributes.mode),
    _way_nd,
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
    data: Argument, indices: Argument, updates: Argument, axis: int = 0, reduction: str = "update",
    include_self: bool = True,
) -> Call:  # fmt: skip
    """`scatter` by `reduction`: `update` puts elements in place; `add`, `mul`, `min`, `max` and `mean` combine them
    with what is there, or, without `include_self`, with each other. Errors as those of `scatter`, and
    `wrong-attribute`.

    >>> from relay.ops.framework.build import var
    >>> x, updates = var("x", shape=(1000, 64)), var("updates", shape=("n", 64))
    >>> print(scatter_elements(x, var("ids", shape=("n", 64), dtype="int64"), updates, reduction="add").checked_type)
    Tensor[(1000, 64), float32]
    """
    return call(SCATTER_ELEMENTS, (data, indices, updates), ScatterElementsAttributes(axis, reduction, include_self))


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

"""Elements between places that the run knows: dyn.strided_slice."""

from __future__ import annotations

from relay import te
from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.dyn.extents import (
    LONG,
    OWN_SHAPE,
    entries,
    refuse,
    shape_rank,
    told,
    vector,
)
from relay.ops.framework.batch_rule import DEPENDS_ON_VALUES
from relay.ops.framework.build import Argument, call
from relay.ops.framework.record import FromValues, FusionKind, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.tir.expr import Value


@frozen
class DynStridedSliceAttributes(Attributes):
    """`slice_mode` `size`: `end` gives sizes, -1 for all that is left, and strides are 1."""

    slice_mode: str = "end"


_SLICE_FAILURES = ("`strides` must not be 0",)
_SLICE_INPUTS = {"data": "[..]", "begin": "[k], integers", "end": "[k], integers", "strides": "[k], integers"}


def _slice_rule(run: RelationRun, attributes: DynStridedSliceAttributes) -> Type:
    """data[.., rest] × begin[k] × end[k] × strides[k] → [k unknown extents, rest]"""
    data, counts = run.tensor(0), [shape_rank(run, position) for position in (1, 2, 3)]
    if attributes.slice_mode not in ("end", "size"):
        run.conflict("wrong-attribute", "`slice_mode` is not known", "`end` or `size`", attributes.slice_mode)
    if len(set(counts)) != 1 or counts[0] > len(data.shape):
        run.conflict("wrong-shape", "`begin`, `end` and `strides` must have one entry for each axis that is sliced",
                     f"as many each, at most {len(data.shape)}", str(counts), (1, 2, 3))  # fmt: skip
    return TensorType((*(ANY,) * counts[0], *data.shape[counts[0] :]), data.dtype)


def _slice_meaning(
    attributes: DynStridedSliceAttributes, data: Array, begin: Array, end: Array, strides: Array
) -> Array:  # fmt: skip
    parts: list[slice] = []
    for extent, first, last, step in zip(data.shape, begin.tolist(), end.tolist(), strides.tolist(), strict=False):
        if attributes.slice_mode == "size":
            start = first + extent if first < 0 else first
            parts.append(slice(max(start, 0), extent if last < 0 else max(start + last, 0)))
        else:
            parts.append(refuse(_SLICE_FAILURES, 0, strides.tolist()) if step == 0 else slice(first, last, step))
    return data[tuple(parts)].copy()


@frozen
class _Part:
    """`size` elements from `start` on, `step` apart."""

    start: Value
    size: Value
    step: Value


def _parts(attributes: DynStridedSliceAttributes, inputs: tuple[te.Tensor, ...]) -> list[_Part]:
    data = inputs[0]
    columns = zip(*map(entries, inputs[1:]), strict=True)
    by = _sized if attributes.slice_mode == "size" else _stepped
    return [by(te.index_value(extent, LONG), *column) for extent, column in zip(data.shape, columns, strict=False)]


def _from_end(place: Value, extent: Value) -> Value:
    return te.select(te.less(place, 0), place + extent, place)


def _between(place: Value, low: Value, high: Value) -> Value:
    return te.maximum(te.minimum(place, high), low)


def _sized(extent: Value, begin: Value, size: Value, _: Value) -> _Part:
    zero = te.const(0, LONG)
    first = te.minimum(_from_end(begin, extent), extent)
    start = _between(first, zero, extent)
    stop = te.select(te.less(size, 0), extent, _between(first + te.minimum(size, extent), zero, extent))
    return _Part(start, te.maximum(stop - start, 0), te.const(1, LONG))


def _stepped(extent: Value, begin: Value, end: Value, step: Value) -> _Part:
    """As Python slices: places outside are moved to the ends, which lie one further down when counting down."""
    down = te.less(step, 0)
    low = te.select(down, te.const(-1, LONG), te.const(0, LONG))
    high = te.select(down, extent - 1, extent)
    start, stop = (_between(_from_end(place, extent), low, high) for place in (begin, end))
    distance = te.select(down, start - stop, stop - start)
    step = _between(step, -extent - 1, extent + 1)  # further than that takes one element all the same
    pace = te.maximum(te.abs(step), 1)
    return _Part(start, te.maximum(te.floor_divide(distance + pace - 1, pace), 0), step)


def _slice_extents(attributes: DynStridedSliceAttributes, inputs: tuple[te.Tensor, ...], _: Type) -> te.Tensor:
    parts = _parts(attributes, inputs)
    failures = [] if attributes.slice_mode == "size" else [te.any_of(te.equal(part.step, 0) for part in parts)]
    return told(failures, [part.size for part in parts], "strided_slice_extents")


def _slice_compute(
    attributes: DynStridedSliceAttributes, inputs: tuple[te.Tensor, ...], result: TensorType
) -> te.Tensor:  # fmt: skip
    data, parts = inputs[0], _parts(attributes, inputs)
    if not parts:
        return te.compute(result.shape, lambda *i: data[i], name="strided_slice")
    starts = vector([part.start for part in parts], "strided_slice_start")
    steps = vector([part.step for part in parts], "strided_slice_step")

    def place(axis: int, index: IntExpr) -> IntExpr:
        if axis >= len(parts):
            return index
        at = starts[(axis,)] + te.index_value(index, LONG) * steps[(axis,)]
        # A place is in range by its making; the clip says so where that cannot be seen.
        return te.as_index(te.maximum(te.minimum(at, te.index_value(data.shape[axis] - 1, LONG)), 0))

    def element(*i: IntExpr) -> Value:
        return data[tuple(place(axis, index) for axis, index in enumerate(i))]

    return te.compute(result.shape, element, name="strided_slice")


STRIDED_SLICE = define(
    "dyn.strided_slice",
    "Elements at regular distances, between places that are computed at run time.",
    inputs=_SLICE_INPUTS,
    attributes=DynStridedSliceAttributes,
    type_rule=_slice_rule,
    meaning=_slice_meaning,
    compute=_slice_compute,
    fusion=FusionKind.OPAQUE,
    layout=OWN_SHAPE,
    extents=FromValues(_slice_extents, _SLICE_FAILURES),
    effect=Effect.PURE,
    gradient=gradient_above("dynamic", "of_strided_slice"),
    batch=DEPENDS_ON_VALUES,
    scale=MOVES_ELEMENTS,
    support_level=4,
)


def strided_slice(
    data: Argument, begin: Argument, end: Argument, strides: Argument, slice_mode: str = "end"
) -> Call:  # fmt: skip
    """data[begin:end:strides] along the first axes, as Python slices. With `slice_mode="size"`, `end` has sizes, -1 for
    all that is left. Raises `unknown-rank`, `wrong-shape`, `wrong-attribute`, `wrong-dtype`."""
    return call(STRIDED_SLICE, (data, begin, end, strides), DynStridedSliceAttributes(slice_mode))

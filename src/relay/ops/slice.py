"""Parts of tensors, and repeated tensors: strided_slice, slice_like, tile, repeat, broadcast_to, broadcast_to_like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relay import te
from relay.arith.bounds import Interval
from relay.arith.expr import Comparison, IntExpr, ceil_divide, free_symbols, maximum, minimum
from relay.arith.simplify import simplify
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.types import ANY, Dimension, TensorType, Type
from relay.ops.build import Argument, call, dimension
from relay.arith.prove import Proof
from relay.ops.dimensions import decide_equal, derived
from relay.ops.elementwise import broadcast_indices
from relay.ops.layout_rule import AxisAttribute, OwnLayout
from relay.ops.record import FusionKind, OperatorRecord, define
from relay.ops.relating import RelationRun
from relay.ops.rounding import Array


@dataclass(frozen=True, slots=True)
class StridedSliceAttributes(Attributes):
    """One entry for each of `axes` (None: the first axes). Negative places count from the end; all are moved into the
    data. `slice_mode` `size`: `end` gives sizes, -1 for all that is left, and strides are 1."""

    begin: tuple[IntExpr, ...]
    end: tuple[IntExpr, ...]
    strides: tuple[int, ...] = ()
    slice_mode: str = "end"
    axes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class SliceLikeAttributes(Attributes):
    axes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class TileAttributes(Attributes):
    reps: tuple[IntExpr, ...]


@dataclass(frozen=True, slots=True)
class RepeatAttributes(Attributes):
    repeats: int
    axis: int | None = None


@dataclass(frozen=True, slots=True)
class BroadcastToAttributes(Attributes):
    shape: tuple[IntExpr, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """`size` elements from `start` on, `stride` apart."""

    start: Dimension
    size: Dimension
    stride: int = 1


def _non_negative(expr: IntExpr) -> IntExpr:
    """`expr` simplified, knowing that extents are not negative."""
    return expr if isinstance(expr, int) else simplify(expr, {symbol: Interval(0, None) for symbol in free_symbols(expr)})


def _place(place: IntExpr, extent: Dimension, low: IntExpr, high: IntExpr) -> IntExpr:
    """A place counted from the front and moved between `low` and `high`. Symbolic places count from the front."""
    if isinstance(place, int) and place < 0:
        place = extent + place
    if isinstance(place, int) and place >= 2**31 - 1:
        return high
    return _non_negative(maximum(minimum(place, high), low))


def _one_slice(begin: IntExpr, end: IntExpr, stride: int, extent: Dimension) -> Slice:
    if extent is ANY:
        return Slice(ANY, ANY, stride)
    if stride > 0:
        start, stop = _place(begin, extent, 0, extent), _place(end, extent, 0, extent)
        return Slice(start, _non_negative(maximum(ceil_divide(stop - start, stride), 0)), stride)
    start = _place(begin, extent, -1, extent - 1)
    # Counting down, an end before the first element is -1; written as a number that large below, it is all of them.
    stop = -1 if isinstance(end, int) and end <= -(2**31 - 1) else _place(end, extent, -1, extent - 1)
    return Slice(start, _non_negative(maximum(ceil_divide(start - stop, -stride), 0)), stride)


def slices_of(attributes: StridedSliceAttributes, shape: Sequence[Dimension]) -> tuple[Slice, ...]:
    """What is taken along each axis of data of this shape."""
    axes = attributes.axes if attributes.axes is not None else tuple(range(len(attributes.begin)))
    given = {axis % len(shape): position for position, axis in enumerate(axes)}
    slices: list[Slice] = []
    for axis, extent in enumerate(shape):
        position = given.get(axis)
        if position is None or position >= len(attributes.begin):
            slices.append(Slice(0, extent))
            continue
        begin = attributes.begin[position]
        end: IntExpr = attributes.end[position] if position < len(attributes.end) else 2**31 - 1
        stride = attributes.strides[min(position, len(attributes.strides) - 1)] if attributes.strides else 1
        if attributes.slice_mode == "size":
            whole = isinstance(end, int) and end < 0
            first = extent + begin if isinstance(begin, int) and begin < 0 and extent is not ANY else begin
            end, stride = (2**31 - 1, 1) if whole else (first + end, 1)
        slices.append(_one_slice(begin, end, stride, extent))
    return tuple(slices)


def _strided_slice_rule(run: RelationRun, attributes: StridedSliceAttributes) -> Type:
    data = run.tensor(0)
    rank = len(data.shape)
    if attributes.slice_mode not in ("end", "size"):
        run.conflict("wrong-attribute", "`slice_mode` is not known", "`end` or `size`", attributes.slice_mode)
    if any(stride == 0 for stride in attributes.strides):
        run.conflict("wrong-attribute", "`strides` must not be 0", "1 or more, or negative", str(attributes.strides))
    named = [run.axis(axis, rank, "axes") for axis in attributes.axes or ()]
    count = len(attributes.begin)
    if len(set(named)) != len(named) or (attributes.axes is not None and len(named) != count) or count > rank:
        run.conflict("wrong-attribute", "`begin` must have one place for each axis that is sliced",
                     f"{len(named) if attributes.axes is not None else f'at most {rank}'} places", str(attributes.begin))  # fmt: skip
    return TensorType(tuple(part.size for part in slices_of(attributes, data.shape)), data.dtype)


def _strided_slice_meaning(attributes: StridedSliceAttributes, data: Array) -> Array:
    parts = slices_of(attributes, data.shape)
    places = [int(p.start) + int(p.stride) * np.arange(int(p.size)) for p in parts]  # pyright: ignore[reportArgumentType]
    return data[np.ix_(*places)] if places else data.copy()


def _strided_slice_compute(attributes: StridedSliceAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    parts = slices_of(attributes, data.shape)
    return te.compute(
        result.shape,
        lambda *i: data[tuple(part.start + at * part.stride for part, at in zip(parts, i, strict=True))],
        name="strided_slice",
    )


def _slice_like_rule(run: RelationRun, attributes: SliceLikeAttributes) -> Type:
    """data[..] × shape_like[..] → data's first elements along `axes`, as many as shape_like has there"""
    data, like = run.tensor(0), run.tensor(1)
    if attributes.axes is None and len(like.shape) > len(data.shape):
        run.conflict("wrong-rank", "`shape_like` must not have more axes than `data`", str(data), str(like))
    axes = _like_axes(attributes, len(data.shape), len(like.shape))
    for axis in attributes.axes or ():
        run.axis(axis, min(len(data.shape), len(like.shape)), "axes")
    for axis in axes:
        wanted, extent = like.shape[axis], data.shape[axis]
        if wanted is not ANY and extent is not ANY:
            run.require(Comparison(wanted, "<=", extent), "slice-too-large",
                        f"axis {axis} of `shape_like` is longer than that of `data`", (0, 1))  # fmt: skip
    return TensorType(
        tuple(like.shape[axis] if axis in axes else extent for axis, extent in enumerate(data.shape)), data.dtype
    )


def _like_axes(attributes: SliceLikeAttributes, rank: int, like_rank: int) -> tuple[int, ...]:
    if attributes.axes is None:
        return tuple(range(like_rank))
    return tuple(axis % rank for axis in attributes.axes)


def _slice_like_meaning(attributes: SliceLikeAttributes, data: Array, like: Array) -> Array:
    axes = _like_axes(attributes, data.ndim, like.ndim)
    return data[tuple(slice(like.shape[axis]) if axis in axes else slice(None) for axis in range(data.ndim))]


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
            at if rep == 1 else at % extent
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
        run.conflict("wrong-rank", "`data` has more axes than the shape it is broadcast to", f"at most {len(shape)} axes",
                     str(data), (0,))  # fmt: skip
    for axis, (extent, wanted) in enumerate(zip(reversed(data.shape), reversed(shape), strict=False), start=1):
        if extent != 1 and decide_equal(extent, wanted) is not Proof.YES:
            run.equal(wanted, extent, f"axis {-axis} of `data`", (0,), "only extents of 1 are repeated")
    return TensorType(shape, data.dtype)


def _broadcast_compute(name: str) -> Any:
    def compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
        data = inputs[0]
        return te.compute(result.shape, lambda *i: data[broadcast_indices(data, i)], name=name)

    return compute


def _record(name: str, description: str, layout: Any = None, level: int = 3, **fields: Any) -> OperatorRecord:
    return define(
        name, description, support_level=level,
        layout=layout or OwnLayout("its attributes count axes in their order"), **fields,
    )  # fmt: skip


STRIDED_SLICE = _record(
    "strided_slice", "Elements at regular distances.", inputs={"data": "[..]"}, attributes=StridedSliceAttributes,
    type_rule=_strided_slice_rule, meaning=_strided_slice_meaning, compute=_strided_slice_compute,
    fusion=FusionKind.INJECTIVE, level=4,
)  # fmt: skip
SLICE_LIKE = _record(
    "slice_like", "The first elements, as many as another tensor has.", level=10,
    inputs={"data": "[..]", "shape_like": "[..], whose extents are taken"}, attributes=SliceLikeAttributes,
    type_rule=_slice_like_rule, meaning=_slice_like_meaning,
    compute=lambda _, inputs, result: te.compute(result.shape, lambda *i: inputs[0][i], name="slice_like"),
    fusion=FusionKind.INJECTIVE,
)  # fmt: skip
TILE = _record(
    "tile", "The tensor repeated as a whole.", inputs={"data": "[..]"}, attributes=TileAttributes,
    type_rule=_tile_rule, meaning=lambda attributes, data: np.tile(data, attributes.reps), compute=_tile_compute,
    fusion=FusionKind.INJECTIVE,
)  # fmt: skip
REPEAT = _record(
    "repeat", "Each element repeated along an axis.", AxisAttribute("axis"), inputs={"data": "[..]"},
    attributes=RepeatAttributes, type_rule=_repeat_rule, compute=_repeat_compute,
    meaning=lambda attributes, data: np.repeat(data, attributes.repeats, attributes.axis),
    fusion=FusionKind.INJECTIVE,
)  # fmt: skip
BROADCAST_TO = _record(
    "broadcast_to", "The tensor repeated to a shape.", inputs={"data": "[..]"}, attributes=BroadcastToAttributes,
    type_rule=lambda run, attributes: _broadcast_to(run, run.tensor(0), attributes.shape),
    meaning=lambda attributes, data: np.broadcast_to(data, attributes.shape).copy(),
    compute=_broadcast_compute("broadcast_to"), fusion=FusionKind.BROADCAST, level=4,
)  # fmt: skip
BROADCAST_TO_LIKE = _record(
    "broadcast_to_like", "The tensor repeated to the shape of another.",
    inputs={"data": "[..]", "broadcast_type": "[..], whose shape is taken"},
    type_rule=lambda run, _: _broadcast_to(run, run.tensor(0), run.tensor(1).shape),
    meaning=lambda _, data, like: np.broadcast_to(data, like.shape).copy(),
    compute=_broadcast_compute("broadcast_to_like"), fusion=FusionKind.BROADCAST, level=10,
)  # fmt: skip

SLICES: tuple[OperatorRecord, ...] = (STRIDED_SLICE, SLICE_LIKE, TILE, REPEAT, BROADCAST_TO, BROADCAST_TO_LIKE)


def strided_slice(
    data: Argument, begin: Sequence[IntExpr], end: Sequence[IntExpr], strides: Sequence[int] | None = None,
    axes: Sequence[int] | None = None, slice_mode: str = "end",
) -> Call:  # fmt: skip
    """data[begin:end:strides] along `axes` (None: the first ones), as Python slices: negative places count from the
    end, and places outside are moved inside. With `slice_mode="size"`, `end` has sizes, -1 for all that is left.

    Raises `RelayError`: `wrong-attribute`, `axis-out-of-range`.

    >>> from relay.ops.build import var
    >>> print(strided_slice(var("x", shape=("n", 10)), [1, 0], [2**31 - 1, -1], [1, 2]).checked_type)
    Tensor[(n - min(1, n), 5), float32]
    """
    attributes = StridedSliceAttributes(
        tuple(begin), tuple(end), tuple(strides or ()), slice_mode, None if axes is None else tuple(axes)
    )
    return call(STRIDED_SLICE, (data,), attributes)


def slice_like(data: Argument, shape_like: Argument, axes: Sequence[int] | None = None) -> Call:
    """The first elements of `data` along `axes` (None: all that `shape_like` has), as many as `shape_like` has.

    Raises `RelayError`: `slice-too-large`, `wrong-rank`, `axis-out-of-range`.
    """
    return call(SLICE_LIKE, (data, shape_like), SliceLikeAttributes(None if axes is None else tuple(axes)))


def tile(data: Argument, reps: Sequence[IntExpr] | int) -> Call:
    """`data` repeated `reps` times along each axis, the last ones when there are fewer; new axes in front when more."""
    return call(TILE, (data,), TileAttributes((reps,) if isinstance(reps, int) else tuple(reps)))


def repeat(data: Argument, repeats: int, axis: int | None = None) -> Call:
    """Each element of `data` repeated along `axis`. Raises `wrong-attribute`, `axis-out-of-range`."""
    return call(REPEAT, (data,), RepeatAttributes(repeats, axis))


def broadcast_to(data: Argument, shape: Sequence[IntExpr | str]) -> Call:
    """`data` repeated to `shape`, aligned at the last axis. Raises `extents-differ`, `wrong-rank`."""
    return call(BROADCAST_TO, (data,), BroadcastToAttributes(tuple(dimension(extent) for extent in shape)))


def broadcast_to_like(data: Argument, broadcast_type: Argument) -> Call:
    """`data` repeated to the shape of another tensor. Raises `extents-differ`, `wrong-rank`."""
    return call(BROADCAST_TO_LIKE, (data, broadcast_type))

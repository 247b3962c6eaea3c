"""Parts of tensors: strided_slice, slice_like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from relay import te
from relay.arith.bounds import Interval
from relay.arith.expr import Comparison, IntExpr, ceil_divide, free_symbols, maximum, minimum
from relay.arith.simplify import simplify
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr, ExprBase
from relay.ir.operator import Effect
from relay.ir.types import ANY, Dimension, TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET, AlongAxes
from relay.ops.framework.build import Argument, call, is_dynamic, items, static_shape, whole_numbers
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, StaticOf, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.symbolic_integer import expr_of


@frozen
class StridedSliceAttributes(Attributes):
    """One entry for each of `axes` (None: the first axes); `begin` and `end` may be shorter, which takes all from there
    on. Negative places count from the end; all are moved into the data. `slice_mode` `size`: `end` gives sizes, -1 for
    all that is left, and strides are 1."""

    begin: tuple[IntExpr, ...]
    end: tuple[IntExpr, ...]
    strides: tuple[int, ...] = ()
    slice_mode: str = "end"
    axes: tuple[int, ...] | None = None


@frozen
class SliceLikeAttributes(Attributes):
    axes: tuple[int, ...] | None = None


_LARGEST = 2**31 - 1  # as a place: the end of an axis, whatever its extent


@frozen
class Slice:
    """`size` elements from `start` on, `stride` apart."""

    start: Dimension
    size: Dimension
    stride: int = 1


def _non_negative(expr: IntExpr) -> IntExpr:
    """`expr` simplified, knowing that extents are not negative."""
    return (
        expr if isinstance(expr, int) else simplify(expr, {symbol: Interval(0, None) for symbol in free_symbols(expr)})
    )


def _place(place: IntExpr, extent: Dimension, low: IntExpr, high: IntExpr) -> IntExpr:
    """A place counted from the front and moved between `low` and `high`. Symbolic places count from the front."""
    if isinstance(place, int) and place < 0:
        place = extent + place
    if isinstance(place, int) and place >= _LARGEST:
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
    stop = -1 if isinstance(end, int) and end <= -_LARGEST else _place(end, extent, -1, extent - 1)
    return Slice(start, _non_negative(maximum(ceil_divide(start - stop, -stride), 0)), stride)


def _places(attributes: StridedSliceAttributes) -> int:
    """How many axes the places are given for."""
    return max(len(attributes.begin), len(attributes.end), len(attributes.strides))


def slices_of(attributes: StridedSliceAttributes, shape: Sequence[Dimension]) -> tuple[Slice, ...]:
    """What is taken along each axis of data of this shape."""
    axes = attributes.axes if attributes.axes is not None else tuple(range(_places(attributes)))
    given = {axis % len(shape): position for position, axis in enumerate(axes)}
    slices: list[Slice] = []
    for axis, extent in enumerate(shape):
        position = given.get(axis)
        if position is None:
            slices.append(Slice(0, extent))
            continue
        stride = attributes.strides[min(position, len(attributes.strides) - 1)] if attributes.strides else 1
        first, last = (0, _LARGEST) if stride > 0 else (_LARGEST, -_LARGEST)
        begin: IntExpr = attributes.begin[position] if position < len(attributes.begin) else first
        end: IntExpr = attributes.end[position] if position < len(attributes.end) else last
        if attributes.slice_mode == "size":
            whole = isinstance(end, int) and end < 0
            first = extent + begin if isinstance(begin, int) and begin < 0 and extent is not ANY else begin
            end, stride = (_LARGEST, 1) if whole else (first + end, 1)
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
    count = _places(attributes)
    if len(set(named)) != len(named) or (attributes.axes is not None and len(named) != count) or count > rank:
        wanted = len(named) if attributes.axes is not None else f"at most {rank}"
        run.conflict("wrong-attribute", "`begin` and `end` must have one place for each axis that is sliced",
                     f"{wanted} places, of distinct axes", f"{attributes.begin} and {attributes.end}")  # fmt: skip
    return TensorType(tuple(part.size for part in slices_of(attributes, data.shape)), data.dtype)


def _strided_slice_meaning(attributes: StridedSliceAttributes, data: Array) -> Array:
    parts = slices_of(attributes, data.shape)
    places = [int(p.start) + int(p.stride) * np.arange(int(p.size)) for p in parts]  # pyright: ignore[reportArgumentType]
    return data[np.ix_(*places)] if places else data.copy()


def _strided_slice_compute(
    attributes: StridedSliceAttributes, inputs: tuple[te.Tensor], result: TensorType
) -> te.Tensor:
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


def _sliced_axes(attributes: StridedSliceAttributes, rank: int) -> tuple[int, ...]:
    return tuple(range(len(attributes.begin)) if attributes.axes is None else (axis % rank for axis in attributes.axes))


def _with_sliced_axes(attributes: StridedSliceAttributes, axes: tuple[int, ...]) -> StridedSliceAttributes:
    return replace(attributes, axes=axes)


def _record(name: str, description: str, layout: Any = None, level: int = 3, **fields: Any) -> OperatorRecord:
    return define(
        name, description, effect=Effect.PURE, scale=MOVES_ELEMENTS, support_level=level,
        layout=layout or OwnLayout("its attributes count axes in their order"), **fields,
    )  # fmt: skip


def _static_slice(
    attributes: dyn.DynStridedSliceAttributes, begin: Array, end: Array, strides: Array
) -> StridedSliceAttributes | None:  # fmt: skip
    """Places that the run knows must not count from the end."""
    if not all(isinstance(expr_of(place), int) or place >= 0 for place in (*begin, *end)):
        return None
    first, last, steps = tuple(map(expr_of, begin)), tuple(map(expr_of, end)), tuple(map(int, strides))
    if attributes.slice_mode == "size":
        return StridedSliceAttributes(first, last, (1,) * len(first), "size")
    return None if 0 in steps else StridedSliceAttributes(first, last, steps, attributes.slice_mode)


STRIDED_SLICE = _record(
    "strided_slice", "Elements at regular distances.", inputs={"data": "[..]"}, attributes=StridedSliceAttributes,
    type_rule=_strided_slice_rule, meaning=_strided_slice_meaning, compute=_strided_slice_compute,
    fusion=FusionKind.INJECTIVE, batch=AlongAxes(_sliced_axes, _with_sliced_axes), level=4,
    gradient=gradient_above("manipulation", "of_strided_slice"), static_of=StaticOf(dyn.STRIDED_SLICE, _static_slice),
)  # fmt: skip
SLICE_LIKE = _record(
    "slice_like", "The first elements, as many as another tensor has.", level=10,
    inputs={"data": "[..]", "shape_like": "[..], whose extents are taken"}, attributes=SliceLikeAttributes,
    type_rule=_slice_like_rule, meaning=_slice_like_meaning,
    compute=lambda _, inputs, result: te.compute(result.shape, lambda *i: inputs[0][i], name="slice_like"),
    fusion=FusionKind.INJECTIVE, batch=NO_BATCH_RULE_YET, gradient=gradient_above("manipulation", "of_slice_like"),
)  # fmt: skip
SLICES: tuple[OperatorRecord, ...] = (STRIDED_SLICE, SLICE_LIKE)


def strided_slice(
    data: Argument, begin: Sequence[IntExpr] | Expr, end: Sequence[IntExpr] | Expr,
    strides: Sequence[int] | Expr | None = None, axes: Sequence[int] | None = None, slice_mode: str = "end",
) -> Call:  # fmt: skip
    """data[begin:end:strides] along `axes` (None: the first ones), as Python slices: negative places count from the
    end, and places outside are moved inside. With `slice_mode="size"`, `end` has sizes, -1 for all that is left.
    Places that are an expression and no constant make a `dyn.strided_slice`, which slices the first axes.

    Raises `RelayError`: `wrong-attribute`, `axis-out-of-range`.

    >>> from relay.ops.framework.build import var
    >>> print(strided_slice(var("x", shape=("n", 10)), [1, 0], [2**31 - 1, -1], [1, 2]).checked_type)
    Tensor[(n - min(1, n), 5), float32]
    """
    if is_dynamic(begin) or is_dynamic(end) or (strides is not None and is_dynamic(strides)):
        return _dynamic_slice(data, begin, end, strides, axes, slice_mode)
    first, last, steps = (_entries(places) for places in (begin, end, () if strides is None else strides))
    attributes = StridedSliceAttributes(first, last, steps, slice_mode, items(axes))
    return call(STRIDED_SLICE, (data,), attributes)


def _entries(places: Sequence[IntExpr] | Expr) -> tuple[Any, ...]:
    given = static_shape(places)
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _dynamic_slice(
    data: Argument, begin: Sequence[IntExpr] | Expr, end: Sequence[IntExpr] | Expr,
    strides: Sequence[int] | Expr | None, axes: Sequence[int] | None, slice_mode: str,
) -> Call:  # fmt: skip
    axes = items(axes)
    if axes is not None and axes != tuple(range(len(axes) if isinstance(axes, tuple) else 0)):
        raise RelayError(
            rule="wrong-attribute", message="a slice between places that are computed at run time is of the first axes",
            found=str(axes), remedy="leave `axes` out, and give 0 and the extent for axes that stay whole",
            span=caller_span(),
        )  # fmt: skip
    known = next(each for each in (begin, end, strides) if each is not None and is_dynamic(each)).checked_type
    count = known.shape[0] if isinstance(known, TensorType) and len(known.shape) == 1 else len(_entries(begin))
    steps = (1,) * count if strides is None and isinstance(count, int) else strides
    first, last, by = (
        each if isinstance(each, ExprBase) else whole_numbers(each, "a place or step of a slice")
        for each in (begin, end, steps)
    )
    return dyn.strided_slice(data, first, last, by, slice_mode)


def slice_like(data: Argument, shape_like: Argument, axes: Sequence[int] | None = None) -> Call:
    """The first elements of `data` along `axes` (None: all that `shape_like` has), as many as `shape_like` has.

    Raises `RelayError`: `slice-too-large`, `wrong-rank`, `axis-out-of-range`.
    """
    return call(SLICE_LIKE, (data, shape_like), SliceLikeAttributes(items(axes)))

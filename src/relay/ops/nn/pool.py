"""Pooling: windows of fixed size, of the whole space, or adapted to a wanted result.   data[N, C, space]"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide, maximum, minimum
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import counted
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import Layout, parse_layout, relayout
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, mean_of, to_dtype, wide
from relay.ops.framework.scale_role import PassesScale
from relay.ops.framework.window import (
    Pads,
    check_layout,
    check_windows,
    full_padding,
    padded_array,
    pads_of,
    per_axis,
    sliding_windows,
    spatial_axes,
    windows_along,
)  # fmt: skip
from relay.te.reducers import lowest
from relay.tir.expr import Value


@frozen
class PoolAttributes(Attributes):
    """Of a pooling over W; those over more axes have their own defaults. `padding`: before each axis, then after each
    (top, left, bottom, right). `ceil_mode` keeps partial windows at the end that start inside the data."""

    pool_size: tuple[int, ...]
    strides: tuple[int, ...] = (1,)
    dilation: tuple[int, ...] = (1,)
    padding: tuple[int, ...] = (0, 0)
    layout: str = "NCW"
    out_layout: str = ""
    ceil_mode: bool = False

    rank: ClassVar[int] = 1


@frozen
class MaxPoolAttributes(PoolAttributes):
    """Of the largest elements."""


@frozen
class AvgPoolAttributes(PoolAttributes):
    """`count_include_pad`: padding counts as zeros, else the mean is of the data in the window alone."""

    count_include_pad: bool = False


@frozen
class MaxPool1DAttributes(MaxPoolAttributes):
    """Over W."""


@frozen
class MaxPool2DAttributes(MaxPoolAttributes):
    """Over H and W."""

    strides: tuple[int, ...] = (1, 1)
    dilation: tuple[int, ...] = (1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0)
    layout: str = "NCHW"

    rank: ClassVar[int] = 2


@frozen
class MaxPool3DAttributes(MaxPoolAttributes):
    """Over D, H and W."""

    strides: tuple[int, ...] = (1, 1, 1)
    dilation: tuple[int, ...] = (1, 1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    layout: str = "NCDHW"

    rank: ClassVar[int] = 3


@frozen
class AvgPool1DAttributes(AvgPoolAttributes):
    """Over W."""


@frozen
class AvgPool2DAttributes(AvgPoolAttributes):
    """Over H and W."""

    strides: tuple[int, ...] = (1, 1)
    dilation: tuple[int, ...] = (1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0)
    layout: str = "NCHW"

    rank: ClassVar[int] = 2


@frozen
class AvgPool3DAttributes(AvgPoolAttributes):
    """Over D, H and W."""

    strides: tuple[int, ...] = (1, 1, 1)
    dilation: tuple[int, ...] = (1, 1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    layout: str = "NCDHW"

    rank: ClassVar[int] = 3


@frozen
class Geometry:
    """The attributes of a pooling with everything spelled out."""

    axes: tuple[str, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]
    layout: Layout
    out: Layout

    @property
    def pads(self) -> Pads:
        return pads_of(self.padding)


def geometry_of(attributes: PoolAttributes) -> Geometry:
    rank = attributes.rank
    return Geometry(
        spatial_axes(rank),
        per_axis(attributes.pool_size, rank),
        per_axis(attributes.strides, rank),
        per_axis(attributes.dilation, rank),
        full_padding(attributes.padding, rank),
        parse_layout(attributes.layout),
        parse_layout(attributes.out_layout or attributes.layout),
    )


def _pool_rule(run: RelationRun, attributes: PoolAttributes) -> Type:
    """data[N, C, space] → [N, C, windows]"""
    rank, g = attributes.rank, geometry_of(attributes)
    check_layout(run, g.axes, g.layout, g.out)
    check_windows(run, rank, pool_size=g.window, strides=g.strides, dilation=g.dilation, padding=g.padding)
    data = run.tensor(0, g.layout.rank)
    run.dtype_in(0, lambda dtype: not dtype.is_bool, "a number type")
    extents = g.layout.extents(data.shape)
    for axis, window, stride, dilation, pads in zip(g.axes, g.window, g.strides, g.dilation, g.pads, strict=True):
        extents[axis] = windows_along(
            run, axis, extents[axis], window, stride, dilation, pads, ceil_mode=attributes.ceil_mode
        )
    return TensorType(g.out.shape(extents), data.dtype)


def windows_of(attributes: PoolAttributes, g: Geometry, data: Array, fill: float) -> tuple[Array, list[Array], Layout]:
    """`(windows[N, C, *counts, *taps], how many taps count along each axis, the plain layout)`."""
    plain = parse_layout("NC" + "".join(g.axes))
    x = relayout(wide(data), g.layout, plain)
    counts: list[int] = []
    tails: list[tuple[int, int]] = []
    sizes: list[Array] = []
    for size, window, stride, dilation, (before, after) in zip(
        x.shape[2:], g.window, g.strides, g.dilation, g.pads, strict=True
    ):
        span = dilation * (window - 1) + 1
        room = size + before + after - span
        count = room // stride + 1
        if attributes.ceil_mode:
            count = min(-(-room // stride) + 1, (size + before - 1) // stride + 1)
        reach = (count - 1) * stride + span
        counts.append(count)
        tails.append((before, max(after, reach - size - before)))
        taps = np.arange(count)[:, None] * stride - before + np.arange(window) * dilation
        include = getattr(attributes, "count_include_pad", False)
        counted = (taps < size + after) if include else ((taps >= 0) & (taps < size))
        sizes.append(np.maximum(counted.sum(axis=1), 1))
    taps = sliding_windows(padded_array(x, tuple(tails), fill), g.window, g.strides, g.dilation, counts)
    return taps, sizes, plain


def _max_pool_meaning(attributes: PoolAttributes, data: Array) -> Array:
    g = geometry_of(attributes)
    dtype = dtype_of(data.dtype)
    taps, _, plain = windows_of(attributes, g, data, lowest(dtype))
    return relayout(to_dtype(taps.max(axis=tuple(range(-attributes.rank, 0))), dtype), plain, g.out)


def _avg_pool_meaning(attributes: PoolAttributes, data: Array) -> Array:
    g = geometry_of(attributes)
    dtype = dtype_of(data.dtype)
    taps, sizes, plain = windows_of(attributes, g, data, 0)
    with np.errstate(all="ignore"):
        total = taps.sum(axis=tuple(range(-attributes.rank, 0)), dtype=dtype.computation.numpy)
    count = np.ones((), np.int64)
    for size in sizes:
        count = count[..., None] * size
    return relayout(to_dtype(mean_of(total, count), dtype), plain, g.out)


def tap_positions(g: Geometry, at: Any, taps: Sequence[IntExpr]) -> dict[str, IntExpr]:
    return {
        axis: at[axis] * stride - before + tap * dilation
        for axis, stride, dilation, (before, _), tap in zip(
            g.axes, g.strides, g.dilation, g.pads, taps, strict=True
        )
    }  # fmt: skip


def is_inside(attributes: PoolAttributes, g: Geometry, positions: dict[str, IntExpr], sizes: Any) -> Value | None:
    """That a tap reads the data; None when it always does."""
    conditions: list[Value] = []
    for axis, (before, after) in zip(g.axes, g.pads, strict=True):
        conditions += [te.greater_equal(positions[axis], 0)] if before else []
        conditions += [te.less(positions[axis], sizes[axis])] if after or attributes.ceil_mode else []
    return te.all_of(conditions) if conditions else None


def _reduce_windows(
    combine: Callable[..., Any], attributes: PoolAttributes, g: Geometry, data: te.Tensor, result: TensorType,
    dtype: DType, name: str,
) -> te.Tensor:  # fmt: skip
    taps = [te.reduce_axis(window, f"r{axis.lower()}") for axis, window in zip(g.axes, g.window, strict=True)]
    sizes = g.layout.extents(data.shape)

    def element(*indices: IntExpr) -> Any:
        at = g.out.positions(indices)
        positions = tap_positions(g, at, taps)
        read = data[g.layout.indices({**at, **positions})]
        return combine(te.cast(read, dtype), axis=taps, where=is_inside(attributes, g, positions, sizes))

    return te.compute(result.shape, element, name=name)


def _max_pool_compute(attributes: PoolAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """One stage, such as `max_pool2d`."""
    g = geometry_of(attributes)
    return _reduce_windows(te.max, attributes, g, inputs[0], result, result.dtype, f"max_pool{attributes.rank}d")


def _avg_pool_compute(attributes: PoolAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """Stages `pool_sum` and one such as `avg_pool2d`, which divides by the number of elements that count."""
    g = geometry_of(attributes)
    (data,) = inputs
    wide_dtype = result.dtype.computation
    total = _reduce_windows(te.sum, attributes, g, data, result, wide_dtype, "pool_sum")
    sizes = g.layout.extents(data.shape)

    def element(*indices: IntExpr) -> Value:
        at = g.out.positions(indices)
        counts = [_counted_taps(attributes, g, position, at[axis], sizes[axis]) for position, axis in enumerate(g.axes)]
        return te.cast(total[indices] / counted(counts, wide_dtype), result.dtype)

    return te.compute(result.shape, element, name=f"avg_pool{attributes.rank}d")


def _counted_taps(attributes: PoolAttributes, g: Geometry, position: int, at: IntExpr, size: IntExpr) -> IntExpr:
    """How many taps of the window at `at` along an axis count in a mean."""
    before, after = g.pads[position]
    window, dilation = g.window[position], g.dilation[position]
    include = getattr(attributes, "count_include_pad", False)
    if not attributes.ceil_mode and (include or (before, after) == (0, 0)):
        return window
    start = at * g.strides[position] - before
    end = minimum(window, ceil_divide(size + (after if include else 0) - start, dilation))
    first = 0 if include else maximum(0, ceil_divide(0 - start, dilation))
    return maximum(end - first, 1)


def _pool(kind: str, attributes: type[PoolAttributes], meaning: Any, compute: Any) -> OperatorRecord:
    return define(
        f"nn.{kind}_pool{attributes.rank}d",
        "The largest element of each window." if kind == "max" else "The mean of each window; integers truncate.",
        inputs={"data": "[N, C, space] in the order of layout"},
        attributes=attributes,
        type_rule=_pool_rule,
        meaning=meaning,
        compute=compute,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=LayoutAttribute("layout"),
        floating_point=FloatingPointClass.EXACT if kind == "max" else FloatingPointClass.ROUNDING,
        precision=PrecisionRule.FOLLOW,
        effect=Effect.PURE,
        gradient=gradient_above("windows", f"of_{kind}_pool"),
        batch=NO_BATCH_RULE_YET,
        scale=PassesScale(only_positive=kind == "max"),
        support_level=2,
    )


MAX_POOL1D = _pool("max", MaxPool1DAttributes, _max_pool_meaning, _max_pool_compute)
MAX_POOL2D = _pool("max", MaxPool2DAttributes, _max_pool_meaning, _max_pool_compute)
MAX_POOL3D = _pool("max", MaxPool3DAttributes, _max_pool_meaning, _max_pool_compute)
AVG_POOL1D = _pool("avg", AvgPool1DAttributes, _avg_pool_meaning, _avg_pool_compute)
AVG_POOL2D = _pool("avg", AvgPool2DAttributes, _avg_pool_meaning, _avg_pool_compute)
AVG_POOL3D = _pool("avg", AvgPool3DAttributes, _avg_pool_meaning, _avg_pool_compute)

POOLS: tuple[OperatorRecord, ...] = (MAX_POOL1D, MAX_POOL2D, MAX_POOL3D, AVG_POOL1D, AVG_POOL2D, AVG_POOL3D)


def _pooled(
    record: OperatorRecord, kind: type[PoolAttributes], data: Argument, pool_size: int | Sequence[int],
    strides: int | Sequence[int], dilation: int | Sequence[int], padding: int | Sequence[int], *others: str | bool,
) -> Call:  # fmt: skip
    rank = kind.rank
    per = (per_axis(pool_size, rank), per_axis(strides, rank), per_axis(dilation, rank), full_padding(padding, rank))
    return call(record, (data,), kind(*per, *others))  # pyright: ignore[reportArgumentType]


def max_pool1d(
    data: Argument, pool_size: int | Sequence[int] = 1, strides: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, layout: str = "NCW",
    out_layout: str = "", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, W] → [N, C, windows]. Arguments and errors as those of `max_pool2d`."""
    return _pooled(MAX_POOL1D, MaxPool1DAttributes, data, pool_size, strides, dilation, padding,
                   layout, out_layout, ceil_mode)  # fmt: skip


def max_pool2d(
    data: Argument, pool_size: int | Sequence[int] = (1, 1), strides: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1), padding: int | Sequence[int] = (0, 0), layout: str = "NCHW",
    out_layout: str = "", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, H, W] → [N, C, rows, columns], the largest element of each window.

    `padding` is one number, (vertical, horizontal), or (top, left, bottom, right); what is padded never wins. With
    `ceil_mode`, a last partial window counts if it starts inside the data or the padding before it.

    Raises `RelayError`: `window-too-large`, `bad-layout`, `wrong-attribute`, `wrong-rank`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> print(max_pool2d(var("x", shape=(1, 64, "h", 112)), (3, 3), (2, 2), padding=(1, 1)).checked_type)
    Tensor[(1, 64, (h + 1) // 2, 56), float32]
    """
    return _pooled(MAX_POOL2D, MaxPool2DAttributes, data, pool_size, strides, dilation, padding,
                   layout, out_layout, ceil_mode)  # fmt: skip


def max_pool3d(
    data: Argument, pool_size: int | Sequence[int] = (1, 1, 1), strides: int | Sequence[int] = (1, 1, 1),
    dilation: int | Sequence[int] = (1, 1, 1), padding: int | Sequence[int] = (0, 0, 0), layout: str = "NCDHW",
    out_layout: str = "", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, D, H, W] → [N, C, planes, rows, columns]. Arguments and errors as those of `max_pool2d`."""
    return _pooled(MAX_POOL3D, MaxPool3DAttributes, data, pool_size, strides, dilation, padding,
                   layout, out_layout, ceil_mode)  # fmt: skip


def avg_pool1d(
    data: Argument, pool_size: int | Sequence[int] = 1, strides: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, layout: str = "NCW",
    out_layout: str = "", ceil_mode: bool = False, count_include_pad: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, W] → [N, C, windows]. Arguments and errors as those of `avg_pool2d`."""
    return _pooled(AVG_POOL1D, AvgPool1DAttributes, data, pool_size, strides, dilation, padding,
                   layout, out_layout, ceil_mode, count_include_pad)  # fmt: skip


def avg_pool2d(
    data: Argument, pool_size: int | Sequence[int] = (1, 1), strides: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1), padding: int | Sequence[int] = (0, 0), layout: str = "NCHW",
    out_layout: str = "", ceil_mode: bool = False, count_include_pad: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, H, W] → [N, C, rows, columns], the mean of each window.

    With `count_include_pad` padding counts as zeros; without, the mean is of the data in the window alone. Other
    arguments and errors as those of `max_pool2d`.
    """
    return _pooled(AVG_POOL2D, AvgPool2DAttributes, data, pool_size, strides, dilation, padding,
                   layout, out_layout, ceil_mode, count_include_pad)  # fmt: skip


def avg_pool3d(
    data: Argument, pool_size: int | Sequence[int] = (1, 1, 1), strides: int | Sequence[int] = (1, 1, 1),
    dilation: int | Sequence[int] = (1, 1, 1), padding: int | Sequence[int] = (0, 0, 0), layout: str = "NCDHW",
    out_layout: str = "", ceil_mode: bool = False, count_include_pad: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, D, H, W] → [N, C, planes, rows, columns]. Arguments and errors as those of `avg_pool2d`."""
    return _pooled(AVG_POOL3D, AvgPool3DAttributes, data, pool_size, strides, dilation, padding,
                   layout, out_layout, ceil_mode, count_include_pad)  # fmt: skip

"""Pooling whose windows follow from the size of the result: global (one window) and adaptive.

Axes: data[N, C, space]. Window i of `count` along an axis of `size` is `floor(i·size/count) … ceil((i+1)·size/count)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import Comparison, IntExpr, ceil_divide
from relay.base.dtypes import dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import ANY, TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call
from relay.ops.framework.elementwise import counted
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import (
    FusionKind,
    Gradient,
    OperatorRecord,
    PrecisionRule,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, mean_of, to_dtype, wide
from relay.ops.framework.scale_role import PassesScale
from relay.ops.framework.window import check_layout, per_axis, spatial_axes
from relay.tir.expr import Value


@frozen
class GlobalPool2DAttributes(Attributes):
    layout: str = "NCHW"
    out_layout: str = ""


@frozen
class AdaptivePool2DAttributes(Attributes):
    """`output_size`: rows and columns of the result; empty for those of the data."""

    output_size: tuple[int, ...] = ()
    layout: str = "NCHW"
    out_layout: str = ""


AXES = spatial_axes(2)


def _counts(attributes: Any, extents: dict[str, Any]) -> tuple[Any, ...]:
    if isinstance(attributes, GlobalPool2DAttributes):
        return (1, 1)
    return per_axis(attributes.output_size, 2) if attributes.output_size else tuple(extents[axis] for axis in AXES)


def _rule(run: RelationRun, attributes: Any) -> Type:
    """data[N, C, H, W] → [N, C, rows, columns]"""
    layout = parse_layout(attributes.layout)
    out = parse_layout(attributes.out_layout or attributes.layout)
    check_layout(run, AXES, layout, out)
    data = run.tensor(0, layout.rank)
    run.dtype_in(0, lambda dtype: not dtype.is_bool, "a number type")
    extents = layout.extents(data.shape)
    counts = _counts(attributes, extents)
    if len(counts) != 2 or any(isinstance(count, int) and count < 1 for count in counts):
        run.conflict(
            "wrong-attribute", "`output_size` must be rows and columns", "two numbers of at least 1", str(counts)
        )
    for axis in AXES:
        if extents[axis] is not ANY:
            run.require(
                Comparison(1, "<=", extents[axis]), "empty-window", f"axis {axis} of `data` must not be empty", (0,)
            )
    return TensorType(out.shape({**extents, **dict(zip(AXES, counts, strict=True))}), data.dtype)


def window_bounds(i: Any, size: Any, count: Any) -> tuple[Any, Any]:
    """The window `[start, end)` of result element `i`."""
    return (i * size) // count, ceil_divide((i + 1) * size, count)


def _meaning(maximum: bool, attributes: Any, data: Array) -> Array:
    layout, plain = parse_layout(attributes.layout), parse_layout("NCHW")
    x = relayout(wide(data), layout, plain)
    counts = _counts(attributes, dict(zip("NCHW", x.shape, strict=True)))
    result = np.empty((*x.shape[:2], *counts), x.dtype)
    for row in range(counts[0]):
        top, bottom = window_bounds(row, x.shape[2], counts[0])
        for column in range(counts[1]):
            left, right = window_bounds(column, x.shape[3], counts[1])
            window = x[:, :, top:bottom, left:right]
            with np.errstate(all="ignore"):
                result[:, :, row, column] = (
                    window.max(axis=(2, 3)) if maximum
                    else mean_of(window.sum(axis=(2, 3), dtype=x.dtype), (bottom - top) * (right - left))
                )  # fmt: skip
    return relayout(
        to_dtype(result, dtype_of(data.dtype)), plain, parse_layout(attributes.out_layout or attributes.layout)
    )


def _compute(maximum: bool, name: str, attributes: Any, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    """One stage for a maximum; `pool_sum` and the division for a mean."""
    (data,) = inputs
    layout = parse_layout(attributes.layout)
    out = parse_layout(attributes.out_layout or attributes.layout)
    sizes = layout.extents(data.shape)
    counts = dict(zip(AXES, _counts(attributes, sizes), strict=True))
    whole = {axis: _divides(counts[axis], sizes[axis]) for axis in AXES}
    windows = {axis: ceil_divide(sizes[axis], counts[axis]) + (0 if whole[axis] else 1) for axis in AXES}
    taps = {axis: te.reduce_axis(windows[axis], f"r{axis.lower()}") for axis in AXES}
    dtype = result.dtype if maximum else result.dtype.computation

    def window(at: Any) -> dict[str, tuple[IntExpr, IntExpr]]:
        return {
            axis: (at[axis] * windows[axis], (at[axis] + 1) * windows[axis]) if whole[axis]
            else window_bounds(at[axis], sizes[axis], counts[axis])
            for axis in AXES
        }  # fmt: skip

    def reduced(*indices: IntExpr) -> Any:
        at = out.positions(indices)
        positions = {axis: start + taps[axis] for axis, (start, _) in window(at).items()}
        guards = [te.less(positions[axis], end) for axis, (_, end) in window(at).items() if not whole[axis]]
        read = te.cast(data[layout.indices({**at, **positions})], dtype)
        reduce = te.max if maximum else te.sum
        return reduce(read, axis=tuple(taps.values()), where=te.all_of(guards) if guards else None)

    total = te.compute(result.shape, reduced, name=name if maximum else "pool_sum")
    if maximum:
        return total

    def mean(*indices: IntExpr) -> Value:
        bounds = window(out.positions(indices))
        counts = [windows[axis] if whole[axis] else end - start for axis, (start, end) in bounds.items()]
        return te.cast(total[indices] / counted(counts, dtype), result.dtype)

    return te.compute(result.shape, mean, name=name)


def _divides(count: IntExpr, size: IntExpr) -> bool:
    return count == 1 or (isinstance(count, int) and isinstance(size, int) and size % count == 0)


def _record(
    name: str,
    description: str,
    attributes: type[Attributes],
    maximum: bool,
    level: int,
    gradient: Gradient,
) -> OperatorRecord:
    return define(
        f"nn.{name}",
        description,
        inputs={"data": "[N, C, H, W] in the order of layout"},
        attributes=attributes,
        type_rule=_rule,
        meaning=partial(_meaning, maximum),
        compute=partial(_compute, maximum, name),
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=LayoutAttribute("layout"),
        floating_point=FloatingPointClass.EXACT if maximum else FloatingPointClass.ROUNDING,
        precision=PrecisionRule.FOLLOW,
        effect=Effect.PURE,
        gradient=gradient,
        batch=NO_BATCH_RULE_YET,
        scale=PassesScale(only_positive=maximum),
        support_level=level,
    )


GLOBAL_MAX_POOL2D = _record(
    "global_max_pool2d",
    "The largest element of each channel.",
    GlobalPool2DAttributes,
    True,
    2,
    gradient_above("windows", "of_global_max_pool"),
)
GLOBAL_AVG_POOL2D = _record(
    "global_avg_pool2d",
    "The mean of each channel.",
    GlobalPool2DAttributes,
    False,
    2,
    gradient_above("windows", "of_global_avg_pool"),
)
ADAPTIVE_MAX_POOL2D = _record(
    "adaptive_max_pool2d",
    "The largest element of each of a given number of windows.",
    AdaptivePool2DAttributes,
    True,
    10,
    gradient_above("resampling", "of_adaptive_max_pool"),
)
ADAPTIVE_AVG_POOL2D = _record(
    "adaptive_avg_pool2d",
    "The mean of each of a given number of windows.",
    AdaptivePool2DAttributes,
    False,
    10,
    gradient_above("resampling", "of_adaptive_avg_pool"),
)

ADAPTIVE_POOLS: tuple[OperatorRecord, ...] = (
    GLOBAL_MAX_POOL2D, GLOBAL_AVG_POOL2D, ADAPTIVE_MAX_POOL2D, ADAPTIVE_AVG_POOL2D,
)  # fmt: skip


def global_max_pool2d(data: Argument, layout: str = "NCHW", out_layout: str = "") -> Call:
    """data[N, C, H, W] → [N, C, 1, 1], the largest element of each channel. Raises `bad-layout`, `empty-window`."""
    return call(GLOBAL_MAX_POOL2D, (data,), GlobalPool2DAttributes(layout, out_layout))


def global_avg_pool2d(data: Argument, layout: str = "NCHW", out_layout: str = "") -> Call:
    """data[N, C, H, W] → [N, C, 1, 1], the mean of each channel. Raises `bad-layout`, `empty-window`."""
    return call(GLOBAL_AVG_POOL2D, (data,), GlobalPool2DAttributes(layout, out_layout))


def adaptive_max_pool2d(
    data: Argument, output_size: int | Sequence[int] | None = None, layout: str = "NCHW", out_layout: str = ""
) -> Call:
    """data[N, C, H, W] → [N, C, *output_size], the largest element of each window; None keeps the size.

    Raises `RelayError`: `bad-layout`, `wrong-attribute`, `empty-window`.
    """
    return call(ADAPTIVE_MAX_POOL2D, (data,), AdaptivePool2DAttributes(_sizes(output_size), layout, out_layout))


def adaptive_avg_pool2d(
    data: Argument, output_size: int | Sequence[int] | None = None, layout: str = "NCHW", out_layout: str = ""
) -> Call:
    """data[N, C, H, W] → [N, C, *output_size], the mean of each window; None keeps the size.

    Raises `RelayError`: `bad-layout`, `wrong-attribute`, `empty-window`.
    """
    return call(ADAPTIVE_AVG_POOL2D, (data,), AdaptivePool2DAttributes(_sizes(output_size), layout, out_layout))


def _sizes(output_size: int | Sequence[int] | None) -> tuple[int, ...]:
    return () if output_size is None else per_axis(output_size, 2)

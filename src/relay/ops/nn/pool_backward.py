"""Gradients of pooling over data[N, C, space], in one sweep: each element of the data gathers from the windows that
hold it, which are few.

Of maxima it has to be known which element a window took: the number of the tap, the first of equals, rows first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call, item_or_items
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import (
    PIECEWISE_CONSTANT,
    FusionKind,
    Gradient,
    OperatorRecord,
    PrecisionRule,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun, TypeRule
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.ops.framework.window import (
    Pads,
    check_layout,
    check_windows,
    full_padding,
    pads_of,
    per_axis,
    spatial_axes,
)  # fmt: skip
from relay.ops.nn.matmul import rounded
from relay.ops.nn.pool import (
    MaxPool1DAttributes,
    MaxPool2DAttributes,
    MaxPool3DAttributes,
    MaxPoolAttributes,
    geometry_of,
    is_inside,
    tap_positions,
    windows_of,
)
from relay.te.reducers import lowest
from relay.tir.expr import Value


@frozen
class PoolGradAttributes(Attributes):
    """The windows of a pooling, everything spelled out; `size`: the extents of the data's space."""

    pool_size: tuple[int, ...]
    strides: tuple[int, ...]
    dilation: tuple[int, ...]
    padding: tuple[int, ...]
    size: tuple[IntExpr, ...]
    layout: str

    @property
    def rank(self) -> int:
        return len(self.pool_size)

    @property
    def axes(self) -> tuple[str, ...]:
        return spatial_axes(self.rank)

    @property
    def pads(self) -> Pads:
        return pads_of(self.padding)


# ---------------------------------------------------------------------------------------------- which tap a window took


def _taps_rule(run: RelationRun, attributes: MaxPoolAttributes) -> Type:
    """data[N, C, space] and result[N, C, windows] → [N, C, windows]"""
    g = geometry_of(attributes)
    check_layout(run, g.axes, g.layout, g.out)
    data, result = run.tensor(0, g.layout.rank), run.tensor(1, g.out.rank)
    extents, counts = g.layout.extents(data.shape), g.out.extents(result.shape)
    for axis, name in (("N", "batch"), ("C", "channels")):
        run.equal(extents[axis], counts[axis], f"the {name} of `result`", (0, 1), "it is what data were pooled to")
    return TensorType(result.shape, DType.INT32)


def _taps_meaning(attributes: MaxPoolAttributes, data: Array, result: Array) -> Array:
    g = geometry_of(attributes)
    taps, _, plain = windows_of(attributes, g, data, lowest(dtype_of(data.dtype)))
    found = relayout(wide(result), g.out, plain)
    flat = taps.reshape(*found.shape, -1) == found[..., None]
    return relayout(np.where(flat.any(axis=-1), flat.argmax(axis=-1), flat.shape[-1]).astype(np.int32), plain, g.out)


def _taps_compute(attributes: MaxPoolAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    g = geometry_of(attributes)
    data, found = inputs
    taps = [te.reduce_axis(window, f"r{axis.lower()}") for axis, window in zip(g.axes, g.window, strict=True)]
    sizes, none = g.layout.extents(data.shape), te.const(int(np.prod(g.window)), DType.INT32)

    def element(*indices: IntExpr) -> Any:
        at = g.out.positions(indices)
        positions = tap_positions(g, at, taps)
        is_it = te.equal(data[g.layout.indices({**at, **positions})], found[indices])
        number = te.select(is_it, te.index_value(_number(taps, g.window), DType.INT32), none)
        return te.min(number, axis=taps, where=is_inside(attributes, g, positions, sizes), initial=none)

    return te.compute(result.shape, element, name=f"max_pool{attributes.rank}d_taps")


def _number(taps: Sequence[IntExpr], window: Sequence[int]) -> IntExpr:
    total: IntExpr = 0
    for tap, count in zip(taps, window, strict=True):
        total = total * count + tap
    return total


def _taps(attributes: type[MaxPoolAttributes]) -> OperatorRecord:
    return define(
        f"nn.contrib_max_pool{attributes.rank}d_taps",
        "The number of the tap that each window of a max pooling took, the first of equals; that of all taps, of NaN.",
        inputs={"data": "[N, C, space] in the order of layout", "result": "[N, C, windows], the largest elements"},
        attributes=attributes,
        type_rule=_taps_rule,
        meaning=_taps_meaning,
        compute=_taps_compute,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=LayoutAttribute("layout", inputs=(0, 1)),
        precision=PrecisionRule.FOLLOW,
        effect=Effect.PURE,
        gradient=PIECEWISE_CONSTANT,
        batch=NO_BATCH_RULE_YET,
        support_level=10,
    )


# -------------------------------------------------------------------------------------------- what the data get of them


def _max_rule(run: RelationRun, attributes: PoolGradAttributes) -> Type:
    """grad[N, C, windows], and the taps that they took of the same shape → [N, C, space]"""
    result, given, taps = _avg_rule(run, attributes), run.tensor(0), run.tensor(1, len(run.tensor(0).shape))
    run.dtype_in(1, lambda dtype: dtype is DType.INT32, "int32")
    for position, (left, right) in enumerate(zip(given.shape, taps.shape, strict=True)):
        run.equal(left, right, f"axis {position} of `taps`", (0, 1), "there is a tap for each window")
    return result


def _avg_rule(run: RelationRun, attributes: PoolGradAttributes) -> Type:
    """grad[N, C, windows] → [N, C, space]"""
    rank, layout = attributes.rank, parse_layout(attributes.layout)
    check_layout(run, attributes.axes, layout)
    check_windows(run, rank, pool_size=attributes.pool_size, strides=attributes.strides,
                  dilation=attributes.dilation, padding=attributes.padding)  # fmt: skip
    if len(attributes.size) != rank:
        run.conflict("wrong-attribute", "`size` must tell the extent of each axis of space", f"{rank} extents",
                     str(attributes.size))  # fmt: skip
    given = run.tensor(0, layout.rank)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a float type")
    sizes = dict(zip(attributes.axes, attributes.size, strict=True))
    return TensorType(layout.shape({**layout.extents(given.shape), **sizes}), given.dtype)


def _grad_meaning(attributes: PoolGradAttributes, given: Array, taps: Array | None = None) -> Array:
    layout, plain = parse_layout(attributes.layout), parse_layout("NC" + "".join(attributes.axes))
    dtype = dtype_of(given.dtype)
    y = relayout(wide(given), layout, plain).astype(dtype.computation.numpy)
    chosen = None if taps is None else relayout(taps, layout, plain)
    counts = y.shape[2:]
    reach = [
        max(before + int(size), (count - 1) * stride + dilation * (window - 1) + 1)  # pyright: ignore[reportArgumentType]
        for size, count, window, stride, dilation, (before, _) in zip(
            attributes.size, counts, attributes.pool_size, attributes.strides, attributes.dilation, attributes.pads,
            strict=True,
        )
    ]  # fmt: skip
    found = np.zeros((*y.shape[:2], *reach), y.dtype)
    for number, tap in enumerate(np.ndindex(*attributes.pool_size)):
        places = tuple(
            slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
            for at, count, stride, dilation in zip(tap, counts, attributes.strides, attributes.dilation, strict=True)
        )
        part: Any = y if chosen is None else np.where(chosen == number, y, 0)
        found[(slice(None), slice(None), *places)] += part
    inner = tuple(
        slice(before, before + int(size))  # pyright: ignore[reportArgumentType]
        for size, (before, _) in zip(attributes.size, attributes.pads, strict=True)
    )
    return relayout(to_dtype(found[(slice(None), slice(None), *inner)], dtype), plain, layout)


def _grad_compute(attributes: PoolGradAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """One stage, such as `max_pool2d_grad`: a sum over the windows that an element may be in, the last first."""
    layout, axes = parse_layout(attributes.layout), attributes.axes
    given = inputs[0]
    counts = layout.extents(given.shape)
    spans = [d * (k - 1) + 1 for k, d in zip(attributes.pool_size, attributes.dilation, strict=True)]
    back = [
        te.reduce_axis(ceil_divide(span, stride), f"r{axis.lower()}")
        for axis, span, stride in zip(axes, spans, attributes.strides, strict=True)
    ]

    def element(*indices: IntExpr) -> Any:
        at = layout.positions(indices)
        conditions: list[Value] = []
        windows: dict[str, IntExpr] = {}
        taps: list[IntExpr] = []
        for axis, span, stride, dilation, (before, _), earlier in zip(
            axes, spans, attributes.strides, attributes.dilation, attributes.pads, back, strict=True
        ):
            place = at[axis] + before
            windows[axis] = place // stride - earlier
            offset = place % stride + earlier * stride
            taps.append(offset // dilation)
            conditions += [te.less(offset, span), te.greater_equal(windows[axis], 0)]
            conditions += [te.less(windows[axis], counts[axis])]
            conditions += [te.equal(offset % dilation, 0)] if dilation > 1 else []
        window = layout.indices({**at, **windows})
        value = te.cast(given[window], result.dtype.computation)
        if len(inputs) > 1:
            took = te.equal(inputs[1][window], te.index_value(_number(taps, attributes.pool_size), DType.INT32))
            value = te.select(took, value, te.const(0, value.dtype))
        return te.sum(value, axis=back, where=te.all_of(conditions))

    name = f"{'max' if len(inputs) > 1 else 'avg'}_pool{attributes.rank}d_grad"
    return rounded(te.compute(result.shape, element, name=name), result.dtype, f"{name}_round")


def _grad(
    name: str, description: str, inputs: dict[str, str], type_rule: TypeRule, gradient: Gradient
) -> OperatorRecord:  # fmt: skip
    return define(
        name,
        description,
        inputs=inputs,
        attributes=PoolGradAttributes,
        type_rule=type_rule,
        meaning=_grad_meaning,
        compute=_grad_compute,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=LayoutAttribute("layout", inputs=tuple(range(len(inputs)))),
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.FOLLOW,
        effect=Effect.PURE,
        gradient=gradient,
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=10,
    )


_GIVEN = {"grad": "[N, C, windows] in the order of layout"}
MAX_POOL_GRAD = _grad(
    "nn.contrib_max_pool_grad",
    "What each element of the data of a max pooling gets: of the windows that took it.",
    {**_GIVEN, "taps": "[N, C, windows], the number of the tap that each window took"},
    _max_rule,
    gradient_above("windows", "of_max_pool_grad"),
)
AVG_POOL_GRAD = _grad(
    "nn.contrib_avg_pool_grad",
    "What each element of the data of a pooling gets: of all windows that hold it.",
    _GIVEN,
    _avg_rule,
    gradient_above("windows", "of_avg_pool_grad"),
)
MAX_POOL_TAPS = tuple(_taps(each) for each in (MaxPool1DAttributes, MaxPool2DAttributes, MaxPool3DAttributes))

POOL_GRADIENTS: tuple[OperatorRecord, ...] = (*MAX_POOL_TAPS, MAX_POOL_GRAD, AVG_POOL_GRAD)


def contrib_max_pool1d_taps(
    data: Argument, result: Argument, pool_size: int | Sequence[int], strides: int | Sequence[int] = 1,
    dilation: int | Sequence[int] = 1, padding: int | Sequence[int] = 0, layout: str = "NCW", ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, W] and result[N, C, windows] → [N, C, windows]. Arguments as those of `contrib_max_pool2d_taps`."""
    return _taken(MaxPool1DAttributes, data, result, pool_size, strides, dilation, padding, layout, ceil_mode)


def contrib_max_pool2d_taps(
    data: Argument, result: Argument, pool_size: int | Sequence[int], strides: int | Sequence[int] = (1, 1),
    dilation: int | Sequence[int] = (1, 1), padding: int | Sequence[int] = (0, 0), layout: str = "NCHW",
    ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, H, W] and result[N, C, rows, columns] → [N, C, rows, columns], the number of the tap that each window
    of `max_pool2d(data, …)`, which gave the result, took: rows first, the first of equals.

    >>> from relay.ops.framework.build import var
    >>> data, result = var("x", shape=(1, 8, 16, 16)), var("y", shape=(1, 8, 8, 8))
    >>> print(contrib_max_pool2d_taps(data, result, 2, 2).checked_type)
    Tensor[(1, 8, 8, 8), int32]
    """
    return _taken(MaxPool2DAttributes, data, result, pool_size, strides, dilation, padding, layout, ceil_mode)


def contrib_max_pool3d_taps(
    data: Argument, result: Argument, pool_size: int | Sequence[int], strides: int | Sequence[int] = (1, 1, 1),
    dilation: int | Sequence[int] = (1, 1, 1), padding: int | Sequence[int] = (0, 0, 0), layout: str = "NCDHW",
    ceil_mode: bool = False,
) -> Call:  # fmt: skip
    """data[N, C, D, H, W] and result[N, C, windows] → [N, C, windows]. Arguments as those of
    `contrib_max_pool2d_taps`."""
    return _taken(MaxPool3DAttributes, data, result, pool_size, strides, dilation, padding, layout, ceil_mode)


def _taken(
    kind: type[MaxPoolAttributes], data: Argument, result: Argument, pool_size: int | Sequence[int],
    strides: int | Sequence[int], dilation: int | Sequence[int], padding: int | Sequence[int], layout: str,
    ceil_mode: bool,
) -> Call:  # fmt: skip
    rank = kind.rank
    per = (per_axis(pool_size, rank), per_axis(strides, rank), per_axis(dilation, rank), full_padding(padding, rank))
    return call(MAX_POOL_TAPS[rank - 1], (data, result), kind(*per, layout, "", ceil_mode))


def contrib_max_pool_grad(
    grad: Argument, taps: Argument, pool_size: Sequence[int], strides: Sequence[int], dilation: Sequence[int],
    padding: Sequence[int], size: Sequence[IntExpr], layout: str,
) -> Call:  # fmt: skip
    """grad[N, C, windows] and the tap that each window took → [N, C, size], the sums of what each element gets. Raises
    `RelayError`: `wrong-attribute`, `bad-layout`, `extents-differ`, `wrong-dtype`."""
    windows = _windows(pool_size, strides, dilation, padding, size, layout)
    return call(MAX_POOL_GRAD, (grad, taps), windows)


def contrib_avg_pool_grad(
    grad: Argument, pool_size: Sequence[int], strides: Sequence[int], dilation: Sequence[int],
    padding: Sequence[int], size: Sequence[IntExpr], layout: str,
) -> Call:  # fmt: skip
    """grad[N, C, windows] → [N, C, size], the sums over the windows that hold each element. Errors as those of
    `contrib_max_pool_grad`."""
    windows = _windows(pool_size, strides, dilation, padding, size, layout)
    return call(AVG_POOL_GRAD, (grad,), windows)


def _windows(
    pool_size: Sequence[int], strides: Sequence[int], dilation: Sequence[int], padding: Sequence[int],
    size: Sequence[IntExpr], layout: str,
) -> PoolGradAttributes:  # fmt: skip
    return PoolGradAttributes(
        item_or_items(pool_size), item_or_items(strides), item_or_items(dilation), item_or_items(padding),
        item_or_items(size), layout,
    )  # fmt: skip

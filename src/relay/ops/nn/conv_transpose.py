"""Transposed convolutions: conv1d_transpose, conv2d_transpose, which spread each input over a window of the result.

Axes: data N, C, space; kernel I, O, space with I = C and O = channels / groups. Along an axis the result has
`(size - 1)·stride - before - after + dilation·(taps - 1) + output_padding + 1` elements, and element `y` sums
`data[x] · kernel[k]` over all `x·stride - before + k·dilation = y`. An infinite element of the kernel may also be
multiplied with the zeros between and around the data, and make NaN there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, multiply
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call
from relay.ir.operator import Effect
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call, optional_dtype
from relay.ops.framework.dimensions import derived
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import parse_layout, relayout
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import NO_SCALE_YET
from relay.ops.framework.window import (
    check_windows,
    full_padding,
    group_extent,
    named,
    optional_window,
    per_axis,
    spatial_axes,
)
from relay.ops.nn.conv import Geometry, check_layouts, kernel_extents, taps_and_channels
from relay.ops.nn.matmul import product_dtype, rounded, size_of
from relay.tir.expr import Value


@frozen
class ConvTransposeAttributes(Attributes):
    """Over W; those over more axes have their own defaults. `padding`: what the result is cut by, before each axis,
    then after each; `output_padding`: what is added at its end. The other attributes are those of `ConvAttributes`."""

    channels: IntExpr | None = None
    kernel_size: tuple[int, ...] | None = None
    strides: tuple[int, ...] = (1,)
    output_padding: tuple[int, ...] = (0,)
    padding: tuple[int, ...] = (0, 0)
    dilation: tuple[int, ...] = (1,)
    groups: int = 1
    data_layout: str = "NCW"
    kernel_layout: str = "IOW"
    out_layout: str = ""
    out_dtype: DType | None = None

    rank: ClassVar[int] = 1


@frozen
class Conv1DTransposeAttributes(ConvTransposeAttributes):
    """Over W."""


@frozen
class Conv2DTransposeAttributes(ConvTransposeAttributes):
    """Over H and W."""

    strides: tuple[int, ...] = (1, 1)
    output_padding: tuple[int, ...] = (0, 0)
    padding: tuple[int, ...] = (0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1)
    data_layout: str = "NCHW"
    kernel_layout: str = "IOHW"

    rank: ClassVar[int] = 2


@frozen
class Conv3DTransposeAttributes(ConvTransposeAttributes):
    """Over D, H and W."""

    strides: tuple[int, ...] = (1, 1, 1)
    output_padding: tuple[int, ...] = (0, 0, 0)
    padding: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1, 1)
    data_layout: str = "NCDHW"
    kernel_layout: str = "IODHW"

    rank: ClassVar[int] = 3


def _geometry(attributes: ConvTransposeAttributes) -> Geometry:
    rank = attributes.rank
    return Geometry(
        spatial_axes(rank),
        per_axis(attributes.strides, rank),
        full_padding(attributes.padding, rank),
        per_axis(attributes.dilation, rank),
        parse_layout(attributes.data_layout),
        parse_layout(attributes.kernel_layout),
        parse_layout(attributes.out_layout or attributes.data_layout),
    )


def _spread_extent(g: Geometry, position: int, added: int, size: Dimension, taps: Dimension) -> Dimension:
    stride, dilation, cut = g.strides[position], g.dilation[position], sum(g.pads[position])
    return derived(lambda s, t: (s - 1) * stride - cut + (t - 1) * dilation + added + 1, size, taps)


def _rule(run: RelationRun, attributes: ConvTransposeAttributes) -> Type:
    """data[N, C, space] × weight[C, O / groups, window] → [N, O, space spread]"""
    rank, g = attributes.rank, _geometry(attributes)
    check_layouts(run, g)
    added = per_axis(attributes.output_padding, rank)
    check_windows(run, rank, strides=g.strides, padding=g.padding, dilation=g.dilation, output_padding=added)
    if any(
        extra >= max(stride, dilation) for extra, stride, dilation in zip(added, g.strides, g.dilation, strict=True)
    ):
        run.conflict("wrong-attribute", "`output_padding` must be below the stride or the dilation",
                     f"below {g.strides}", str(added))  # fmt: skip
    data = run.tensor(0, rank + 2)
    run.dtype_in(0, lambda dtype: not dtype.is_bool, "a number type")
    extents = g.data.extents(data.shape)
    group_extent(run, extents["C"], attributes.groups, "input channels")
    outputs = attributes.channels
    per_group = None if outputs is None else group_extent(run, outputs, attributes.groups, "output channels")
    sizes = attributes.kernel_size if attributes.kernel_size is not None else (None,) * rank
    if len(sizes) != rank:
        run.conflict("wrong-attribute", "`kernel_size` has the wrong length", f"{rank} numbers", str(sizes))
    given = {"O": per_group, "I": extents["C"], **dict(zip(g.axes, sizes, strict=True))}
    kernel = kernel_extents(run, attributes, g, data.dtype, given)
    spread: dict[str, Dimension] = {}
    for position, axis in enumerate(g.axes):
        spread[axis] = _spread_extent(g, position, added[position], extents[axis], kernel[axis])
        if isinstance(spread[axis], int) and spread[axis] < 0:  # pyright: ignore[reportOperatorIssue]
            run.conflict("padding-too-large", f"`padding` cuts off more of axis {axis} than the result has",
                         "an extent of 0 or more", str(spread[axis]), (0,))  # fmt: skip
    channels = derived(lambda c: c * attributes.groups, kernel["O"])
    return TensorType(g.out.shape({"N": extents["N"], "C": channels, **spread}), attributes.out_dtype or data.dtype)


def _meaning(attributes: ConvTransposeAttributes, data: Array, weight: Array) -> Array:
    g = _geometry(attributes)
    accumulator, result = product_dtype(dtype_of(data.dtype), attributes.out_dtype)
    plain, io = parse_layout("NC" + "".join(g.axes)), parse_layout("IO" + "".join(g.axes))
    x = relayout(wide(data), g.data, plain).astype(accumulator.numpy)
    w = relayout(wide(weight), g.kernel, io).astype(accumulator.numpy)
    groups, added = attributes.groups, per_axis(attributes.output_padding, attributes.rank)
    batch, channels = x.shape[0], w.shape[1]
    full = [
        (size - 1) * s + d * (taps - 1) + 1 + e
        for size, s, d, taps, e in zip(x.shape[2:], g.strides, g.dilation, w.shape[2:], added, strict=True)
    ]
    y = np.zeros((batch, groups * channels, *[max(extent, 0) for extent in full]), accumulator.numpy)
    per_group = x.shape[1] // groups
    with np.errstate(all="ignore"):
        for tap in np.ndindex(*w.shape[2:]):
            places = tuple(
                slice(k * d, k * d + (size - 1) * s + 1, s) if size else slice(0, 0)
                for k, d, s, size in zip(tap, g.dilation, g.strides, x.shape[2:], strict=True)
            )
            for group in range(groups):
                part = x[:, group * per_group : (group + 1) * per_group]
                kernel = w[(slice(group * per_group, (group + 1) * per_group), slice(None), *tap)]
                product = np.moveaxis(np.tensordot(part, kernel, axes=((1,), (0,))), -1, 1)
                y[(slice(None), slice(group * channels, (group + 1) * channels), *places)] += product
        cut = tuple(slice(before, extent - after) for extent, (before, after) in zip(y.shape[2:], g.pads, strict=True))
        return relayout(to_dtype(y[(slice(None), slice(None), *cut)], result), plain, g.out)


def _compute(attributes: ConvTransposeAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """One stage, such as `conv2d_transpose`: each result element gathers the inputs that reach it."""
    g = _geometry(attributes)
    data, weight = inputs
    sizes, kernel = g.data.extents(data.shape), g.kernel.extents(weight.shape)
    groups = attributes.groups
    per_group = sizes["C"] // groups
    channel = te.reduce_axis(per_group, "rc")
    taps = [te.reduce_axis(kernel[axis], f"r{axis.lower()}") for axis in g.axes]
    accumulator, _ = product_dtype(data.dtype, attributes.out_dtype)

    def element(*indices: IntExpr) -> Any:
        at = named(g.out.letters, indices)
        guards: list[Value] = []
        places: dict[str, IntExpr] = {}
        for axis, stride, dilation, (before, _), tap in zip(g.axes, g.strides, g.dilation, g.pads, taps, strict=True):
            reach = at[axis] + before - tap * dilation
            places[axis] = reach // stride
            guards += [te.equal(reach % stride, 0)] if stride > 1 else []
            guards += [te.greater_equal(reach, 0), te.less(places[axis], sizes[axis])]
        outputs = kernel["O"]
        group = 0 if groups == 1 else at["C"] // outputs
        source = channel if groups == 1 else group * per_group + channel
        left = data[g.data.indices({"N": at["N"], "C": source, **places})]
        right = weight[g.kernel.indices({"I": source, "O": at["C"] - group * outputs, **named(g.axes, taps)})]
        product = te.cast(left, accumulator) * te.cast(right, accumulator)
        return te.sum(product, axis=(*taps, channel), where=te.all_of(guards))

    name = f"conv{attributes.rank}d_transpose"
    return rounded(te.compute(result.shape, element, name=name), result.dtype, f"{name}_round")


def _products(attributes: ConvTransposeAttributes, inputs: tuple[Type, ...], result: Type) -> IntExpr:  # noqa: ARG001
    """For each element of the data, the output channels of a group times the taps of the kernel."""
    match inputs:
        case TensorType() as data, TensorType(shape=shape):
            geometry = _geometry(attributes)
            return multiply(size_of(data), taps_and_channels(geometry, shape, "O"))
        case _:
            return 0


def _record(attributes: type[ConvTransposeAttributes]) -> OperatorRecord:
    rank = attributes.rank
    space = ", ".join(spatial_axes(rank))
    return define(
        f"nn.conv{rank}d_transpose",
        f"Transposed convolution over {space}.",
        inputs={"data": f"[N, C, {space}] in the order of data_layout",
                "weight": f"[C, O / groups, {space}] in the order of kernel_layout"},
        attributes=attributes,
        type_rule=_rule,
        meaning=_meaning,
        compute=_compute,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=LayoutAttribute("data_layout", kernel="kernel_layout"),
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.NARROW,
        effect=Effect.PURE,
        gradient=gradient_above("convolutions", "of_conv_transpose"),
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=2,
        multiply_adds=_products,
    )  # fmt: skip


CONV1D_TRANSPOSE = _record(Conv1DTransposeAttributes)
CONV2D_TRANSPOSE = _record(Conv2DTransposeAttributes)
CONV3D_TRANSPOSE = _record(Conv3DTransposeAttributes)

TRANSPOSED_CONVOLUTIONS: tuple[OperatorRecord, ...] = (CONV1D_TRANSPOSE, CONV2D_TRANSPOSE, CONV3D_TRANSPOSE)


def _spread(
    record: OperatorRecord, kind: type[ConvTransposeAttributes], data: Argument, weight: Argument,
    strides: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], groups: int,
    channels: Dimension | None, kernel_size: int | Sequence[int] | None, layouts: tuple[str, str, str],
    output_padding: int | Sequence[int], out_dtype: str | DType | None,
) -> Call:  # fmt: skip
    rank = kind.rank
    attributes = kind(
        channels, optional_window(kernel_size, rank), per_axis(strides, rank), per_axis(output_padding, rank),
        full_padding(padding, rank), per_axis(dilation, rank), groups, *layouts, optional_dtype(out_dtype),
    )  # fmt: skip
    return call(record, (data, weight), attributes)


def conv1d_transpose(
    data: Argument, weight: Argument, strides: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1, groups: int = 1,
    channels: Dimension | None = None, kernel_size: int | Sequence[int] | None = None, data_layout: str = "NCW",
    kernel_layout: str = "IOW", out_layout: str = "", output_padding: int | Sequence[int] = 0,
    out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, W] × weight[C, O / groups, taps] → [N, O, W spread]. Arguments as those of `conv2d_transpose`."""
    return _spread(CONV1D_TRANSPOSE, Conv1DTransposeAttributes, data, weight, strides, padding, dilation, groups,
                   channels, kernel_size, (data_layout, kernel_layout, out_layout), output_padding,
                   out_dtype)  # fmt: skip


def conv2d_transpose(
    data: Argument, weight: Argument, strides: int | Sequence[int] = (1, 1), padding: int | Sequence[int] = (0, 0),
    dilation: int | Sequence[int] = (1, 1), groups: int = 1,
    channels: Dimension | None = None, kernel_size: int | Sequence[int] | None = None, data_layout: str = "NCHW",
    kernel_layout: str = "IOHW", out_layout: str = "", output_padding: int | Sequence[int] = (0, 0),
    out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, H, W] × weight[C, O / groups, kh, kw] → [N, O, (H - 1)·stride - padding + kh + …, …]

    `padding` cuts the result; `output_padding` adds to its end. Raises `RelayError` as `conv2d`, and
    `padding-too-large`.
    """
    return _spread(CONV2D_TRANSPOSE, Conv2DTransposeAttributes, data, weight, strides, padding, dilation, groups,
                   channels, kernel_size, (data_layout, kernel_layout, out_layout), output_padding,
                   out_dtype)  # fmt: skip


def conv3d_transpose(
    data: Argument, weight: Argument, strides: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0), dilation: int | Sequence[int] = (1, 1, 1), groups: int = 1,
    channels: Dimension | None = None, kernel_size: int | Sequence[int] | None = None, data_layout: str = "NCDHW",
    kernel_layout: str = "IODHW", out_layout: str = "", output_padding: int | Sequence[int] = (0, 0, 0),
    out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, D, H, W] × weight[C, O / groups, kd, kh, kw] → [N, O, D spread, H spread, W spread]. Arguments as
    those of `conv2d_transpose`."""
    return _spread(CONV3D_TRANSPOSE, Conv3DTransposeAttributes, data, weight, strides, padding, dilation, groups,
                   channels, kernel_size, (data_layout, kernel_layout, out_layout), output_padding,
                   out_dtype)  # fmt: skip

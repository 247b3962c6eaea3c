"""Convolutions: conv1d, conv2d, conv3d.

Axes: data N, C, space (D, H, W); kernel O, I, space; any order of them, and kernels with output channels in blocks
(`OHWI64o`). With groups, I is C / groups. What machine learning calls convolution is a correlation: kernels are not
flipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

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
from relay.ops.framework.layout_rule import LayoutAttribute
from relay.ops.framework.layouts import Layout, parse_layout, relayout
from relay.ops.framework.record import FusionKind, OperatorRecord, PrecisionRule, define, gradient_above
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import Channels, WeightedSum
from relay.ops.framework.window import (
    Pads,
    check_windows,
    full_padding,
    group_extent,
    named,
    optional_window,
    padded_array,
    padded_tensor,
    pads_of,
    per_axis,
    sliding_windows,
    spatial_axes,
    windows_along,
)  # fmt: skip
from relay.ops.nn.matmul import multiply_add, product_dtype, rounded, size_of


@frozen
class ConvAttributes(Attributes):
    """Of a convolution over W; those over more axes have their own defaults. `padding`: before each axis, then after
    each (top, left, bottom, right). `channels` (of the result) and `kernel_size`: None to take them from the kernel. An
    empty `out_layout` is that of the data. `out_dtype`: None is the type of the data."""

    strides: tuple[int, ...] = (1,)
    padding: tuple[int, ...] = (0, 0)
    dilation: tuple[int, ...] = (1,)
    groups: int = 1
    channels: IntExpr | None = None
    kernel_size: tuple[int, ...] | None = None
    data_layout: str = "NCW"
    kernel_layout: str = "OIW"
    out_layout: str = ""
    out_dtype: DType | None = None

    rank: ClassVar[int] = 1


@frozen
class Conv1DAttributes(ConvAttributes):
    """Over W."""


@frozen
class Conv2DAttributes(ConvAttributes):
    """Over H and W."""

    strides: tuple[int, ...] = (1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1)
    data_layout: str = "NCHW"
    kernel_layout: str = "OIHW"

    rank: ClassVar[int] = 2


@frozen
class Conv3DAttributes(ConvAttributes):
    """Over D, H and W."""

    strides: tuple[int, ...] = (1, 1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1, 1)
    data_layout: str = "NCDHW"
    kernel_layout: str = "OIDHW"

    rank: ClassVar[int] = 3


@frozen
class Geometry:
    """The attributes of a convolution with everything spelled out."""

    axes: tuple[str, ...]  # spatial
    strides: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    data: Layout
    kernel: Layout
    out: Layout

    @property
    def pads(self) -> Pads:
        return pads_of(self.padding)


class Convolving(Protocol):
    """What a convolution and its gradients say of their windows."""

    rank: ClassVar[int]

    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def padding(self) -> tuple[int, ...]: ...
    @property
    def dilation(self) -> tuple[int, ...]: ...
    @property
    def data_layout(self) -> str: ...
    @property
    def kernel_layout(self) -> str: ...
    @property
    def out_layout(self) -> str: ...


def geometry_of(attributes: Convolving) -> Geometry:
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


def check_layouts(run: RelationRun, geometry: Geometry, kernel_letters: str = "OI") -> None:
    """Layouts name the axes of a convolution, each once; only output channels of the kernel come in blocks."""
    wanted = {"data_layout": {"N", "C", *geometry.axes}, "out_layout": {"N", "C", *geometry.axes}}
    for name, layout in (("data_layout", geometry.data), ("out_layout", geometry.out)):
        if set(layout.letters) != wanted[name]:
            run.conflict("bad-layout", f"`{name}` does not fit this operator",
                         f"an order of {', '.join(sorted(wanted[name]))}", layout.text)  # fmt: skip
    axes = {*kernel_letters, *geometry.axes}
    if set(geometry.kernel.axes) != axes or set(geometry.kernel.letters) - axes - {"o"}:
        run.conflict("bad-layout", "`kernel_layout` does not fit this operator",
                     f"an order of {', '.join(sorted(axes))}; O may come in blocks", geometry.kernel.text)  # fmt: skip


def kernel_extents(
    run: RelationRun, attributes: Any, geometry: Geometry, dtype: DType, given: Mapping[str, Dimension | None]
) -> dict[str, Dimension]:
    """The true extents of the kernel's axes: those that attributes and data give agree with its shape, and imply it
    while it is open."""
    known = {axis: extent for axis, extent in given.items() if extent is not None}
    if run.is_open(1) and len(known) == len(given):
        run.tensor_like(1, geometry.kernel.shape(known), dtype)
        return known
    weight = run.tensor(1, geometry.kernel.rank)
    run.dtype_in(1, lambda d: d.is_float is dtype.is_float and not d.is_bool, "a type of the kind of the data's")
    for letter, extent in zip(geometry.kernel.letters, weight.shape, strict=True):
        if letter.islower():
            run.equal(geometry.kernel.block(letter), extent, f"the block of {letter.upper()} in `weight`", (1,))
    found = geometry.kernel.extents(weight.shape)
    for axis in known:
        position = geometry.kernel.position(axis)
        whole = geometry.kernel.extent(axis, known)
        run.equal(whole, weight.shape[position], f"axis {axis} of `weight` ({geometry.kernel})", (0, 1),
                  _AXIS_REMEDIES.get(axis, "kernel_size must be that of the weight"), rule="axes-differ")  # fmt: skip
    if geometry.kernel.blocks and attributes.channels is None:
        run.conflict("missing-attribute", "a kernel in blocks needs `channels`", "channels=<number of output channels>")
    return {**found, **known}


_AXIS_REMEDIES = {
    "O": "channels is the number of output channels",
    "I": "input channels of the kernel are those of the data / groups; check data_layout, kernel_layout and groups",
}


def _conv_rule(run: RelationRun, attributes: ConvAttributes) -> Type:
    """data[N, C, space] × weight[O, C / groups, window] → [N, O, windows]"""
    geometry = geometry_of(attributes)
    rank = len(geometry.axes)
    check_layouts(run, geometry)
    check_windows(run, rank, strides=geometry.strides, padding=geometry.padding, dilation=geometry.dilation)
    data = run.tensor(0, rank + 2)
    run.dtype_in(0, lambda dtype: not dtype.is_bool, "a number type")
    extents = geometry.data.extents(data.shape)
    per_group = group_extent(run, extents["C"], attributes.groups, "input channels")
    sizes = attributes.kernel_size if attributes.kernel_size is not None else (None,) * rank
    if len(sizes) != rank:
        run.conflict("wrong-attribute", "`kernel_size` has the wrong length", f"{rank} numbers", str(sizes))
    given = {"O": attributes.channels, "I": per_group, **dict(zip(geometry.axes, sizes, strict=True))}
    kernel = kernel_extents(run, attributes, geometry, data.dtype, given)
    group_extent(run, kernel["O"], attributes.groups, "output channels")
    windows = {
        axis: windows_along(run, axis, extents[axis], kernel[axis], stride, dilation, pads)
        for axis, stride, dilation, pads in zip(
            geometry.axes, geometry.strides, geometry.dilation, geometry.pads, strict=True
        )
    }
    shape = geometry.out.shape({"N": extents["N"], "C": kernel["O"], **windows})
    return TensorType(shape, attributes.out_dtype or data.dtype)


def _conv_meaning(attributes: ConvAttributes, data: Array, weight: Array) -> Array:
    geometry = geometry_of(attributes)
    rank = len(geometry.axes)
    accumulator, result = product_dtype(dtype_of(data.dtype), attributes.out_dtype)
    plain = parse_layout("NC" + "".join(geometry.axes))
    oi = parse_layout("OI" + "".join(geometry.axes))
    true = {"O": int(attributes.channels)} if isinstance(attributes.channels, int) else None
    x = relayout(wide(data), geometry.data, plain).astype(accumulator.numpy)
    w = relayout(wide(weight), geometry.kernel, oi, true).astype(accumulator.numpy)
    x = padded_array(x, geometry.pads)
    window = w.shape[2:]
    counts = [
        (size - dilation * (taps - 1) - 1) // stride + 1
        for size, taps, stride, dilation in zip(x.shape[2:], window, geometry.strides, geometry.dilation, strict=True)
    ]
    taps = sliding_windows(x, window, geometry.strides, geometry.dilation, counts)
    with np.errstate(all="ignore"):
        y = _grouped_product(taps, w, attributes.groups, rank)
        return relayout(to_dtype(y, result), plain, geometry.out)


def _grouped_product(taps: Array, weight: Array, groups: int, rank: int) -> Array:
    """taps[N, C, *windows, *taps] × weight[O, C / groups, *taps] → [N, O, *windows]"""
    channels, outputs = taps.shape[1] // groups, weight.shape[0] // groups
    summed = (1, *range(2 + rank, 2 + 2 * rank))
    parts = [
        np.tensordot(
            taps[:, g * channels : (g + 1) * channels], weight[g * outputs : (g + 1) * outputs],
            axes=(summed, tuple(range(1, 2 + rank))),
        )
        for g in range(groups)
    ]  # fmt: skip
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, 1)


def _conv_compute(attributes: ConvAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """Stages `data_pad` (when there is padding) and such as `conv2d`, which reads the kernel as it is laid out."""
    geometry = geometry_of(attributes)
    data, weight = inputs
    name = f"conv{len(geometry.axes)}d"
    padded = padded_tensor(data, geometry.data, geometry.axes, geometry.pads, 0, "data_pad")
    kernel = geometry.kernel.extents(weight.shape)
    outputs = geometry.out.extents(result.shape)["C"]
    channel = te.reduce_axis(kernel["I"], "rc")
    taps = [te.reduce_axis(kernel[axis], f"r{axis.lower()}") for axis in geometry.axes]
    by_letter = {**named(geometry.axes, taps), "I": channel}
    axes = tuple(by_letter[letter] for letter in geometry.kernel.letters if letter in by_letter)  # as weights lie

    def element(*indices: IntExpr) -> Any:
        at = named(geometry.out.letters, indices)
        reads = {
            axis: at[axis] * stride + tap * dilation
            for axis, stride, dilation, tap in zip(
                geometry.axes, geometry.strides, geometry.dilation, taps, strict=True
            )
        }
        source = input_channel(at["C"], channel, kernel["I"], outputs, attributes.groups)
        left = padded[geometry.data.indices({"N": at["N"], "C": source, **reads})]
        right = weight[geometry.kernel.indices({"O": at["C"], "I": channel, **named(geometry.axes, taps)})]
        return multiply_add(left, right, axes, attributes.out_dtype)

    return rounded(te.compute(result.shape, element, name=name), result.dtype, f"{name}_round")


def input_channel(
    output: IntExpr, offset: IntExpr, per_group: IntExpr, outputs: IntExpr, groups: int
) -> IntExpr:  # fmt: skip
    """The input channel that output channel `output` reads at `offset` of its group."""
    if groups == 1:
        return offset
    group = output // (outputs // groups)
    return group if per_group == 1 else group * per_group + offset


def _conv_products(attributes: ConvAttributes, inputs: tuple[Type, ...], result: Type) -> IntExpr:
    """For each element of the result, the channels of a group times the taps of the kernel."""
    match inputs[1], result:
        case TensorType(shape=shape), TensorType():
            geometry = geometry_of(attributes)
            return multiply(size_of(result), taps_and_channels(geometry, shape, "I"))
        case _:
            return 0


def taps_and_channels(geometry: Geometry, kernel_shape: tuple[Dimension, ...], channels: str) -> IntExpr:
    """The number of taps of a kernel times its extent along the axis `channels`."""
    kernel = geometry.kernel.extents(kernel_shape)
    total: IntExpr = kernel[channels]
    for axis in geometry.axes:
        total = multiply(total, kernel[axis])
    return total


def _channels(attributes: ConvAttributes, rank: int) -> Channels | None:  # noqa: ARG001
    geometry = geometry_of(attributes)
    kernel = geometry.kernel
    if kernel.blocks:
        return None
    return Channels(
        geometry.out.position("C"), geometry.data.position("C"), kernel.position("O"), kernel.position("I"),
        attributes.groups,
    )  # fmt: skip


def _conv(attributes: type[ConvAttributes]) -> OperatorRecord:
    rank = attributes.rank
    space = ", ".join(spatial_axes(rank))
    return define(
        f"nn.conv{rank}d",
        f"Convolution over {space}, with groups and dilation.",
        inputs={"data": f"[N, C, {space}] in the order of data_layout",
                "weight": f"[O, C / groups, {space}] in the order of kernel_layout"},
        attributes=attributes,
        type_rule=_conv_rule,
        meaning=_conv_meaning,
        compute=_conv_compute,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=LayoutAttribute("data_layout", kernel="kernel_layout"),
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.NARROW,
        effect=Effect.PURE,
        gradient=gradient_above("convolutions", "of_conv"),
        batch=NO_BATCH_RULE_YET,
        scale=WeightedSum(_channels, told=("channels", "kernel_size")),
        support_level=2,
        multiply_adds=_conv_products,
    )  # fmt: skip


CONV1D = _conv(Conv1DAttributes)
CONV2D = _conv(Conv2DAttributes)
CONV3D = _conv(Conv3DAttributes)

CONVOLUTIONS: tuple[OperatorRecord, ...] = (CONV1D, CONV2D, CONV3D)


def _convolved(
    record: OperatorRecord, kind: type[ConvAttributes], data: Argument, weight: Argument, strides: int | Sequence[int],
    padding: int | Sequence[int], dilation: int | Sequence[int], groups: int, channels: Dimension | None,
    kernel_size: int | Sequence[int] | None, layouts: tuple[str, str, str], out_dtype: str | DType | None,
) -> Call:  # fmt: skip
    rank = kind.rank
    attributes = kind(
        per_axis(strides, rank), full_padding(padding, rank), per_axis(dilation, rank), groups, channels,
        optional_window(kernel_size, rank), *layouts, optional_dtype(out_dtype),
    )  # fmt: skip
    return call(record, (data, weight), attributes)


def conv1d(
    data: Argument, weight: Argument, strides: int | Sequence[int] = 1, padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1, groups: int = 1, channels: Dimension | None = None,
    kernel_size: int | Sequence[int] | None = None, data_layout: str = "NCW", kernel_layout: str = "OIW",
    out_layout: str = "", out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, W] × weight[O, C / groups, taps] → [N, O, windows]. Arguments as those of `conv2d`."""
    return _convolved(CONV1D, Conv1DAttributes, data, weight, strides, padding, dilation, groups, channels, kernel_size,
                      (data_layout, kernel_layout, out_layout), out_dtype)  # fmt: skip


def conv2d(
    data: Argument, weight: Argument, strides: int | Sequence[int] = (1, 1), padding: int | Sequence[int] = (0, 0),
    dilation: int | Sequence[int] = (1, 1), groups: int = 1, channels: Dimension | None = None,
    kernel_size: int | Sequence[int] | None = None, data_layout: str = "NCHW", kernel_layout: str = "OIHW",
    out_layout: str = "", out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, H, W] × weight[O, C / groups, kh, kw] → [N, O, rows, columns]

    `padding` is one number, (vertical, horizontal), or (top, left, bottom, right). `channels` and `kernel_size` state
    what the weight must be, and determine its type when it has none. Layouts are orders of N, C, H, W and of O, I, H,
    W; a kernel layout such as `OHWI64o` has output channels in blocks, padded with zeros, and needs `channels`.
    `out_dtype` is the type that sums are kept and given in (default: of the data).

    Raises `RelayError`: `axes-differ`, `window-too-large`, `groups-do-not-divide`, `bad-layout`, `wrong-attribute`,
    `missing-attribute`, `wrong-rank`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> x, w = var("x", shape=("n", 3, 224, 224)), var("w", shape=(64, 3, 7, 7))
    >>> print(conv2d(x, w, strides=(2, 2), padding=(3, 3)).checked_type)
    Tensor[(n, 64, 112, 112), float32]
    """
    return _convolved(CONV2D, Conv2DAttributes, data, weight, strides, padding, dilation, groups, channels, kernel_size,
                      (data_layout, kernel_layout, out_layout), out_dtype)  # fmt: skip


def conv3d(
    data: Argument, weight: Argument, strides: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0), dilation: int | Sequence[int] = (1, 1, 1), groups: int = 1,
    channels: Dimension | None = None, kernel_size: int | Sequence[int] | None = None, data_layout: str = "NCDHW",
    kernel_layout: str = "OIDHW", out_layout: str = "", out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """data[N, C, D, H, W] × weight[O, C / groups, kd, kh, kw] → [N, O, planes, rows, columns]. Arguments as those of
    `conv2d`; `padding` with all numbers is front, top, left, back, bottom, right."""
    return _convolved(CONV3D, Conv3DAttributes, data, weight, strides, padding, dilation, groups, channels, kernel_size,
                      (data_layout, kernel_layout, out_layout), out_dtype)  # fmt: skip

"""Gradients of convolutions by their kernel: conv1d_backward_weight, conv2d_backward_weight, conv3d_backward_weight.

Axes: output gradient N, O, windows; data N, C, space; the result O, I, taps, with I = C / groups. Each of its elements
sums, over all images and windows, the output gradient times what the tap meets there (LeCun et al. 1998,
"Gradient-based learning applied to document recognition").
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
from relay.ir.types import TensorType, Type
from relay.ops.framework.batch_rule import NO_BATCH_RULE_YET
from relay.ops.framework.build import Argument, call, optional_dtype
from relay.ops.framework.layout_rule import KernelResult
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
    padded_array,
    padded_tensor,
    per_axis,
    sliding_windows,
    spatial_axes,
    windows_along,
)  # fmt: skip
from relay.ops.nn.conv import check_layouts, geometry_of, input_channel
from relay.ops.nn.matmul import multiply_add, product_dtype, rounded, size_of


@frozen
class ConvBackwardWeightAttributes(Attributes):
    """Of a convolution over W; those over more axes have their own defaults. All but `kernel_size`, the taps along each
    axis, are as those of the convolution; `data_layout` is that of both inputs, `kernel_layout` that of the result."""

    kernel_size: tuple[int, ...]
    strides: tuple[int, ...] = (1,)
    padding: tuple[int, ...] = (0, 0)
    dilation: tuple[int, ...] = (1,)
    groups: int = 1
    data_layout: str = "NCW"
    kernel_layout: str = "OIW"
    out_dtype: DType | None = None

    rank: ClassVar[int] = 1

    @property
    def out_layout(self) -> str:
        """That of the other input."""
        return self.data_layout


@frozen
class Conv1DBackwardWeightAttributes(ConvBackwardWeightAttributes):
    """Over W."""


@frozen
class Conv2DBackwardWeightAttributes(ConvBackwardWeightAttributes):
    """Over H and W."""

    strides: tuple[int, ...] = (1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1)
    data_layout: str = "NCHW"
    kernel_layout: str = "OIHW"

    rank: ClassVar[int] = 2


@frozen
class Conv3DBackwardWeightAttributes(ConvBackwardWeightAttributes):
    """Over D, H and W."""

    strides: tuple[int, ...] = (1, 1, 1)
    padding: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    dilation: tuple[int, ...] = (1, 1, 1)
    data_layout: str = "NCDHW"
    kernel_layout: str = "OIDHW"

    rank: ClassVar[int] = 3


def _rule(run: RelationRun, attributes: ConvBackwardWeightAttributes) -> Type:
    """grad[N, O, windows] and data[N, C, space] → [O, C / groups, taps]"""
    rank, g = attributes.rank, geometry_of(attributes)
    check_layouts(run, g)
    check_windows(run, rank, strides=g.strides, padding=g.padding, dilation=g.dilation)
    if len(attributes.kernel_size) != rank or min(attributes.kernel_size) < 1:
        run.conflict("wrong-attribute", "`kernel_size` must tell the taps of each axis", f"{rank} numbers, at least 1",
                     str(attributes.kernel_size))  # fmt: skip
    if g.kernel.blocks:
        run.conflict("bad-layout", "the result cannot have its channels in blocks", "a plain layout", g.kernel.text)
    given, data = run.tensor(0, rank + 2), run.tensor(1, rank + 2)
    run.dtype_in(0, lambda dtype: dtype.is_float, "a float type")
    found, extents = g.data.extents(given.shape), g.data.extents(data.shape)
    run.equal(found["N"], extents["N"], "the batch of `data`", (0, 1), "both are of the same images")
    per_group = group_extent(run, extents["C"], attributes.groups, "input channels")
    group_extent(run, found["C"], attributes.groups, "output channels")
    sizes = dict(zip(g.axes, attributes.kernel_size, strict=True))
    for axis, stride, dilation, pads in zip(g.axes, g.strides, g.dilation, g.pads, strict=True):
        windows = windows_along(run, axis, extents[axis], sizes[axis], stride, dilation, pads)
        run.equal(windows, found[axis], f"axis {axis} of `grad`", (0, 1), "it has an entry for each window")
    shape = g.kernel.shape({"O": found["C"], "I": per_group, **sizes})
    return TensorType(shape, attributes.out_dtype or data.dtype)


def _meaning(attributes: ConvBackwardWeightAttributes, given: Array, data: Array) -> Array:
    g, rank, groups = geometry_of(attributes), attributes.rank, attributes.groups
    accumulator, result = product_dtype(dtype_of(data.dtype), attributes.out_dtype)
    plain, oi = (parse_layout(first + "".join(g.axes)) for first in ("NC", "OI"))
    x = padded_array(relayout(wide(data), g.data, plain).astype(accumulator.numpy), g.pads)
    y = relayout(wide(given), g.data, plain).astype(accumulator.numpy)
    taps = sliding_windows(x, attributes.kernel_size, g.strides, g.dilation, y.shape[2:])
    inputs, outputs = x.shape[1] // groups, y.shape[1] // groups
    summed = (0, *range(2, 2 + rank))
    with np.errstate(all="ignore"):
        parts = [
            np.tensordot(
                y[:, at * outputs : (at + 1) * outputs], taps[:, at * inputs : (at + 1) * inputs], (summed, summed)
            )
            for at in range(groups)
        ]
        return relayout(to_dtype(np.concatenate(parts), result), oi, g.kernel)


def _compute(attributes: ConvBackwardWeightAttributes, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
    """Stages `data_pad` (when there is padding) and such as `conv2d_backward_weight`."""
    g = geometry_of(attributes)
    given, data = inputs
    name = f"conv{attributes.rank}d_backward_weight"
    padded = padded_tensor(data, g.data, g.axes, g.pads, 0, "data_pad")
    extents, kernel = g.data.extents(given.shape), g.kernel.extents(result.shape)
    image = te.reduce_axis(extents["N"], "rn")
    windows = [te.reduce_axis(extents[axis], f"r{axis.lower()}") for axis in g.axes]

    def element(*indices: IntExpr) -> Any:
        at, window = named(g.kernel.letters, indices), named(g.axes, windows)
        places = {
            axis: window[axis] * stride + at[axis] * dilation
            for axis, stride, dilation in zip(g.axes, g.strides, g.dilation, strict=True)
        }
        source = input_channel(at["O"], at["I"], kernel["I"], kernel["O"], attributes.groups)
        left = padded[g.data.indices({"N": image, "C": source, **places})]
        right = given[g.data.indices({"N": image, "C": at["O"], **window})]
        return multiply_add(left, right, (image, *windows), attributes.out_dtype)

    return rounded(te.compute(result.shape, element, name=name), result.dtype, f"{name}_round")


def _products(attributes: ConvBackwardWeightAttributes, inputs: tuple[Type, ...], result: Type) -> IntExpr:
    """For each element of the result, the windows of all images."""
    match inputs[0], result:
        case TensorType(shape=shape), TensorType():
            extents, total = geometry_of(attributes).data.extents(shape), size_of(result)
            for axis in ("N", *spatial_axes(attributes.rank)):
                total = multiply(total, extents[axis])
            return total
        case _:
            return 0


def _record(attributes: type[ConvBackwardWeightAttributes]) -> OperatorRecord:
    rank = attributes.rank
    space = ", ".join(spatial_axes(rank))
    return define(
        f"nn.conv{rank}d_backward_weight",
        f"The gradient of a convolution over {space} by its kernel.",
        inputs={"grad": f"[N, O, windows over {space}] in the order of data_layout",
                "data": f"[N, C, {space}] in the order of data_layout"},
        attributes=attributes,
        type_rule=_rule,
        meaning=_meaning,
        compute=_compute,
        fusion=FusionKind.OUT_ELEMWISE_FUSABLE,
        layout=KernelResult("data_layout", "kernel_layout"),
        floating_point=FloatingPointClass.ROUNDING,
        precision=PrecisionRule.NARROW,
        effect=Effect.PURE,
        gradient=gradient_above("convolutions", "of_conv_backward_weight"),
        batch=NO_BATCH_RULE_YET,
        scale=NO_SCALE_YET,
        support_level=10,
        multiply_adds=_products,
    )  # fmt: skip


CONV1D_BACKWARD_WEIGHT = _record(Conv1DBackwardWeightAttributes)
CONV2D_BACKWARD_WEIGHT = _record(Conv2DBackwardWeightAttributes)
CONV3D_BACKWARD_WEIGHT = _record(Conv3DBackwardWeightAttributes)

WEIGHT_GRADIENTS: tuple[OperatorRecord, ...] = (CONV1D_BACKWARD_WEIGHT, CONV2D_BACKWARD_WEIGHT, CONV3D_BACKWARD_WEIGHT)


def conv1d_backward_weight(
    grad: Argument, data: Argument, kernel_size: int | Sequence[int], strides: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1, data_layout: str = "NCW",
    kernel_layout: str = "OIW", out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """grad[N, O, windows] and data[N, C, W] → [O, C / groups, taps]. Arguments as those of `conv2d_backward_weight`."""
    return _gradient(Conv1DBackwardWeightAttributes, grad, data, kernel_size, strides, padding, dilation, groups,
                     (data_layout, kernel_layout), out_dtype)  # fmt: skip


def conv2d_backward_weight(
    grad: Argument, data: Argument, kernel_size: int | Sequence[int], strides: int | Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0), dilation: int | Sequence[int] = (1, 1), groups: int = 1,
    data_layout: str = "NCHW", kernel_layout: str = "OIHW", out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """grad[N, O, rows, columns] and data[N, C, H, W] → [O, C / groups, kh, kw]

    How much a value changes with the kernel of `conv2d(data, kernel, …)`, where `grad` says how much it does with that
    one's result; `kernel_size` is that of the kernel, `data_layout` that of both inputs, all else as of `conv2d`.
    Raises `RelayError`: `wrong-attribute`, `bad-layout`, `extents-differ`, `window-too-large`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> given, data = var("g", shape=(8, 64, 16, 16)), var("x", shape=(8, 32, 16, 16))
    >>> print(conv2d_backward_weight(given, data, 3, padding=1).checked_type)
    Tensor[(64, 32, 3, 3), float32]
    """
    return _gradient(Conv2DBackwardWeightAttributes, grad, data, kernel_size, strides, padding, dilation, groups,
                     (data_layout, kernel_layout), out_dtype)  # fmt: skip


def conv3d_backward_weight(
    grad: Argument, data: Argument, kernel_size: int | Sequence[int], strides: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0), dilation: int | Sequence[int] = (1, 1, 1), groups: int = 1,
    data_layout: str = "NCDHW", kernel_layout: str = "OIDHW", out_dtype: str | DType | None = None,
) -> Call:  # fmt: skip
    """grad[N, O, windows] and data[N, C, D, H, W] → [O, C / groups, taps]. Arguments as those of
    `conv2d_backward_weight`."""
    return _gradient(Conv3DBackwardWeightAttributes, grad, data, kernel_size, strides, padding, dilation, groups,
                     (data_layout, kernel_layout), out_dtype)  # fmt: skip


def _gradient(
    kind: type[ConvBackwardWeightAttributes], grad: Argument, data: Argument, kernel_size: int | Sequence[int],
    strides: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], groups: int,
    layouts: tuple[str, str], out_dtype: str | DType | None,
) -> Call:  # fmt: skip
    rank = kind.rank
    attributes = kind(
        per_axis(kernel_size, rank), per_axis(strides, rank), full_padding(padding, rank), per_axis(dilation, rank),
        groups, *layouts, optional_dtype(out_dtype),
    )  # fmt: skip
    return call(WEIGHT_GRADIENTS[rank - 1], (grad, data), attributes)

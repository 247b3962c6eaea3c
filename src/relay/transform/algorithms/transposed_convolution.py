"""Transposed convolutions as plain ones, whose results are put side by side with channels innermost.

Element `y` of a result, before it is cut, sums `data[x] · kernel[k]` over `x·stride + k = y`. With `y = m·stride + r`
the taps are `k = r + stride·t`: each remainder `r` is a plain convolution `Σ_t data[m - t] · kernel[r + stride·t]`
(Shi et al. 2016, "Is the deconvolution layer the same as a convolutional layer?", 1609.07009). Those with equally many
taps are computed as one, with the outputs of all, unless there are groups; then remainders are put side by side.

    before: nn.conv2d_transpose(%x, %w, strides=[2, 2], …)
    after:  %0 = nn.conv2d(%x, (taps of remainder 0, 1, 2, 3), …); %1 = reshape(transpose(reshape(%0))), cut

The only products that the definition has not are those with zeros around the data: weights must be finite constants.
"""

from __future__ import annotations

import numpy as np

from relay.base.frozen import frozen
from relay.ir.expr import Constant, Expr
from relay.ir.types import TensorType
from relay.ops.framework.build import call
from relay.ops.framework.rounding import Array
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.layout_transform import in_layout, layout_transform
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.conv import CONV2D, Conv2DAttributes
from relay.ops.nn.conv_transpose import Conv2DTransposeAttributes

LARGEST_REPETITION = 1.5
"""How many times as many products as the definition has: those with zeros around data of 4 rows and columns, of 5 taps
in steps of 2, which a plain convolution computes. Larger data have fewer edges."""


@frozen
class Remainder:
    """The part of one axis whose places leave `first` behind the stride: its number of taps, and the padding of the
    convolution that it is."""

    first: int
    taps: int
    before: int
    after: int


def remainders(stride: int, taps: int, cut: tuple[int, int], added: int) -> tuple[Remainder, ...]:
    """What an axis of a transposed convolution is made of; nothing where the result is cut by so much that these would
    have to be cut too.

    >>> remainders(2, 3, (1, 1), 1)
    (Remainder(first=0, taps=2, before=1, after=1), Remainder(first=1, taps=1, before=0, after=1))
    """
    after = (taps - cut[1] + added - 1) // stride
    found: list[Remainder] = []
    for first in range(stride):
        each = len(range(first, taps, stride))
        found.append(Remainder(first, each, each - 1 - cut[0] // stride, after))
    return tuple(found) if all(min(x.before, x.after, x.taps - 1) >= 0 for x in found) else ()


def as_convolutions(data: Expr, weight: Expr, attributes: Conv2DTransposeAttributes, result: TensorType) -> Expr | None:
    """The result[n, o, h, w] for data[n, c, h, w] and weight[c, o / groups, h, w], by plain convolutions; None where it
    is not made of any."""
    if not isinstance(weight, Constant) or not np.isfinite(weight.data.astype(np.float64)).all():
        return None
    if any(step != 1 for step in attributes.dilation) or not all(isinstance(each, int) for each in result.shape[1:]):
        return None
    top, left, bottom, right = attributes.padding
    cuts, window = ((top, bottom), (left, right)), weight.data.shape[2:]
    down, across = map(remainders, attributes.strides, window, cuts, attributes.output_padding)
    parts = [(row, column) for row in down for column in across]
    if not parts:
        return None
    groups = attributes.groups
    kernels = [_kernel(weight.data, groups, attributes.strides, row, column) for row, column in parts]
    paddings = [(row.before, column.before, row.after, column.after) for row, column in parts]

    layout = "NCHW" if 1 < groups < weight.data.shape[0] else "NHWC"  # channels of a group may fill no vectors
    image = in_layout(data, "NCHW", layout)

    def convolve(kernel: Array, padding: tuple[int, int, int, int]) -> Expr:
        plain = Conv2DAttributes(padding=padding, groups=groups, data_layout=layout, out_dtype=attributes.out_dtype)
        return in_layout(call(CONV2D, (image, Constant(kernel)), plain), layout, "NHWC")

    if groups == 1 and len({(row.taps, column.taps) for row, column in parts}) == 1:
        together = convolve(np.concatenate(kernels, axis=0), paddings[0])
    else:
        together = concatenate(list(map(convolve, kernels, paddings)), axis=-1)
    batch, channels, *size = result.shape
    last = TensorType((batch, *size, channels), result.dtype)
    return layout_transform(_side_by_side(together, attributes, last), "NHWC", "NCHW")


def _kernel(weight: Array, groups: int, strides: tuple[int, ...], row: Remainder, column: Remainder) -> Array:
    """weight[i, o / groups, h, w] → the taps of a remainder, last first: kernel[o, i / groups, t, u]"""
    down, across = strides
    flipped = weight[:, :, row.first :: down, column.first :: across][:, :, ::-1, ::-1]
    inputs, outputs, *taps = flipped.shape
    apart = flipped.reshape(groups, inputs // groups, outputs, *taps).swapaxes(1, 2)
    return apart.reshape(groups * outputs, inputs // groups, *taps)


def _side_by_side(product: Expr, attributes: Conv2DTransposeAttributes, result: TensorType) -> Expr:
    """product[n, m, q, remainders of h and w · o] → result[n, h, w, o]"""
    type_ = product.checked_type
    assert isinstance(type_, TensorType)
    batch, rows, columns, _ = type_.shape
    (down, across), outputs = attributes.strides, result.shape[-1]
    moved = transpose(reshape(product, (batch, rows, columns, down, across, outputs)), (0, 1, 3, 2, 4, 5))
    spread = reshape(moved, (batch, rows * down, columns * across, outputs))
    if spread.checked_type == result:
        return spread
    begin = (attributes.padding[0] % down, attributes.padding[1] % across)
    end = tuple(low + size for low, size in zip(begin, result.shape[1:3], strict=True))
    return strided_slice(spread, begin, end, axes=(1, 2))

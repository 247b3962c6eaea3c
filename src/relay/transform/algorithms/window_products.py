"""Convolutions of few pixels as matrix products with their kernels as they lie: OIHW is a matrix of rows [I · taps].

    before: nn.conv2d_backward_weight(%g, %x, kernel_size=[3, 3], …)       g[n, p, q, O], x[n, h, w, I]
    after:  nn.matmul(transpose(reshape(%g)), windows of %x)               [O, n·p·q] · [n·p·q, I·taps]

    before: nn.conv2d(%g, %w, kernel_layout="IOHW", …)                     g[n, h, w, I], w[I, O, taps]
    after:  %0 = nn.matmul(reshape(%g), reshape(%w)); sums of shifted maps of %0    [n·h·w, I] · [I, O·taps]

Kernels that want blocks of channels innermost read all of the weights and write them again before the convolution, and
a gradient of the weights behind it. Where pixels are few this takes as long as the convolution itself, and their
windows are small (im2col and col2im; Chellapilla et al. 2006, "High performance convolutional neural networks for
document processing"). There are no products but those of the definition and those with zeros of the padding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product

from relay.ir.expr import Call, Constant, Expr
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.window import full_padding, per_axis
from relay.ops.manipulation.combine import stack
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import reshape, squeeze
from relay.ops.manipulation.slice import StridedSliceAttributes, strided_slice
from relay.ops.manipulation.transpose import ReverseAttributes, transpose
from relay.ops.nn.conv import Conv2DAttributes
from relay.ops.nn.conv_backward_weight import Conv2DBackwardWeightAttributes
from relay.ops.nn.matmul import matmul

_CHANNELS_OF_A_PIXEL = 8
"""How many channels there are for each pixel, at least. Of 512 channels to 512 with 32 pixels, a product took 0.66 of
the time (the gradient of the weights) and 0.78 (that of the data), with 49 pixels 0.75 and 0.94; of 256 with 128
pixels 1.15 and 0.98."""
_MOST_TAPS = 25  # each is an operand of a sum, or of what puts windows together


def kernel_gradient_as_product(
    gradient: Expr, data: Expr, attributes: Conv2DBackwardWeightAttributes
) -> Expr | None:  # fmt: skip
    """The gradient [O, I, taps] of a kernel for gradient[n, p, q, O] of the result and data[n, h, w, I]; None where
    pixels are too many."""
    results, pixels = _known(gradient), _known(data)
    if attributes.groups > 1 or attributes.out_dtype or len(results) < 4 or len(pixels) < 4:
        return None
    *count, outputs = results
    inputs, taps = pixels[-1], attributes.kernel_size
    if not _are_few(math.prod(count), outputs, inputs, taps):
        return None
    padded = _padded(data, full_padding(attributes.padding, 2))
    places = _places(taps, per_axis(attributes.dilation, 2))
    windows = [_window(padded, place, count[1:], per_axis(attributes.strides, 2)) for place in places]
    rows = reshape(stack(windows, axis=3), (math.prod(count), math.prod(taps), inputs))
    columns = reshape(transpose(rows, (0, 2, 1)), (math.prod(count), inputs * math.prod(taps)))
    found = matmul(transpose(reshape(gradient, (math.prod(count), outputs)), (1, 0)), columns)
    return reshape(found, (outputs, inputs, *taps))


def spread_as_product(data: Expr, kernel: Expr, attributes: Conv2DAttributes) -> Expr | None:
    """The convolution [n, p, q, O] of data[n, h, w, I] with a kernel[I, O, taps] that the run brings, reversed along
    its taps or not; None where pixels are too many, for steps, and for a kernel that is a part of another."""
    weight, reversed_axes = _as_it_was(kernel)
    extents, channels = _known(data), _known(weight)
    is_plain = attributes.kernel_layout == "IOHW" and attributes.groups == 1 and not attributes.out_dtype
    is_part = isinstance(weight, Call) and isinstance(weight.attrs, StridedSliceAttributes)
    if not is_plain or is_part or isinstance(weight, Constant) or len(extents) < 4 or len(channels) < 4:
        return None
    *count, inputs = extents
    _, outputs, *taps = channels
    if not _are_few(math.prod(count), outputs, inputs, taps) or set(per_axis(attributes.strides, 2)) != {1}:
        return None
    matrix = reshape(weight, (inputs, outputs * math.prod(taps)))
    maps = reshape(matmul(reshape(data, (math.prod(count), inputs)), matrix), (*count, outputs, math.prod(taps)))
    padding, dilation = full_padding(attributes.padding, 2), per_axis(attributes.dilation, 2)
    top, left, bottom, right = padding
    size = [
        extent + around - step * (tap - 1)
        for extent, around, step, tap in zip(count[1:], (top + bottom, left + right), dilation, taps, strict=True)
    ]
    parts: list[Expr] = []
    for number, place in enumerate(_places(taps, dilation)):
        down, across = divmod(number, taps[1])
        down = taps[0] - 1 - down if 2 in reversed_axes else down
        across = taps[1] - 1 - across if 3 in reversed_axes else across
        tap = down * taps[1] + across
        of_tap = squeeze(strided_slice(maps, (tap,), (tap + 1,), axes=(4,)), axis=(4,))
        parts.append(_window(_padded(of_tap, padding), place, size, (1, 1)))
    return reduce(add, parts)


def _are_few(pixels: int, outputs: int, inputs: int, taps: Sequence[int]) -> bool:
    is_small = 0 < pixels * _CHANNELS_OF_A_PIXEL <= min(outputs, inputs)
    return is_small and 1 < math.prod(taps) <= _MOST_TAPS


def _known(expr: Expr) -> list[int]:
    """The extents that are numbers."""
    type_ = expr.checked_type
    return [extent for extent in type_.shape if isinstance(extent, int)] if isinstance(type_, TensorType) else []


def _as_it_was(kernel: Expr) -> tuple[Expr, set[int]]:
    """A kernel before it was reversed, and the axes along which it was."""
    axes = set[int]()
    while isinstance(kernel, Call) and isinstance(kernel.attrs, ReverseAttributes):
        axes ^= {kernel.attrs.axis % 4}
        kernel = kernel.args[0]
    return kernel, axes


def _padded(data: Expr, padding: Sequence[int]) -> Expr:
    top, left, bottom, right = padding
    return pad(data, ((0, 0), (top, bottom), (left, right), (0, 0))) if any(padding) else data


def _places(taps: Sequence[int], dilation: Sequence[int]) -> list[tuple[int, int]]:
    """Where the windows of the taps begin, in their order."""
    return [(a * dilation[0], b * dilation[1]) for a, b in product(range(taps[0]), range(taps[1]))]


def _window(padded: Expr, place: Sequence[int], size: Sequence[int], strides: Sequence[int]) -> Expr:
    """What a tap meets of padded data [n, h, w, c]: `size` rows and columns from its place on."""
    ends = [first + (extent - 1) * step + 1 for first, extent, step in zip(place, size, strides, strict=True)]
    return strided_slice(padded, place, ends, strides, axes=(1, 2))

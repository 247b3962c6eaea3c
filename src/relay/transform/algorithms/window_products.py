"""Convolutions of few pixels as matrix products with their kernels as they lie: OIHW is a matrix of rows [I · taps].

    before: nn.conv2d(%x, %w, kernel_layout="OIHW", …)                     x[n, h, w, I], w[O, I, taps]
    after:  transpose(nn.matmul(reshape(%w), windows of %x))               [O, I·taps] · [I·taps, n·p·q]

    before: nn.conv2d(%g, %w, kernel_layout="IOHW", …)                     g[n, h, w, I], w[I, O, taps]
    after:  %0 = nn.matmul(reshape(%g), reshape(%w)); sums of shifted maps of %0    [n·h·w, I] · [I, O·taps]

    before: nn.conv2d_backward_weight(%g, %x, kernel_size=[3, 3], …)       g[n, p, q, O], x[n, h, w, I]
    after:  nn.matmul(transpose(reshape(%g)), windows of %x)               [O, n·p·q] · [n·p·q, I·taps]

Kernels of convolutions want blocks of channels innermost: weights that the run brings are read and written again before
the convolution, and their gradient behind it. Where pixels are few this takes as long as the convolution itself, and
their windows are small (im2col and col2im; Chellapilla et al. 2006, "High performance convolutional neural networks for
document processing"). There are no products but those of the definition and those with zeros of the padding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product

from relay.base.dtypes import DType
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

_CHANNELS_OF_A_PIXEL = 4
"""How many channels there are for each pixel, at least. Of 512 channels to 512 with 32 pixels, a product took 0.54 of
the time of the convolution, 0.78 of that by the data's gradient and 0.56 of the kernel's; with 49 pixels 0.86, 0.94 and
0.65; of 256 with 128 pixels 0.91 to 1.09, 1.0 and 0.9."""
_MOST_TAPS = 25  # each is an operand of a sum, or of what puts windows together


def as_product(data: Expr, kernel: Expr, attributes: Conv2DAttributes) -> Expr | None:
    """The convolution [n, p, q, O] of data[n, h, w, I] with a kernel that the run brings, OIHW or IOHW and then
    reversed along its taps or not; None where pixels are too many, and for a kernel that is a part of another."""
    weight, reversed_axes = _as_it_was(kernel)
    extents, channels, layout = _known(data), _known(weight), attributes.kernel_layout
    is_part = isinstance(weight, Call) and isinstance(weight.attrs, StridedSliceAttributes)
    if is_part or isinstance(weight, Constant) or len(extents) < 4 or len(channels) < 4 or attributes.out_dtype:
        return None
    if attributes.groups > 1 or set(layout) != set("OIHW"):
        return None
    outputs, inputs, *taps = (channels[layout.index(letter)] for letter in "OIHW")
    size = _result_size(extents[1:3], taps, attributes)
    if layout == "OIHW" and not reversed_axes and _are_few(extents[0] * math.prod(size), outputs, inputs, taps):
        windows = stack(_windows(data, taps, (extents[0], *size), attributes), axis=0)
        columns = reshape(transpose(windows, (2, 0, 1)), (inputs * math.prod(taps), -1))
        found = matmul(reshape(weight, (outputs, inputs * math.prod(taps))), columns)
        return reshape(transpose(found, (1, 0)), (extents[0], *size, outputs))
    is_spread = layout == "IOHW" and set(per_axis(attributes.strides, 2)) == {1}
    if not is_spread or not _are_few(math.prod(extents[:3]), outputs, inputs, taps):
        return None
    matrix = reshape(weight, (inputs, outputs * math.prod(taps)))
    maps = reshape(matmul(reshape(data, (-1, inputs)), matrix), (*extents[:3], outputs, math.prod(taps)))
    parts: list[Expr] = []
    for (down, across), place in zip(product(*map(range, taps)), _places(taps, attributes), strict=True):
        down = taps[0] - 1 - down if 2 in reversed_axes else down
        across = taps[1] - 1 - across if 3 in reversed_axes else across
        tap = down * taps[1] + across
        of_tap = squeeze(strided_slice(maps, (tap,), (tap + 1,), axes=(4,)), axis=(4,))
        parts.append(_window(_padded(of_tap, attributes), place, size, (1, 1)))
    return reduce(add, parts)


def kernel_gradient_as_product(
    gradient: Expr, data: Expr, attributes: Conv2DBackwardWeightAttributes
) -> Expr | None:  # fmt: skip
    """The gradient [O, I, taps] of a kernel for gradient[n, p, q, O] of the result and data[n, h, w, I]; None where
    pixels are too many."""
    results, extents, taps = _known(gradient), _known(data), attributes.kernel_size
    if attributes.groups > 1 or attributes.out_dtype or len(results) < 4 or len(extents) < 4:
        return None
    (*count, outputs), inputs = results, extents[-1]
    if not _are_few(math.prod(count), outputs, inputs, taps):
        return None
    windows = stack(_windows(data, taps, count, attributes), axis=1)
    columns = reshape(transpose(windows, (0, 2, 1)), (math.prod(count), inputs * math.prod(taps)))
    found = matmul(transpose(reshape(gradient, (math.prod(count), outputs)), (1, 0)), columns)
    return reshape(found, (outputs, inputs, *taps))


def _are_few(pixels: int, outputs: int, inputs: int, taps: Sequence[int]) -> bool:
    is_small = 0 < pixels * _CHANNELS_OF_A_PIXEL <= min(outputs, inputs)
    return is_small and 1 < math.prod(taps) <= _MOST_TAPS


def _known(expr: Expr) -> list[int]:
    """The extents that are numbers, of a tensor of numbers as matrix products have them."""
    type_ = expr.checked_type
    if not isinstance(type_, TensorType) or type_.dtype not in (DType.FLOAT32, DType.FLOAT64):
        return []
    return [extent for extent in type_.shape if isinstance(extent, int)]


def _as_it_was(kernel: Expr) -> tuple[Expr, set[int]]:
    """A kernel before it was reversed, and the axes along which it was."""
    axes = set[int]()
    while isinstance(kernel, Call) and isinstance(kernel.attrs, ReverseAttributes):
        axes ^= {kernel.attrs.axis % 4}
        kernel = kernel.args[0]
    return kernel, axes


_Attributes = Conv2DAttributes | Conv2DBackwardWeightAttributes


def _result_size(size: Sequence[int], taps: Sequence[int], attributes: Conv2DAttributes) -> list[int]:
    top, left, bottom, right = full_padding(attributes.padding, 2)
    steps = zip(per_axis(attributes.dilation, 2), per_axis(attributes.strides, 2), strict=True)
    return [
        (extent + around - dilation * (tap - 1) - 1) // stride + 1
        for extent, around, tap, (dilation, stride) in zip(size, (top + bottom, left + right), taps, steps, strict=True)
    ]


def _windows(data: Expr, taps: Sequence[int], count: Sequence[int], attributes: _Attributes) -> list[Expr]:
    """data[n, h, w, I] → [n·p·q, I] for each tap: what it meets, for the pixels [n, p, q]."""
    padded, strides = _padded(data, attributes), per_axis(attributes.strides, 2)
    met = [_window(padded, place, count[1:], strides) for place in _places(taps, attributes)]
    return [reshape(each, (math.prod(count), -1)) for each in met]


def _padded(data: Expr, attributes: _Attributes) -> Expr:
    top, left, bottom, right = full_padding(attributes.padding, 2)
    return pad(data, ((0, 0), (top, bottom), (left, right), (0, 0))) if top or left or bottom or right else data


def _places(taps: Sequence[int], attributes: _Attributes) -> list[tuple[int, int]]:
    """Where the windows of the taps begin, in their order."""
    down, across = per_axis(attributes.dilation, 2)
    return [(a * down, b * across) for a, b in product(*map(range, taps))]


def _window(padded: Expr, place: Sequence[int], size: Sequence[int], strides: Sequence[int]) -> Expr:
    """What a tap meets of padded data [n, h, w, c]: `size` rows and columns from its place on."""
    ends = [first + (extent - 1) * step + 1 for first, extent, step in zip(place, size, strides, strict=True)]
    return strided_slice(padded, place, ends, strides, axes=(1, 2))

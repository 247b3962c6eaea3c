"""Transposed convolutions as plain ones, whose results are put side by side with channels innermost.

Element `y` of a result, before it is cut, sums `data[x] · kernel[k]` over `x·stride + k = y`. With `y = m·stride + r`
the taps are `k = r + stride·t`: each remainder `r` is a plain convolution `Σ_t data[m - t] · kernel[r + stride·t]`
(Shi et al. 2016, "Is the deconvolution layer the same as a convolutional layer?", 1609.07009). Those with equally many
taps are computed as one, with the outputs of all, unless there are groups; then remainders are put side by side, zeros
where one has no taps. With a stride of 1 there is one remainder, and taps may be apart (dilation).

    before: nn.conv2d_transpose(%x, %w, strides=[2, 2], …)
    after:  %0 = nn.conv2d(%x, (taps of remainder 0, 1, 2, 3), …); %1 = reshape(transpose(reshape(%0))), cut

The only products that the definition has not are those with zeros around the data, which are zero for finite weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.base.frozen import frozen
from relay.infer.eager import eager_type
from relay.ir.expr import Expr
from relay.ir.types import Dimension, TensorType
from relay.ops.creation.create import zeros
from relay.ops.framework.build import call
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.layout_transform import in_layout, layout_transform
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.transpose import reverse, transpose
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


def remainders(
    stride: int, taps: int, cut: tuple[int, int], added: int, dilation: int = 1
) -> tuple[Remainder, ...]:  # fmt: skip
    """What an axis of a transposed convolution is made of; nothing where the result is cut by so much that these would
    have to be cut too.

    >>> remainders(2, 3, (1, 1), 1)
    (Remainder(first=0, taps=2, before=1, after=1), Remainder(first=1, taps=1, before=0, after=1))
    """
    if stride > 1 and dilation > 1:
        return ()
    after = (dilation * (taps - 1) - cut[1] + added) // stride
    found: list[Remainder] = []
    for first in range(stride):
        each = len(range(first, taps, stride))
        found.append(Remainder(first, each, dilation * (each - 1) - cut[0] // stride, after))
    return tuple(found) if all(min(x.before, x.after) >= 0 for x in found if x.taps) else ()


def as_convolutions(
    data: Expr, weight: Expr, attributes: Conv2DTransposeAttributes, result: TensorType,
    prepared: Callable[[Expr], Expr] = lambda kernel: kernel,
) -> Expr | None:  # fmt: skip
    """The result[n, o, h, w] for data[n, c, h, w] and weight[c, o / groups, h, w], by plain convolutions with kernels
    that are `prepared`; None where it is not made of any."""
    shape = _shape(weight)
    inputs, per_group, *window = [extent for extent in shape if isinstance(extent, int)] + [0] * (4 - len(shape))
    if len(window) != 2 or not all(isinstance(each, int) for each in (*shape, *result.shape[1:])):
        return None
    top, left, bottom, right = attributes.padding
    axes = zip(attributes.strides, window, ((top, bottom), (left, right)), attributes.output_padding,
               attributes.dilation, strict=True)  # fmt: skip
    down, across = (remainders(*each) for each in axes)
    parts = [(row, column) for row in down for column in across]
    if not parts:
        return None
    groups, (batch, channels, *size) = attributes.groups, result.shape
    layout = "NCHW" if 1 < groups < inputs else "NHWC"  # channels of a group may fill no vectors
    image = in_layout(data, "NCHW", layout)

    def kernel_of(row: Remainder, column: Remainder) -> Expr:
        return _kernel(weight, (groups, inputs, per_group), attributes.strides, row, column)

    def convolve(row: Remainder, column: Remainder, kernel: Expr) -> Expr:
        plain = Conv2DAttributes(
            padding=(row.before, column.before, row.after, column.after), dilation=attributes.dilation, groups=groups,
            data_layout=layout, kernel_layout="IOHW" if groups == 1 else "OIHW", out_dtype=attributes.out_dtype,
        )  # fmt: skip
        return in_layout(call(CONV2D, (image, prepared(kernel)), plain), layout, "NHWC")

    if groups == 1 and len({(row.taps, column.taps) for row, column in parts}) == 1:
        kernels = [kernel_of(*part) for part in parts]
        together = convolve(*parts[0], concatenate(kernels, axis=1) if kernels[1:] else kernels[0])
    else:
        first = convolve(*parts[0], kernel_of(*parts[0]))  # the one remainder that surely has taps
        made = [
            convolve(*part, kernel_of(*part)) if all(each.taps for each in part) else zeros(_shape(first), result.dtype)
            for part in parts[1:]
        ]
        together = concatenate([first, *made], axis=-1)
    last = TensorType((batch, *size, channels), result.dtype)
    return layout_transform(_side_by_side(together, attributes, last), "NHWC", "NCHW")


def _shape(expr: Expr) -> tuple[Dimension, ...]:
    type_ = eager_type(expr)
    return type_.shape if isinstance(type_, TensorType) else ()


def _kernel(
    weight: Expr, channels: tuple[int, int, int], strides: Sequence[int], row: Remainder, column: Remainder
) -> Expr:
    """weight[i, o / groups, h, w], with `channels` groups, i, o / groups → the taps of a remainder, last first:
    kernel[i, o, t, u]; of groups kernel[o, i / groups, t, u]"""
    groups, inputs, outputs = channels
    taken = weight
    if max(strides) > 1:
        ends = [part.first + (part.taps - 1) * step + 1 for part, step in zip((row, column), strides, strict=True)]
        taken = strided_slice(weight, [row.first, column.first], ends, list(strides), axes=[2, 3])
    for axis, part in ((2, row), (3, column)):
        taken = reverse(taken, axis) if part.taps > 1 else taken
    taps = (row.taps, column.taps)
    if groups == 1:
        return taken
    apart = transpose(reshape(taken, (groups, inputs // groups, outputs, *taps)), (0, 2, 1, 3, 4))
    return reshape(apart, (groups * outputs, inputs // groups, *taps))


def _side_by_side(product: Expr, attributes: Conv2DTransposeAttributes, result: TensorType) -> Expr:
    """product[n, m, q, remainders of h and w · o] → result[n, h, w, o]"""
    (down, across), outputs = attributes.strides, result.shape[-1]
    spread = product
    if max(attributes.strides) > 1:
        batch, rows, columns, _ = _shape(product)
        moved = transpose(reshape(product, (batch, rows, columns, down, across, outputs)), (0, 1, 3, 2, 4, 5))
        spread = reshape(moved, (batch, rows * down, columns * across, outputs))
    if _shape(spread) == result.shape:
        return spread
    begin = (attributes.padding[0] % down, attributes.padding[1] % across)
    end = tuple(low + size for low, size in zip(begin, result.shape[1:3], strict=True))
    return strided_slice(spread, begin, end, axes=(1, 2))

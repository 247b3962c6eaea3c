"""Gradients of convolutions, poolings, and what lays space out in channels."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.ir.expr import Call, Expr, const
from relay.ops.creation.create import zeros
from relay.ops.elementwise.comparison import equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, divide, logical_and, logical_or, multiply
from relay.ops.elementwise.elementwise_unary import logical_not
from relay.ops.framework.build import call as call_of
from relay.ops.framework.window import full_padding, pads_of, per_axis, spatial_axes
from relay.ops.gradients.shared import extents_of, kept_where, tensor_of
from relay.ops.indexing.strided_set import strided_set
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.conv import CONVOLUTIONS, ConvAttributes
from relay.ops.nn.conv_transpose import TRANSPOSED_CONVOLUTIONS, ConvTransposeAttributes
from relay.ops.nn.pool import AvgPoolAttributes, MaxPoolAttributes, PoolAttributes
from relay.ops.nn.pool_adaptive import GlobalPool2DAttributes
from relay.ops.nn.space_depth import SubPixelAttributes, depth_to_space, space_to_depth
from relay.ops.reduction.reduce import sum as sum_over
from relay.te.reducers import lowest

Entries = tuple[Expr | None, ...]


def of_conv(call: Call, given: Expr) -> Entries:
    """By the data the transposed convolution, by the kernel a convolution of the data by the output gradient (LeCun et
    al. 1998): in the plain layouts."""
    attributes = call.attrs
    assert isinstance(attributes, ConvAttributes)
    space = "".join(spatial_axes(attributes.rank))
    data = in_layout(call.args[0], attributes.data_layout, f"NC{space}")
    given = in_layout(given, attributes.out_layout or attributes.data_layout, f"NC{space}")
    padded = in_layout(call.args[1], attributes.kernel_layout, f"OI{space}")
    kernel = strided_slice(padded, [0], [tensor_of(given).shape[1]], axes=[0])  # without what fills blocks
    by_data = _transposed(given, kernel, data, attributes)
    by_kernel = _correlated(data, given, kernel, attributes, attributes.groups)
    return (
        in_layout(by_data, f"NC{space}", attributes.data_layout),
        in_layout(by_kernel, f"OI{space}", attributes.kernel_layout),
    )


def of_conv_transpose(call: Call, given: Expr) -> Entries:
    """By the data the convolution that it transposes, by the kernel that one's gradient with data and result the other
    way round."""
    attributes = call.attrs
    assert isinstance(attributes, ConvTransposeAttributes)
    space = "".join(spatial_axes(attributes.rank))
    data = in_layout(call.args[0], attributes.data_layout, f"NC{space}")
    kernel = in_layout(call.args[1], attributes.kernel_layout, f"IO{space}")
    given = in_layout(given, attributes.out_layout or attributes.data_layout, f"NC{space}")
    by_data = _convolution(attributes.rank, given, kernel, attributes.strides, attributes.padding, attributes.dilation,
                           attributes.groups)  # fmt: skip
    by_kernel = _correlated(given, data, kernel, attributes, attributes.groups)
    return (
        in_layout(by_data, f"NC{space}", attributes.data_layout),
        in_layout(by_kernel, f"IO{space}", attributes.kernel_layout),
    )


def _transposed(given: Expr, kernel: Expr, data: Expr, attributes: Any) -> Expr:
    """The output gradient spread over the data: `[N, C, space]`."""
    rank = attributes.rank
    sizes, taps = _numbers(data)[2:], _numbers(kernel)[2:]
    strides, dilation = per_axis(attributes.strides, rank), per_axis(attributes.dilation, rank)
    padding = full_padding(attributes.padding, rank)
    left = [
        (size + before + after - d * (k - 1) - 1) % s
        for size, (before, after), d, k, s in zip(sizes, pads_of(padding), dilation, taps, strides, strict=True)
    ]
    record = TRANSPOSED_CONVOLUTIONS[rank - 1]
    made: Any = record.attributes
    spread = made(
        strides=strides, padding=padding, dilation=dilation, groups=attributes.groups, output_padding=tuple(left)
    )
    return call_of(record, (given, kernel), spread)


def _correlated(data: Expr, given: Expr, kernel: Expr, attributes: Any, groups: int) -> Expr:
    """`[O, I, taps]`: how far the output gradient and the data under each tap go together. Batch and channels change
    places, strides and dilation too; each group is a group of that convolution."""
    rank = attributes.rank
    batch, _, *sizes = _numbers(data)
    _, inner, *taps = _numbers(kernel)
    order = [1, 0, *range(2, rank + 2)]
    strides, dilation = per_axis(attributes.strides, rank), per_axis(attributes.dilation, rank)
    padding = full_padding(attributes.padding, rank)
    # [batch, groups, inner, space] as [inner, groups * batch, space]
    apart = reshape(data, [batch, groups, inner, *sizes], allowzero=True)
    swapped = reshape(transpose(apart, [2, 1, 0, *range(3, rank + 3)]), [inner, groups * batch, *sizes], allowzero=True)
    found = _convolution(rank, swapped, transpose(given, order), dilation, padding, strides, groups)
    whole = transpose(found, order)
    return strided_slice(whole, [0] * rank, taps, slice_mode="size", axes=list(range(2, rank + 2)))


def _convolution(rank: int, data: Expr, kernel: Expr, strides: Any, padding: Any, dilation: Any, groups: int) -> Expr:
    record = CONVOLUTIONS[rank - 1]
    made: Any = record.attributes
    return call_of(record, (data, kernel), made(strides=strides, padding=padding, dilation=dilation, groups=groups))


def of_max_pool(call: Call, given: Expr) -> Entries:
    """To the element that the result is; of several, to the first of the window."""
    assert isinstance(call.attrs, MaxPoolAttributes)
    data, result, given = _plain(call, given)
    windows = _windows(data, call.attrs)
    wide = pad(data, windows.around, const(lowest(tensor_of(data).dtype), tensor_of(data).dtype))
    found: Expr = zeros(_numbers(wide), tensor_of(data).dtype)
    earlier: Expr | None = None
    for tap in windows.taps:
        is_here = equal(strided_slice(wide, *tap), result)
        first = is_here if earlier is None else logical_and(is_here, logical_not(earlier))
        earlier = is_here if earlier is None else logical_or(earlier, is_here)
        found = strided_set(found, add(strided_slice(found, *tap), kept_where(first, given)), *tap)
    return (in_layout(pad(found, windows.inner), _plain_layout(call.attrs), call.attrs.layout),)


def of_avg_pool(call: Call, given: Expr) -> Entries:
    """A share to each element of the window."""
    assert isinstance(call.attrs, AvgPoolAttributes)
    data, _, given = _plain(call, given)
    windows = _windows(data, call.attrs)
    share = divide(given, const(windows.counts, tensor_of(data).dtype))
    wide = [size + before + after for size, (before, after) in zip(_numbers(data), windows.around, strict=True)]
    found: Expr = zeros(wide, tensor_of(data).dtype)
    for tap in windows.taps:
        found = strided_set(found, add(strided_slice(found, *tap), share), *tap)
    return (in_layout(pad(found, windows.inner), _plain_layout(call.attrs), call.attrs.layout),)


def of_global_avg_pool(call: Call, given: Expr) -> Entries:
    """A share to each element."""
    assert isinstance(call.attrs, GlobalPool2DAttributes)
    layout = call.attrs.layout
    shape = _numbers(in_layout(call.args[0], layout, "NCHW"))
    share = divide(in_layout(given, call.attrs.out_layout or layout, "NCHW"), float(shape[2] * shape[3]))
    return (in_layout(broadcast_to(share, shape), "NCHW", layout),)


def of_global_max_pool(call: Call, given: Expr) -> Entries:
    """To the elements that the result is, a share to each."""
    assert isinstance(call.attrs, GlobalPool2DAttributes)
    layout, out = call.attrs.layout, call.attrs.out_layout or call.attrs.layout
    data, result = in_layout(call.args[0], layout, "NCHW"), in_layout(call, out, "NCHW")
    is_here = cast(equal(data, result), tensor_of(data).dtype)
    share = divide(in_layout(given, out, "NCHW"), sum_over(is_here, axis=[2, 3], keepdims=True))
    return (in_layout(multiply(is_here, share), "NCHW", layout),)


def of_depth_to_space(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, SubPixelAttributes)
    size, layout = call.attrs.block_size, call.attrs.layout
    back = space_to_depth(given, size, layout)
    if call.attrs.mode == "DCR":
        return (back,)
    plain = in_layout(back, layout, "NCHW")  # with the place in a block above the channels, which is to be below
    batch, channels, *space = tensor_of(plain).shape
    apart = transpose(reshape(plain, [batch, size * size, channels // (size * size), *space]), [0, 2, 1, 3, 4])
    return (in_layout(reshape(apart, [batch, channels, *space]), "NCHW", layout),)


def of_space_to_depth(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, SubPixelAttributes)
    return (depth_to_space(given, call.attrs.block_size, call.attrs.layout),)


@frozen
class _Windows:
    """The windows of a pooling of data `[N, C, space]`. `around`: what they reach of each axis before and after the
    data, and `inner` what cuts that off; `taps`: where each tap of all windows lies there, as `(begin, end, stride)`;
    `counts[1, 1, windows]`: how many elements of each count."""

    around: list[tuple[int, int]]
    taps: list[tuple[list[int], list[int], list[int]]]
    counts: NDArray[Any]

    @property
    def inner(self) -> list[tuple[int, int]]:
        return [(-before, -after) for before, after in self.around]


def _windows(data: Expr, attributes: PoolAttributes) -> _Windows:
    rank = attributes.rank
    along = [
        _along(*each, attributes)
        for each in zip(
            _numbers(data)[2:], per_axis(attributes.pool_size, rank), per_axis(attributes.strides, rank),
            per_axis(attributes.dilation, rank), pads_of(full_padding(attributes.padding, rank)), strict=True,
        )
    ]  # fmt: skip
    batch, channels, *_ = _numbers(data)
    whole = ((0, batch, 1), (0, channels, 1))
    taps: list[tuple[list[int], list[int], list[int]]] = []
    for each in product(*(taps for _, taps, _ in along)):
        begins, ends, strides = zip(*whole, *each, strict=True)
        taps.append((list(begins), list(ends), list(strides)))
    counts = np.ones((1, 1), np.int64)
    for _, _, sizes in along:
        counts = counts[..., None] * sizes
    return _Windows([(0, 0), (0, 0), *(around for around, _, _ in along)], taps, counts)


def _along(
    size: int, window: int, stride: int, dilation: int, pads: tuple[int, int], attributes: PoolAttributes
) -> tuple[tuple[int, int], list[tuple[int, int, int]], NDArray[Any]]:
    """Of one axis: what windows reach around the data, where each tap lies, and how many elements of a window count."""
    before, after = pads
    span = dilation * (window - 1) + 1
    room = size + before + after - span
    count = room // stride + 1
    if attributes.ceil_mode:
        count = min(-(-room // stride) + 1, (size + before - 1) // stride + 1)
    reach = (count - 1) * stride + span
    taps = [(at * dilation, at * dilation + (count - 1) * stride + 1, stride) for at in range(window)]
    places = np.arange(count)[:, None] * stride - before + np.arange(window) * dilation
    includes = isinstance(attributes, AvgPoolAttributes) and attributes.count_include_pad
    counts = (places < size + after) if includes else ((places >= 0) & (places < size))
    return (before, max(after, reach - size - before)), taps, np.maximum(counts.sum(axis=1), 1)


def _plain_layout(attributes: PoolAttributes) -> str:
    return "NC" + "".join(spatial_axes(attributes.rank))


def _plain(call: Call, given: Expr) -> tuple[Expr, Expr, Expr]:
    """Data, result and output gradient as `[N, C, space]`."""
    attributes = call.attrs
    assert isinstance(attributes, PoolAttributes)
    plain, out = _plain_layout(attributes), attributes.out_layout or attributes.layout
    return in_layout(call.args[0], attributes.layout, plain), in_layout(call, out, plain), in_layout(given, out, plain)


def _numbers(expr: Expr) -> list[int]:
    """The extents of a tensor, which must be numbers here."""
    shape = extents_of(expr)
    if shape is None:
        raise RelayError(
            rule="no-gradient", message="windows over data of unknown extents have no gradient yet",
            found=str(tensor_of(expr)), expected="extents that are numbers",
        )  # fmt: skip
    return list(shape)

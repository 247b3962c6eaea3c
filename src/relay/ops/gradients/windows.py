"""Gradients of poolings, and of what lays space out in channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ir.expr import Call, Expr, const
from relay.ops.elementwise.comparison import equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, divide, multiply
from relay.ops.framework.build import call as call_of
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.window import full_padding, per_axis, spatial_axes
from relay.ops.gradients.shared import kept_where, tensor_of
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.pool import AvgPoolAttributes, MaxPoolAttributes, PoolAttributes
from relay.ops.nn.pool_adaptive import GlobalPool2DAttributes
from relay.ops.nn.pool_backward import AVG_POOL_GRAD, MAX_POOL_GRAD, MAX_POOL_TAPS, PoolGradAttributes
from relay.ops.nn.space_depth import SubPixelAttributes, depth_to_space, space_to_depth
from relay.ops.reduction.reduce import sum as sum_over

Entries = tuple[Expr | None, ...]


def of_max_pool(call: Call, given: Expr) -> Entries:
    """To the element that the result is; of several, to the first of the window."""
    attributes, (data,) = call.attrs, call.args
    assert isinstance(attributes, MaxPoolAttributes)
    layout, out = attributes.layout, attributes.out_layout or attributes.layout
    record, inner = MAX_POOL_TAPS[attributes.rank - 1], replace(attributes, out_layout="")
    taps = call_of(record, (data, in_layout(call, out, layout)), inner)
    return (call_of(MAX_POOL_GRAD, (in_layout(given, out, layout), taps), _windows_of(attributes, data)),)


def of_avg_pool(call: Call, given: Expr) -> Entries:
    """A share to each element of the window."""
    attributes, (data,) = call.attrs, call.args
    assert isinstance(attributes, AvgPoolAttributes)
    plain, out = _plain_layout(attributes.rank), attributes.out_layout or attributes.layout
    windows = _windows_of(attributes, data)
    given = in_layout(given, out, plain)
    share = divide(given, const(_counts(attributes, windows, _space(given, plain)), tensor_of(data).dtype))
    spread = call_of(AVG_POOL_GRAD, (share,), replace(windows, layout=plain))
    return (in_layout(spread, plain, attributes.layout),)


def of_max_pool_grad(call: Call, given: Expr) -> Entries:
    """By the gradient of a window, that of the element which it took."""
    assert isinstance(call.attrs, PoolGradAttributes)
    taps = call.args[1]
    parts = [
        kept_where(equal(taps, const(number, DType.INT32)), part)
        for number, part in enumerate(_under_taps(given, call.args[0], call.attrs))
    ]
    return reduce(add, parts), None


def of_avg_pool_grad(call: Call, given: Expr) -> Entries:
    """By the gradient of a window, the sum of those of its elements."""
    assert isinstance(call.attrs, PoolGradAttributes)
    return (reduce(add, _under_taps(given, call.args[0], call.attrs)),)


def _under_taps(wide: Expr, windows: Expr, attributes: PoolGradAttributes) -> list[Expr]:
    """What lies under each tap of all windows, 0 outside."""
    layout = parse_layout(attributes.layout)
    counts, sizes = _space(windows, attributes.layout), _space(wide, attributes.layout)
    around, ranges = dict[str, tuple[int, int]](), dict[str, list[tuple[int, int]]]()
    for axis, size, count, taps, stride, dilation, (before, _) in zip(
        attributes.axes,
        sizes,
        counts,
        attributes.pool_size,
        attributes.strides,
        attributes.dilation,
        attributes.pads,
        strict=True,
    ):
        length = (count - 1) * stride + 1
        around[axis] = (before, max(0, (taps - 1) * dilation + length - size - before))
        ranges[axis] = [(at * dilation, at * dilation + length) for at in range(taps)]
    padded = pad(wide, [around.get(letter, (0, 0)) for letter in layout.letters])
    places = [layout.position(axis) for axis in attributes.axes]
    return [
        strided_slice(padded, [begin for begin, _ in tap], [end for _, end in tap], list(attributes.strides), places)
        for tap in product(*ranges.values())
    ]


def of_global_avg_pool(call: Call, given: Expr) -> Entries:
    """A share to each element."""
    assert isinstance(call.attrs, GlobalPool2DAttributes)
    layout = call.attrs.layout
    data = in_layout(call.args[0], layout, "NCHW")
    rows, columns = _space(data, "NCHW")
    share = divide(in_layout(given, call.attrs.out_layout or layout, "NCHW"), float(rows * columns))
    return (in_layout(broadcast_to(share, tensor_of(data).shape), "NCHW", layout),)


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


def _windows_of(attributes: PoolAttributes, data: Expr) -> PoolGradAttributes:
    """The windows of a pooling, everything spelled out."""
    rank = attributes.rank
    return PoolGradAttributes(
        per_axis(attributes.pool_size, rank), per_axis(attributes.strides, rank), per_axis(attributes.dilation, rank),
        full_padding(attributes.padding, rank), tuple(_space(data, attributes.layout)), attributes.layout,
    )  # fmt: skip


def _counts(attributes: AvgPoolAttributes, windows: PoolGradAttributes, counts: Sequence[int]) -> NDArray[Any]:
    """How many elements of each window count: `[1, 1, windows]`."""
    found = np.ones((1, 1), np.int64)
    for count, size, taps, stride, dilation, (before, after) in zip(
        counts, windows.size, windows.pool_size, windows.strides, windows.dilation, windows.pads, strict=True
    ):
        assert isinstance(size, int)
        places = np.arange(count)[:, None] * stride - before + np.arange(taps) * dilation
        inside = (places < size + after) if attributes.count_include_pad else ((places >= 0) & (places < size))
        found = found[..., None] * np.maximum(inside.sum(axis=1), 1)
    return found


def _space(expr: Expr, layout: str) -> list[int]:
    """The extents of space of a tensor, which must be numbers here."""
    form, shape = parse_layout(layout), tensor_of(expr).shape
    known = [extent for letter, extent in sorted(form.extents(shape).items()) if letter not in "NC"]
    space = [extent for extent in known if isinstance(extent, int)]
    if len(space) < len(known):
        raise RelayError(
            rule="no-gradient", message="windows over data of unknown extents have no gradient yet",
            found=str(tensor_of(expr)), expected="extents of space that are numbers",
        )  # fmt: skip
    return space


def _plain_layout(rank: int) -> str:
    return "NC" + "".join(spatial_axes(rank))

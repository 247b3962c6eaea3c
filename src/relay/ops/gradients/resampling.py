"""Gradients of what makes images of another size: matrices along the axes of space, and their transposes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from relay.base.diagnostics import RelayError
from relay.ir.expr import Call, Expr, const
from relay.ops.elementwise.comparison import equal, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import divide, multiply
from relay.ops.framework.window import per_axis
from relay.ops.gradients.shared import rank_of, tensor_of
from relay.ops.indexing.index import take
from relay.ops.manipulation.layout_transform import in_layout
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.matmul import dense
from relay.ops.nn.pool_adaptive import AdaptivePool2DAttributes, window_bounds
from relay.ops.nn.resize import Resize2DAttributes, UpSampling3DAttributes, UpSamplingAttributes, sampling_matrix
from relay.ops.reduction.reduce import max as max_over
from relay.ops.reduction.reduce import sum as sum_over
from relay.te.reducers import lowest

Entries = tuple[Expr | None, ...]
Matrix = NDArray[np.float64]


def of_resize(call: Call, given: Expr) -> Entries:
    """What each element of the result took of each of the data."""
    attributes = call.attrs
    assert isinstance(attributes, Resize2DAttributes | UpSamplingAttributes | UpSampling3DAttributes)
    plain = f"NC{attributes.axes}"
    sizes = _space(in_layout(call.args[0], attributes.layout, plain))
    back = cast(in_layout(given, attributes.layout, plain), tensor_of(call.args[0]).dtype)
    samplings = (attributes.sampling(*pair) for pair in zip(sizes, _space(back), strict=True))
    return (in_layout(_back(back, [sampling_matrix(each) for each in samplings]), plain, attributes.layout),)


def of_adaptive_avg_pool(call: Call, given: Expr) -> Entries:
    """A share to each element of a window."""
    attributes, sizes, counts = _windows(call)
    back = in_layout(given, attributes.out_layout or attributes.layout, "NCHW")
    means = [each / each.sum(axis=1, keepdims=True) for each in map(_members, sizes, counts)]
    return (in_layout(_back(back, means), "NCHW", attributes.layout),)


def of_adaptive_max_pool(call: Call, given: Expr) -> Entries:
    """To the elements of a window that its result is, a share to each. Windows are laid out apart, as long as the
    longest; what fills up the others is never the largest."""
    attributes, sizes, counts = _windows(call)
    data = in_layout(call.args[0], attributes.layout, "NCHW")
    given = in_layout(given, attributes.out_layout or attributes.layout, "NCHW")
    members = [_members(size, count) for size, count in zip(sizes, counts, strict=True)]
    places = [_places(each) for each in members]
    apart = data
    for axis, (place, _) in zip((2, 4), places, strict=True):
        apart = take(apart, const(place, "int64"), axis=axis)
    (_, rows), (_, columns) = places
    is_own = np.logical_and(rows[:, :, None, None], columns[None, None])
    dtype = tensor_of(data).dtype
    apart = where(const(is_own, "bool"), apart, const(lowest(dtype), dtype))
    is_chosen = cast(equal(apart, max_over(apart, axis=[3, 5], keepdims=True)), dtype)
    share = divide(expand_dims(expand_dims(given, 3), 5), sum_over(is_chosen, axis=[3, 5], keepdims=True))
    shares = multiply(is_chosen, share)
    batch, channels, *_ = tensor_of(data).shape
    shares = reshape(shares, (batch, channels, rows.size, columns.size))
    back = [np.eye(size)[place.ravel()] for size, (place, _) in zip(sizes, places, strict=True)]
    return (in_layout(_back(shares, back), "NCHW", attributes.layout),)


def _windows(call: Call) -> tuple[AdaptivePool2DAttributes, tuple[int, ...], tuple[int, ...]]:
    """The attributes, the extents of space of the data, and of the result."""
    attributes = call.attrs
    assert isinstance(attributes, AdaptivePool2DAttributes)
    sizes = _space(in_layout(call.args[0], attributes.layout, "NCHW"))
    return attributes, sizes, per_axis(attributes.output_size, 2) if attributes.output_size else sizes


def _members(size: int, count: int) -> Matrix:
    """Which elements [count, size] are in each window."""
    at = np.arange(size)
    bounds = [window_bounds(window, size, count) for window in range(count)]
    return np.array([(start <= at) & (at < end) for start, end in bounds], np.float64)


def _places(members: Matrix) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The places of the elements of each window, and which of these count: [count, elements of the longest]."""
    starts, lengths = members.argmax(axis=1), members.sum(axis=1).astype(np.int64)
    steps = np.arange(int(lengths.max()))
    is_own = steps < lengths[:, None]
    return np.where(is_own, starts[:, None] + steps, starts[:, None]).astype(np.int64), is_own


def _back(given: Expr, matrices: Sequence[Matrix]) -> Expr:
    """given[N, C, counts] times matrices [count, size] along the axes of space: [N, C, sizes]."""
    rank, dtype = rank_of(given), tensor_of(given).dtype
    for axis, matrix in enumerate(matrices, 2):
        order = [*(each for each in range(rank) if each != axis), axis]
        product = dense(transpose(given, order), const(np.ascontiguousarray(matrix.T), dtype))
        given = transpose(product, [order.index(each) for each in range(rank)])
    return given


def _space(data: Expr) -> tuple[int, ...]:
    """The extents of the axes of space of data[N, C, space], numbers."""
    shape = tensor_of(data).shape[2:]
    known = tuple(extent for extent in shape if isinstance(extent, int))
    if len(known) < len(shape):
        raise RelayError(
            rule="no-gradient",
            message="images in another size have no gradient where their size is only known at run time",
            found=str(tensor_of(data)), expected="rows and columns that are numbers",
        )  # fmt: skip
    return known

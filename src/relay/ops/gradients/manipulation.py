"""Gradients of what moves elements: they move back, and sum where an element went to several places."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.ir.expr import Call, Expr
from relay.ops.elementwise.elementwise_binary import subtract
from relay.ops.gradients.shared import extents_of, rank_of, tensor_of, zeros_of
from relay.ops.indexing.scatter import scatter_add
from relay.ops.indexing.strided_set import strided_set
from relay.ops.manipulation.layout_transform import LayoutTransformAttributes, layout_transform
from relay.ops.manipulation.pad import MirrorPadAttributes, PadAttributes, pad
from relay.ops.manipulation.shape import in_shape_of, reshape
from relay.ops.manipulation.slice import SliceLikeAttributes, StridedSliceAttributes, slices_of, strided_slice
from relay.ops.manipulation.tile import RepeatAttributes, TileAttributes
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction.reduce import sum as sum_over

Entries = tuple[Expr | None, ...]


def of_tile(call: Call, given: Expr) -> Entries:
    """The sum over the copies: `[.., r, e, ..]`, the axes of copies in front."""
    assert isinstance(call.attrs, TileAttributes)
    (data,) = call.args
    rank = rank_of(data)
    reps = (*(1,) * (rank - len(call.attrs.reps)), *call.attrs.reps)
    added, own = reps[: len(reps) - rank], reps[len(reps) - rank :]
    shape = [*added, *(each for pair in zip(own, tensor_of(data).shape, strict=True) for each in pair)]
    copies = [*range(len(added)), *range(len(added), len(shape), 2)]
    return (sum_over(reshape(given, shape, allowzero=True), axis=copies),)


def of_repeat(call: Call, given: Expr) -> Entries:
    """The sum over the copies, which stand together."""
    assert isinstance(call.attrs, RepeatAttributes)
    (data,) = call.args
    shape = tensor_of(data).shape
    axis = (call.attrs.axis or 0) % len(shape)
    apart = reshape(given, [*shape[: axis + 1], call.attrs.repeats, *shape[axis + 1 :]], allowzero=True)
    return (sum_over(apart, axis=axis + 1),)


def of_strided_slice(call: Call, given: Expr) -> Entries:
    """Zeros with the output gradient where the elements were."""
    assert isinstance(call.attrs, StridedSliceAttributes)
    (data,) = call.args
    taken = slices_of(call.attrs, tensor_of(data).shape)
    strides = [part.stride for part in taken]
    begins = [part.start for part in taken if isinstance(part.start, int)]
    if len(begins) < len(taken):
        raise _open_places(call)
    shape, sizes = extents_of(data), extents_of(given)
    if shape is not None and sizes is not None and all(stride == 1 for stride in strides):
        around = [(begin, extent - begin - size) for begin, extent, size in zip(begins, shape, sizes, strict=True)]
        return (pad(given, around),)
    ends = [2**31 - 1 if stride > 0 else -(2**31) for stride in strides]
    return (strided_set(zeros_of(data), given, begins, ends, strides),)


def _open_places(call: Call) -> RelayError:
    return RelayError(
        rule="no-gradient", message="a slice at places that are only known at run time has no gradient yet",
        span=call.span, found=str(call.attrs), expected="places that are numbers",
    )  # fmt: skip


def of_slice_like(call: Call, given: Expr) -> Entries:
    """Zeros with the output gradient in front."""
    assert isinstance(call.attrs, SliceLikeAttributes)
    data = call.args[0]
    zeros = [0] * rank_of(data)
    return strided_set(zeros_of(data), given, zeros, [2**31 - 1] * rank_of(data)), None


def of_pad(call: Call, given: Expr) -> Entries:
    """The middle of the output gradient; what lies around it sums up to that of the number."""
    assert isinstance(call.attrs, PadAttributes)
    data, value = call.args
    if call.attrs.pad_mode != "constant":
        return _folded(given, data, call.attrs.pad_width, call.attrs.pad_mode), None
    middle = pad(given, [(-before, -after) for before, after in call.attrs.pad_width])
    around = reshape(subtract(sum_over(given), sum_over(middle)), tensor_of(value).shape)
    return middle, around


def of_mirror_pad(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, MirrorPadAttributes)
    return (_folded(given, call.args[0], call.attrs.pad_width, call.attrs.mode.lower()),)


def _folded(given: Expr, data: Expr, widths: tuple[tuple[int, int], ...], mode: str) -> Expr:
    """The output gradient of a padding that repeats elements, summed over where each of them went, axis by axis."""
    for axis, (before, after) in enumerate(widths):
        extent = tensor_of(data).shape[axis]
        if not (before or after):
            continue
        if not isinstance(extent, int):
            raise RelayError(
                rule="no-gradient", message=f"padding by `{mode}` has no gradient along an axis of unknown extent",
                found=str(tensor_of(data)), expected=f"a number for axis {axis}",
            )  # fmt: skip
        places = np.pad(np.arange(extent), (before, after), mode=cast("Any", mode))
        rows = transpose(given, _moved(rank_of(given), axis))
        shape = tensor_of(rows).shape
        flat = reshape(rows, (shape[0], -1))
        columns = tensor_of(flat).shape[1]
        index = np.broadcast_to(places[:, None], (len(places), int(columns)))  # pyright: ignore[reportArgumentType]
        summed = scatter_add(zeros_of(strided_slice(flat, [0], [extent])), np.ascontiguousarray(index), flat, 0)
        given = transpose(reshape(summed, (extent, *shape[1:])), _moved_back(rank_of(given), axis))
    return given


def _moved(rank: int, axis: int) -> list[int]:
    """The order of axes with one in front."""
    return [axis, *(each for each in range(rank) if each != axis)]


def _moved_back(rank: int, axis: int) -> list[int]:
    order = _moved(rank, axis)
    return [order.index(each) for each in range(rank)]


def of_layout_transform(call: Call, given: Expr) -> Entries:
    """The other way; what filled blocks is cut off."""
    assert isinstance(call.attrs, LayoutTransformAttributes)
    (data,) = call.args
    back = layout_transform(given, call.attrs.dst_layout, call.attrs.src_layout)
    if tensor_of(back).shape == tensor_of(data).shape:
        return (back,)
    return (strided_slice(back, [0] * rank_of(data), list(tensor_of(data).shape)),)


def of_dyn_reshape(call: Call, given: Expr) -> Entries:
    return in_shape_of(given, call.args[0]), None

"""Gradients of operators whose places and extents only the run knows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.infer.eager import typed_by_parts
from relay.ir.expr import Call, Expr, Op, TupleGetItem, const
from relay.ir.types import TensorType, TupleType
from relay.ops.creation.create import shape_of
from relay.ops.dyn.pad import DynPadAttributes
from relay.ops.dyn.pad import pad as dyn_pad
from relay.ops.dyn.reshape import reshape as dyn_reshape
from relay.ops.dyn.strided_slice import DynStridedSliceAttributes
from relay.ops.dyn.strided_slice import strided_slice as dyn_strided_slice
from relay.ops.dyn.transpose import transpose as dyn_transpose
from relay.ops.elementwise.convert import cast, cast_like
from relay.ops.elementwise.elementwise_binary import add, floor_mod, multiply, subtract
from relay.ops.elementwise.elementwise_unary import negative
from relay.ops.framework.build import as_tuple
from relay.ops.gradients.shared import rank_of, tensor_of, zeros_of
from relay.ops.indexing.scatter import scatter_add
from relay.ops.manipulation.combine import ConcatenateAttributes, concatenate, split, stack
from relay.ops.manipulation.shape import in_shape_of, reshape
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.reduction.scan import cumsum
from relay.ops.sorting.dyn_topk import DynTopKAttributes, topk
from relay.ops.sorting.sort import argsort

Entries = tuple[Expr | None, ...]


def of_transpose(call: Call, given: Expr) -> Entries:
    """The axes back in their order."""
    data, axes = call.args
    rank = const(rank_of(data), tensor_of(axes).dtype)
    from_front = cast(floor_mod(add(axes, rank), rank), DType.INT64)
    return in_shape_of(dyn_transpose(given, argsort(from_front, 0, True, "int64")), data), None


def of_pad(call: Call, given: Expr) -> Entries:
    """What stands where the data do; all else adds up for the number."""
    assert isinstance(call.attrs, DynPadAttributes)
    data, widths, value = call.args
    if call.attrs.pad_mode != "constant":
        mode = call.attrs.pad_mode
        return back_to_their_places(data, given, lambda places: dyn_pad(places, widths, 0, mode)), None, None
    inside = in_shape_of(dyn_pad(given, negative(widths)), data)
    return inside, None, cast_like(subtract(sum_over(given), sum_over(inside)), value)


def of_strided_slice(call: Call, given: Expr) -> Entries:
    """Back to where the elements stood; all else has zero."""
    assert isinstance(call.attrs, DynStridedSliceAttributes)
    data, begin, end, strides = call.args
    mode = call.attrs.slice_mode
    moved = back_to_their_places(data, given, lambda places: dyn_strided_slice(places, begin, end, strides, mode))
    return moved, None, None, None


def of_concatenate(call: Call, given: Expr) -> Entries:
    """The parts of the output gradient. Where their extents are no numbers, the shapes of the inputs tell where each
    begins and ends: names of extents do not hold everywhere on the way back."""
    assert isinstance(call.attrs, ConcatenateAttributes)
    (inputs,) = call.args
    types = _fields(inputs)
    axis = call.attrs.axis % len(types[0].shape)
    extents = [extent for each in types if isinstance(extent := each.shape[axis], int)]
    if len(extents) == len(types):
        return (split(given, list(accumulate(extents[:-1])), axis).astuple(),)
    rank = len(types[0].shape)
    along, every = const(np.eye(rank, dtype=np.int64)[axis]), const(np.ones(rank, np.int64))
    begin: Expr = const(np.zeros(rank, np.int64))
    parts: list[Expr] = []
    for at in range(len(types)):
        data = typed_by_parts(TupleGetItem(inputs, at))
        shape = shape_of(data, "int64")
        parts.append(in_shape_of(dyn_strided_slice(given, begin, add(begin, shape), every), data))
        begin = add(begin, multiply(shape, along))
    return (as_tuple(parts),)


def _fields(value: Expr) -> list[TensorType]:
    assert isinstance(value.checked_type, TupleType)
    return [each for each in value.checked_type.fields if isinstance(each, TensorType)]


def back_to_their_places(data: Expr, given: Expr, moved: Callable[[Expr], Expr]) -> Expr:
    """What was `moved`, and repeated, added up where it came from, which the numbers of the elements tell when they are
    moved as these are."""
    flat = reshape(zeros_of(data), (-1,))
    numbers = subtract(cumsum(add(cast(flat, DType.INT64), const(1, "int64")), 0), const(1, "int64"))
    places = reshape(moved(in_shape_of(numbers, data)), (-1,))
    return in_shape_of(scatter_add(flat, places, in_shape_of(given, places), 0), data)


def of_tile(call: Call, given: Expr) -> Entries:
    """The sum over all repetitions."""
    data, reps = call.args
    rank, (count,) = rank_of(data), tensor_of(reps).shape
    if not isinstance(count, int):
        raise _not_yet(call, "as often as an unknown number of axes says")
    times, shape = cast(reps, DType.INT64), cast(shape_of(data), DType.INT64)
    if count < rank:
        times = concatenate([const([1] * (rank - count), "int64"), times], 0)
    elif count > rank:
        shape = concatenate([const([1] * (count - rank), "int64"), shape], 0)
    whole = max(rank, count)
    apart = dyn_reshape(given, reshape(stack([times, shape], 1), (-1,)), allowzero=True)
    return in_shape_of(sum_over(apart, axis=list(range(0, 2 * whole, 2))), data), None


def of_topk(call: Call, given: Expr) -> Entries:
    """Back to where the elements stood; the places have no gradient."""
    assert isinstance(call.attrs, DynTopKAttributes)
    data, count = call.args
    attributes = call.attrs
    if attributes.ret_type == "indices":
        return None, None
    both = attributes.ret_type == "both"
    own = TupleGetItem(given, 0) if both else given
    places = TupleGetItem(call, 1) if both else topk(data, count, attributes.axis, "indices", attributes.is_ascend)
    return scatter_add(zeros_of(data), cast(places, DType.INT64), own, attributes.axis % rank_of(data)), None


def _not_yet(call: Call, what: str) -> RelayError:
    assert isinstance(call.op, Op)
    return RelayError(
        rule="no-gradient", message=f"`{call.op.name}` {what} has no gradient yet", span=call.span,
        found=str(call.attrs),
    )  # fmt: skip

"""`x[i, 1:, None]` on tensors, as slices, picks and new axes, and `xs[i]` on lists.

An index outside raises in Python: it is refused where it is known now, and ends the run where the program computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.library.arithmetic import converted, require
from relay.frontend.python.ranges import Range
from relay.frontend.python.values import as_expr
from relay.ir.expr import Expr
from relay.ir.types import ANY, TensorType, Type, TypeCall, scalar_type
from relay.ops.creation.create import shape_of
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.slice import strided_slice

_OUTSIDE = "the index is out of range"


def index_tensor(block: Block, data: Expr, type_: TensorType, index: Any, span: Span) -> Expr:
    """Basic indexing, and by one tensor of integers. Raises `RelayError` (rule `bad-index`)."""
    parts = [_plain(part) for part in (index if isinstance(index, tuple) else (index,))]
    rank = len(type_.shape)
    taken = sum(part is not None and part is not Ellipsis for part in parts)
    if taken > rank:
        raise _bad(span, f"{taken} indices for {rank} axes", f"at most {rank}")
    if sum(part is Ellipsis for part in parts) > 1:
        raise _bad(span, "several `...`", "one")
    if any(part is Ellipsis for part in parts):
        place = next(i for i, part in enumerate(parts) if part is Ellipsis)
        parts[place : place + 1] = [slice(None)] * (rank - taken)
    parts = [as_expr(block, part, span) if isinstance(part, np.ndarray) else part for part in parts]
    by_mask = _by_mask(block, data, type_, parts, span)
    if by_mask is not None:
        return by_mask
    by_several = _by_several(block, data, type_, parts, span)
    if by_several is not None:
        return by_several
    _check_arrays(block, parts, span)
    axis, source = 0, 0
    for part in parts:
        match part:
            case None:
                data, axis = expand_dims(data, axis), axis + 1
                continue
            case slice():
                data, axis = _sliced(data, axis, part, span), axis + 1
            case bool():
                raise _bad(span, "a bool", _EXPECTED)
            case int():
                data = _picked(block, data, axis, type_.shape[source], part, span)
            case _ if is_expr(part):
                place = _place(block, data, axis, type_.shape[source], part, span)
                data, axis = take(data, place, axis=axis), axis + _rank_of(block, part, span)
            case _:
                raise _bad(span, type(part).__name__, _EXPECTED)
        source += 1
    return data


_EXPECTED = "a number, a slice, None, ..., or a tensor of integers"


def _plain(part: Any) -> Any:
    if isinstance(part, np.integer) or (isinstance(part, np.ndarray) and part.ndim == 0):
        return part.item()
    return np.asarray(part, None if part else np.int32) if isinstance(part, list) and not _holds_expr(part) else part


def _holds_expr(part: Sequence[Any]) -> bool:
    return any(is_expr(each) or (isinstance(each, list) and _holds_expr(cast("list[Any]", each))) for each in part)


def _check_arrays(block: Block, parts: Sequence[Any], span: Span) -> None:
    """One tensor may be an index: with numbers beside it NumPy moves its axes to the front, unless they adjoin it."""
    picks = [place for place, part in enumerate(parts) if is_expr(part) or isinstance(part, int)]
    arrays = [place for place in picks if is_expr(parts[place]) and _rank_of(block, parts[place], span)]
    if len(arrays) > 1:
        raise _bad(span, "several tensors as indices", "one: index again, or use relay.gather_nd")
    if arrays and picks != list(range(picks[0], picks[0] + len(picks))):
        raise _bad(span, "a tensor and numbers with other parts between them", "the numbers first: x[:, 0][i]")


def mask_of(block: Block, parts: Sequence[Any]) -> TensorType | None:
    """The type of the one tensor of bools that the leading axes are indexed by."""
    first = block.type_of(parts[0]) if parts and is_expr(parts[0]) else None
    rest = all(isinstance(each, slice) and each == slice(None) for each in parts[1:])
    is_mask = isinstance(first, TensorType) and first.dtype.is_bool and first.shape != ()
    return first if is_mask and rest and isinstance(first, TensorType) else None


def _by_mask(block: Block, data: Expr, type_: TensorType, parts: Sequence[Any], span: Span) -> Expr | None:
    """The entries where a tensor of bools holds."""
    mask = mask_of(block, parts)
    if mask is None:
        return None
    rank = len(mask.shape)
    if mask.shape != type_.shape[:rank]:
        raise _bad(span, f"bools of shape {mask.shape}", f"the shape {type_.shape[:rank]} of the axes in front")
    places = block.bind("places", op.argwhere(parts[0]), span)
    if rank == 1:
        return take(data, op.squeeze(places, 1), axis=0)
    return op.gather_nd(data, op.transpose(places, (1, 0)))


def _by_several(block: Block, data: Expr, type_: TensorType, parts: Sequence[Any], span: Span) -> Expr | None:
    """By several tensors of integers, which stand for the axes in front; numbers beside them are repeated."""
    picks = [each for each in parts if is_expr(each) or (type(each) is int)]
    arrays = [each for each in picks if is_expr(each) and _rank_of(block, each, span)]
    rest = parts[len(picks) :]
    if len(arrays) < 2 or any(each is not part for each, part in zip(picks, parts, strict=False)):
        return None
    if not all(isinstance(each, slice) and each == slice(None) for each in rest):
        return None
    given = [as_expr(block, each, span) for each in picks]
    places = [_place(block, data, axis, type_.shape[axis], each, span) for axis, each in enumerate(given)]
    return op.adv_index([data, *places])


def changed(block: Block, data: Expr, index: Any, value: Any, span: Span) -> Expr:
    """`data` after `data[index] = value`. Raises `RelayError` (rule `bad-index`)."""
    type_ = block.type_of(data)
    assert isinstance(type_, TensorType)
    rank = len(type_.shape)
    parts = [_plain(part) for part in (index if isinstance(index, tuple) else (index,))]
    parts = [as_expr(block, part, span) if isinstance(part, np.ndarray) else part for part in parts]
    mask = mask_of(block, parts)
    if mask is not None:
        return _where_mask(block, data, type_, mask, parts[0], value, span)
    if any(part is None for part in parts):
        raise _bad(span, "a new axis in an assignment", _EXPECTED)
    if any(part is Ellipsis for part in parts):
        place = next(i for i, part in enumerate(parts) if part is Ellipsis)
        parts[place : place + 1] = [slice(None)] * (rank - len(parts) + 1)
    part = block.bind("part", index_tensor(block, data, type_, tuple(parts), span), span)  # checks the index, too
    update = op.broadcast_to_like(converted(value, type_.dtype), part)
    parts += [slice(None)] * (rank - len(parts))
    picks = [axis for axis, each in enumerate(parts) if not isinstance(each, slice)]
    if all(each == slice(None) for each in parts if isinstance(each, slice)):
        if not picks:
            return update
        if picks == list(range(len(picks))):
            return _at_places(block, data, [parts[axis] for axis in picks], update, span)
        order = [*picks, *(axis for axis in range(rank) if axis not in picks)]
        if all(not is_expr(parts[axis]) or not _rank_of(block, parts[axis], span) for axis in picks):
            turned = op.transpose(data, order)
            made = _at_places(block, turned, [parts[axis] for axis in picks], update, span)
            return op.transpose(made, [order.index(axis) for axis in range(rank)])
    return _in_block(data, type_, parts, update, span)


def _where_mask(
    block: Block, data: Expr, type_: TensorType, mask: TensorType, holds: Expr, value: Any, span: Span
) -> Expr:
    number = converted(value, type_.dtype)
    if mask.shape != type_.shape[: len(mask.shape)] or block.type_of(number) != scalar_type(type_.dtype):
        raise _bad(span, "an assignment of several values where bools hold", "one number: x[x < 0] = 0.0")
    for _ in range(len(type_.shape) - len(mask.shape)):
        holds = expand_dims(holds, -1)
    return op.where(holds, number, data)


def _at_places(block: Block, data: Expr, places: Sequence[Any], update: Expr, span: Span) -> Expr:
    """One entry of the axes in front, or one for each element of tensors of indices."""
    found = [as_expr(block, each, span) for each in places]
    found = [op.cast(each, "int32") for each in found]
    shaped = next((each for each in found if _rank_of(block, each, span)), None)
    if shaped is not None:
        found = [each if _rank_of(block, each, span) else op.broadcast_to_like(each, shaped) for each in found]
    return op.scatter_nd(data, op.stack(found, 0), update)


def _in_block(data: Expr, type_: TensorType, parts: Sequence[Any], update: Expr, span: Span) -> Expr:
    """Slices, and numbers beside them, of axes whose extents are known now."""
    if any(is_expr(each) for each in parts) or not all(isinstance(each, int) for each in type_.shape):
        raise _bad(
            span, "an assignment to slices between bounds beside indices or extents that the program computes",
            "numbers, and full slices (:) beside computed indices",
        )  # fmt: skip
    begin, end, strides, shape = [], [], [], []
    for each, extent in zip(parts, cast("tuple[int, ...]", type_.shape), strict=True):
        covered = range(extent)[each] if isinstance(each, slice) else range(each % extent, each % extent + 1)
        if covered.step < 0:
            raise _bad(span, "an assignment to a slice backwards", "a slice forwards, of the value backwards")
        begin.append(covered.start)
        end.append(covered.stop)
        strides.append(covered.step)
        shape.append(len(covered))
    return op.strided_set(data, op.reshape(update, shape, allowzero=True), begin, end, strides)


def _rank_of(block: Block, index: Expr, span: Span) -> int:
    type_ = block.type_of(index)
    if not isinstance(type_, TensorType) or type_.dtype.is_float or type_.dtype.is_bool:
        raise _bad(span, str(type_), "a tensor of integers")
    return len(type_.shape)


def extent_of(block: Block, data: Expr, extent: IntExpr, axis: int) -> Any:
    """The extent of an axis: a number, or what the program computes it by."""
    if isinstance(extent, int):
        return extent
    found = take(shape_of(data), axis, axis=0)
    if extent is not ANY:
        block.session.ranges[found] = Range(0, extent + 1, extent)
    return found


def _picked(block: Block, data: Expr, axis: int, extent: IntExpr, index: int, span: Span) -> Expr:
    """What stands at an index that is known now."""
    if isinstance(extent, int):
        if not -extent <= index < extent:
            raise _bad(span, f"the index {index} of an axis of extent {extent}", f"{-extent} to {extent - 1}")
        return take(data, as_expr(block, index % extent, span), axis=axis)
    if extent is ANY:
        return take(data, _place(block, data, axis, extent, index, span), axis=axis)
    data = op.checked_extent(data, axis, index + 1 if index >= 0 else -index, _OUTSIDE)
    place = as_expr(block, index, span)
    return take(data, place if index >= 0 else op.add(extent_of(block, data, extent, axis), place), axis=axis)


def _place(block: Block, data: Expr, axis: int, extent: IntExpr, index: Any, span: Span) -> Expr:
    """An index as `take` wants it: counted from the front and within the axis, whatever it took to make sure."""
    known = block.range_of(index)
    is_below = extent is not ANY and known.is_below(extent)
    if known.is_not_negative and is_below:
        return as_expr(block, index, span)
    whole = extent_of(block, data, extent, axis)
    return placed(block, as_expr(block, index, span), whole, known, is_below, span)


def placed(block: Block, index: Expr, extent: Any, known: Range, is_below: bool, span: Span) -> Expr:
    """A computed index, counted from the front; the run ends where it is outside."""
    index_type = block.type_of(index)
    assert isinstance(index_type, TensorType)
    index = block.bind("index", index, span)
    whole = block.bind("extent", as_expr(block, extent, span, scalar_type("int32")), span)
    whole = whole if index_type.dtype == "int32" else op.cast(whole, index_type.dtype)
    zero = as_expr(block, 0, span, scalar_type(index_type.dtype))
    holds: list[Expr] = []
    if not known.is_not_negative:
        before = op.less(index, zero)
        index = block.bind("place", op.where(before, op.add(index, whole), index), span)
        holds.append(op.greater_equal(index, zero))
    if not is_below:
        holds.append(op.less(index, whole))
    inside = holds[0] if len(holds) == 1 else op.logical_and(*holds)
    return require(block, index, op.all(inside) if index_type.shape else inside, _OUTSIDE, span)


_END = 2**31 - 1


def _sliced(data: Expr, axis: int, part: slice, span: Span) -> Expr:
    if part == slice(None):
        return data
    begin, end, stride = part.start, part.stop, 1 if part.step is None else part.step
    if any(is_expr(each) for each in (begin, end, stride)):
        raise _bad(
            span, "a slice whose bounds the program computes", "numbers: the extent of the result is part of its type"
        )
    if not all(each is None or isinstance(each, int) for each in (begin, end, stride)) or stride == 0:
        raise _bad(span, "a slice by what is no whole number, or in steps of 0", "numbers")
    if stride > 0:
        begin, end = 0 if begin is None else begin, _END if end is None else end
    else:
        begin, end = -1 if begin is None else begin, -_END if end is None else end
    return strided_slice(data, begin=(begin,), end=(end,), strides=(stride,), axes=(axis,))


def changed_list(block: Block, items: Expr, type_: TypeCall, index: Any, value: Any, span: Span) -> Expr:
    """A Relay list with another element at a position."""
    items = block.bind("items", items, span)
    length = block.bind("count", block.session.library("length", span)(items), span)
    place = placed(block, as_expr(block, index, span), length, block.range_of(index), False, span)
    item = as_expr(block, value, span, type_.args[0], declared=False)
    return block.session.library("update", span)(items, place, item)


def index_list(block: Block, items: Expr, index: Any, span: Span) -> Expr:
    """`xs[i]` of a Relay list."""
    nth, length = block.session.library("nth", span), block.session.library("length", span)
    if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
        return nth(items, as_expr(block, index, span))
    place = as_expr(block, index, span)
    if _rank_of(block, place, span):
        raise _bad(span, "a tensor as the index of a list", "a number")
    known = block.range_of(index)
    if known.is_not_negative:
        return nth(items, place)
    items = block.bind("items", items, span)
    return nth(items, placed(block, place, length(items), known, False, span))


def _bad(span: Span, found: str, expected: str) -> RelayError:
    return RelayError(
        rule="bad-index", message="a value cannot be indexed so", span=span, found=found, expected=expected
    )


def joined(block: Block, left: Any, right: Any, types: Sequence[Type | None], span: Span) -> Expr:
    """`left + right`, one of them a Relay list."""
    wanted = next(type_ for type_ in types if type_ is not None)
    sides = [as_expr(block, each, span, wanted) for each in (left, right)]
    return block.session.library("concat", span)(*sides)

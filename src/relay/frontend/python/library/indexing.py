"""`x[i, 1:, None]` on tensors, as slices, picks and new axes, and `xs[i]` on lists.

An index outside raises in Python: it is refused where it is known now, and ends the run where the program computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.arith.expr import IntExpr, Node, free_symbols
from relay.base.span import Span
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.facts.ranges import Range
from relay.frontend.python.library.arithmetic import combined, converted, require
from relay.frontend.python.library.heads import dropped, first
from relay.frontend.python.library.indices import (
    FULL,
    bad_index,
    covered,
    fitting,
    is_array,
    is_pick,
    is_together,
    mask_type,
    parts_of_index,
    rank_of_index,
    sliced_axis,
)
from relay.frontend.python.values import as_expr
from relay.ir.expr import Expr
from relay.ir.types import ANY, TensorType, Type, TypeCall, scalar_type
from relay.ops.creation.create import shape_of
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims

OUTSIDE = "the index is out of range"


def index_tensor(block: Block, data: Expr, type_: TensorType, index: Any, span: Span) -> Expr:
    """`data[index]`, as NumPy indexes. Raises `RelayError` (rule `bad-index`)."""
    parts = parts_of_index(block, data, type_, index, span)
    by_arrays = any(is_array(block, each) for each in parts)
    axis, source = 0, 0
    picked: list[tuple[int, Any, IntExpr]] = []
    for part in parts:
        if part is None:
            data, axis = expand_dims(data, axis), axis + 1
            continue
        extent = type_.shape[source]
        if isinstance(part, slice):
            data, axis = sliced_axis(block, data, axis, part, span), axis + 1
        elif by_arrays:
            picked.append((axis, part, extent))
            axis += 1
        elif isinstance(part, int):
            data = _picked(block, data, axis, extent, part, span)
        else:
            data = take(data, _place(block, data, axis, extent, part, span), axis=axis)
        source += 1
    return _by_arrays(block, data, picked, is_together(parts), span) if by_arrays else data


def _by_arrays(
    block: Block, data: Expr, picked: Sequence[tuple[int, Any, IntExpr]], together: bool, span: Span
) -> Expr:
    """The places that tensors of indices say, of some axes, all broadcast; their axes take the place of those that they
    are for, where those are `together`, and come first where not."""
    data = block.bind("tensor", data, span)
    places = [_place_in(block, data, axis, extent, part, span) for axis, part, extent in picked]
    axes = [axis for axis, _, _ in picked]
    if len(axes) == 1:
        return take(data, places[0], axis=axes[0])
    rank = rank_of(block, data)
    order = [*axes, *(each for each in range(rank) if each not in axes)]
    turned = data if order == list(range(rank)) else op.transpose(data, order)
    found = op.adv_index([turned, *places])
    count = max(rank_of_index(block, each, span) for each in places)
    first = axes[0] if together else 0
    if first == 0:
        return found
    return op.transpose(
        found, [*range(count, count + first), *range(count), *range(count + first, rank_of(block, found))]
    )


def rank_of(block: Block, data: Expr) -> int:
    type_ = block.type_of(data)
    assert isinstance(type_, TensorType)
    return len(type_.shape)


def _place_in(block: Block, data: Expr, axis: int, extent: IntExpr, part: Any, span: Span) -> Expr:
    """One index among several, as an expression."""
    if isinstance(part, int) and isinstance(extent, int):
        return as_expr(block, _within(part, extent, span), span)
    return _place(block, data, axis, extent, part, span)


def _within(index: int, extent: int, span: Span) -> int:
    """An index that is known now, counted from the front."""
    if not -extent <= index < extent:
        raise bad_index(span, f"the index {index} of an axis of extent {extent}", f"{-extent} to {extent - 1}")
    return index % extent


def is_basic(block: Block, index: Any) -> bool:
    """Whether an index shows a part of a tensor, rather than a copy."""
    return not any(is_array(block, each) or isinstance(each, list | np.ndarray) for each in
                   (index if isinstance(index, tuple) else (index,)))  # fmt: skip


def changed(block: Block, data: Expr, index: Any, value: Any, span: Span) -> Expr:
    """`data` after `data[index] = value`. Raises `RelayError` (rule `bad-index`)."""
    type_ = block.type_of(data)
    assert isinstance(type_, TensorType)
    number = converted(value, type_.dtype)
    only: Any = index if not isinstance(index, tuple) else index[0] if len(index) == 1 else None
    mask = mask_type(block, only)
    if mask is not None and block.type_of(number) == scalar_type(type_.dtype):
        return _where_mask(block, data, type_, mask, only, number, span)
    parts = parts_of_index(block, data, type_, index, span)
    if any(part is None for part in parts):
        raise bad_index(span, "a new axis in an assignment")
    part = block.bind("part", index_tensor(block, data, type_, tuple(parts), span), span)  # checks the index, too
    update = op.broadcast_to_like(number, part)
    ranges = [covered(p, e) if isinstance(p, slice) else None for p, e in zip(parts, type_.shape, strict=True)]
    picks = [axis for axis, each in enumerate(parts) if is_pick(each)]
    is_full = [part == FULL if isinstance(part, slice) else True for part in parts]
    if not picks and all(is_full):
        return update
    by_block = all(type(p) is int or c is not None for p, c in zip(parts, ranges, strict=True)) and not all(is_full)
    if by_block and all(isinstance(each, int) for each in type_.shape):
        return _in_block(data, type_, parts, ranges, update, span)
    if not all(is_full):
        return _at_slices(block, data, type_, parts, update, span)
    order = [*picks, *(axis for axis in range(len(parts)) if axis not in picks)]
    count = max(rank_of_index(block, parts[axis], span) if is_expr(parts[axis]) else 0 for axis in picks)
    places = [_place_in(block, data, axis, type_.shape[axis], parts[axis], span) for axis in picks]
    if is_together(parts) and count and picks[0]:
        rank = rank_of(block, update)
        taken = list(range(picks[0], picks[0] + count))
        update = op.transpose(update, [*taken, *(each for each in range(rank) if each not in taken)])
    if order == list(range(len(parts))):
        return _at_places(block, data, places, update, span)
    made = _at_places(block, op.transpose(data, order), places, update, span)
    return op.transpose(made, [order.index(axis) for axis in range(len(parts))])


def _where_mask(
    block: Block, data: Expr, type_: TensorType, mask: TensorType, holds: Expr, value: Expr, span: Span
) -> Expr:
    holds = fitting(block, data, type_, 0, holds, mask, span)
    for _ in range(len(type_.shape) - len(mask.shape)):
        holds = expand_dims(holds, -1)
    return op.where(holds, value, data)


def _at_places(block: Block, data: Expr, places: Sequence[Expr], update: Expr, span: Span) -> Expr:
    """One entry of the axes in front, or one for each element of tensors of indices."""
    found = [op.cast(each, "int32") for each in places]
    if len(found) == 1:
        return op.scatter_nd(data, op.stack(found, 0), update)
    whole = combined("add", found[0], 0)
    for each in found[1:]:  # as they broadcast
        whole = combined("add", whole, combined("multiply", each, 0))
    if not is_array(block, whole):
        return op.scatter_nd(data, op.stack(found, 0), update)
    whole = block.bind("whole", whole, span)
    return op.scatter_nd(data, op.stack([op.broadcast_to_like(each, whole) for each in found], 0), update)


def _at_slices(block: Block, data: Expr, type_: TensorType, parts: Sequence[Any], update: Expr, span: Span) -> Expr:
    """Slices between bounds, beside indices that the program computes: a slice is the places that it covers."""
    if any(is_array(block, each) for each in parts):
        raise bad_index(span, "an assignment to slices between bounds beside tensors of indices",
                        "full slices (:) beside them")  # fmt: skip
    last = max(axis for axis, each in enumerate(parts) if is_pick(each) or each != FULL)
    axes = [axis for axis in range(last + 1) if not is_pick(parts[axis])]
    places: list[Expr] = []
    for axis in range(last + 1):
        part, extent = parts[axis], type_.shape[axis]
        if is_pick(part):
            places.append(_place_in(block, data, axis, extent, part, span))
            continue
        length = extent_of(block, data, extent, axis)
        count = op.arange(converted(length, scalar_type("int32").dtype), dtype="int32")
        covers = block.bind("places", sliced_axis(block, count, 0, part, span), span)
        shape = [-1 if each == axis else 1 for each in axes]
        places.append(op.reshape(covers, shape))
    return _at_places(block, data, places, update, span)


def _in_block(
    data: Expr, type_: TensorType, parts: Sequence[Any], ranges: Sequence[range | None], update: Expr, span: Span
) -> Expr:
    """Slices, and numbers beside them, of axes whose extents are known now."""
    whole = [
        range(_within(part, cast("int", extent), span), _within(part, cast("int", extent), span) + 1)
        if each is None
        else each
        for part, each, extent in zip(parts, ranges, type_.shape, strict=True)
    ]
    if any(each.step < 0 for each in whole):
        raise bad_index(span, "an assignment to a slice backwards", "a slice forwards, of the value backwards")
    begin, end, strides = ([getattr(each, name) for each in whole] for name in ("start", "stop", "step"))
    return op.strided_set(data, op.reshape(update, list(map(len, whole)), allowzero=True), begin, end, strides)


def size_of(block: Block, data: Expr, span: Span) -> Any:
    """How many elements a tensor has."""
    type_ = block.type_of(data)
    assert isinstance(type_, TensorType)
    whole: Any = 1
    for axis, extent in enumerate(type_.shape):
        each = extent_of(block, data, extent, axis)
        whole = (
            whole * each
            if isinstance(whole, int) and isinstance(each, int)
            else combined("multiply", whole, each, span)
        )
    return whole


def sizes(block: Block, span: Span, x: Expr, dim: Any = None) -> Any:  # noqa: ARG001
    """`x.size()` and `x.size(0)` of torch."""
    type_ = block.type_of(x)
    assert isinstance(type_, TensorType)
    extents = tuple(extent_of(block, x, extent, axis) for axis, extent in enumerate(type_.shape))
    return extents if dim is None else extents[dim]


def extent_of(block: Block, data: Expr, extent: IntExpr, axis: int) -> Any:
    """The extent of an axis: a number, or what the program computes it by."""
    if isinstance(extent, int):
        return extent
    found = take(shape_of(data), axis, axis=0)
    if extent is not ANY:
        block.session.ranges[found] = Range(0, extent + 1, extent)
    return found


def known_extents(block: Block, shape: Any) -> Any:
    """A shape whose extents stand by the names that the parameters' have, where all that the program computes in it are
    such: `n` for `n, d = x.shape`, of a parameter `x: Tensor[("n", "d")]`. What is made of it has the extents of `x`.
    Any other shape is itself."""
    extents = cast("Sequence[Any]", shape) if isinstance(shape, tuple | list) else (shape,)
    found: list[Any] = []
    for extent in extents:
        known = block.range_of(extent)
        named = known.exactly if is_expr(extent) else extent
        if named is None or (is_expr(extent) and not known.is_not_negative):
            return shape
        if isinstance(named, Node) and not free_symbols(named) <= block.definition.extents:
            return shape
        found.append(named)
    return tuple(found)


def _picked(block: Block, data: Expr, axis: int, extent: IntExpr, index: int, span: Span) -> Expr:
    """What stands at an index that is known now."""
    if isinstance(extent, int):
        return take(data, as_expr(block, _within(index, extent, span), span), axis=axis)
    if extent is ANY:
        return take(data, _place(block, data, axis, extent, index, span), axis=axis)
    data = op.checked_extent(data, axis, index + 1 if index >= 0 else -index, OUTSIDE)
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
    return require(block, index, op.all(inside) if index_type.shape else inside, OUTSIDE, span)


def changed_list(block: Block, items: Expr, type_: TypeCall, index: Any, value: Any, span: Span) -> Expr:
    """A Relay list with another element at a position."""
    items = block.bind("items", items, span)
    length = block.bind("count", block.session.library("length", span)(items), span)
    place = placed(block, as_expr(block, index, span), length, block.range_of(index), False, span)
    item = as_expr(block, value, span, type_.args[0], declared=False)
    return block.session.library("update", span)(items, place, item)


def index_list(block: Block, items: Expr, index: Any, span: Span) -> Expr:
    """`xs[i]` of a Relay list."""
    return first(block, list_from(block, block.bind("items", items, span), index, span), OUTSIDE, span)


def list_from(block: Block, items: Expr, index: Any, span: Span) -> Expr:
    """The elements of a Relay list from a place on, counted from the front or from behind."""
    if type(index) is int and index == 0:
        return items
    place = as_expr(block, index, span)
    if rank_of_index(block, place, span):
        raise bad_index(span, "a tensor as the index of a list", "a number")
    known = block.range_of(index)
    if not known.is_not_negative:
        length = block.session.library("length", span)
        place = placed(block, place, length(items), known, False, span)
    return dropped(block, items, place, span)


def joined(block: Block, left: Any, right: Any, types: Sequence[Type | None], span: Span) -> Expr:
    """`left + right`, one of them a Relay list."""
    wanted = next(type_ for type_ in types if type_ is not None)
    sides = [as_expr(block, each, span, wanted) for each in (left, right)]
    return block.session.library("concat", span)(*sides)

"""Gradients of elements by computed places: they are added up where they came from. Repeated places add up too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.ir.expr import Call, Constant, Expr, Op, Tuple, TupleGetItem, const
from relay.ops import dyn
from relay.ops.creation.create import shape_of
from relay.ops.creation.triangle import TriluAttributes, trilu
from relay.ops.elementwise.comparison import equal, greater_equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, divide, floor_mod, logical_and, maximum, minimum, subtract
from relay.ops.framework.build import as_expr
from relay.ops.gradients.scattering import combined
from relay.ops.gradients.shared import extents_of, fields_of, kept_where, rank_of, tensor_of, zeros_of
from relay.ops.indexing.coordinates import MeshgridAttributes, grid_axes
from relay.ops.indexing.index import GatherAttributes, GatherNDAttributes, TakeAttributes, gather, gather_nd, take
from relay.ops.indexing.scatter import (
    MODES,
    ScatterAttributes,
    ScatterElementsAttributes,
    ScatterNDAttributes,
    scatter,
    scatter_add,
    scatter_elements,
    scatter_nd,
)
from relay.ops.indexing.sequence import (
    ReverseSequenceAttributes,
    SequenceMaskAttributes,
    reverse_sequence,
    sequence_mask,
)
from relay.ops.indexing.strided_set import strided_set
from relay.ops.manipulation.combine import concatenate, stack
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.shape import expand_dims, in_shape_of, reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction.reduce import all as all_of
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.sorting.sort import SortAttributes, TopKAttributes, argsort, topk

Entries = tuple[Expr | None, ...]


def of_take(call: Call, given: Expr) -> Entries:
    """Added up where it was taken from; places outside count for the one that was read."""
    assert isinstance(call.attrs, TakeAttributes)
    data, indices = call.args
    if call.attrs.axis is None:
        size = reshape(zeros_of(data), (-1,))
        places = expand_dims(_inside(indices, _extent(size, 0, indices), call.attrs.mode == "wrap"), 0)
        return in_shape_of(scatter_nd(size, places, given, mode="add"), data), None
    axis, rank = call.attrs.axis % rank_of(data), rank_of(data)
    batches = call.attrs.batch_dims + (rank_of(indices) if call.attrs.batch_dims < 0 else 0)
    end = axis + rank_of(indices) - batches
    first = [*range(batches), *range(axis, end), *range(batches, axis), *range(end, rank_of(given))]
    rows = transpose(given, first) if axis != batches else given
    order = [*range(batches), axis, *(each for each in range(batches, rank) if each != axis)]
    zeros = transpose(zeros_of(data), order) if axis != batches else zeros_of(data)
    places = expand_dims(_inside(indices, _extent(data, axis, indices), call.attrs.mode == "wrap"), 0)
    summed = scatter_nd(zeros, _in_batches(call, places, batches), rows, mode="add")
    return transpose(summed, [order.index(each) for each in range(rank)]) if axis != batches else summed, None


def _in_batches(call: Call, columns: Expr, count: int) -> Expr:
    """Places in the batches that they stand in, which the first `count` axes count, as places in the whole."""
    if not count:
        return columns
    shape = extents_of(columns)
    if shape is None:
        raise _not_yet(call, "of batches of unknown extents")
    dtype = tensor_of(columns).dtype
    numbers = (np.arange(extent).reshape([-1, *(1 for _ in shape[at + 2 :])]) for at, extent in enumerate(shape[1:]))
    own = [broadcast_to(const(each, dtype), (1, *shape[1:])) for each, _ in zip(numbers, range(count), strict=False)]
    return concatenate([*own, columns], 0)


def of_gather(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, GatherAttributes)
    data, indices = call.args
    axis = call.attrs.axis % rank_of(data)
    places = _from_end(indices, _extent(data, axis, indices))
    return scatter_add(zeros_of(data), places, given, axis), None


def of_gather_nd(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, GatherNDAttributes)
    data, indices = call.args
    batches = call.attrs.batch_dims
    columns = _columns(data, _in_batches(call, indices, batches))
    return scatter_nd(zeros_of(data), columns, given, mode="add"), None


def of_adv_index(call: Call, given: Expr) -> Entries:
    """The tuple of the gradient of the data, and of nothing for the indices."""
    fields = fields_of(call.args[0])
    data, *indices = (TupleGetItem(call.args[0], at) for at in range(len(fields)))
    shape = tensor_of(given).shape[: rank_of(given) - (len(fields[0].shape) - len(indices))]
    if not all(isinstance(extent, int) for extent in shape):
        raise _not_yet(call, "of indices of unknown extents")
    whole = [broadcast_to(cast(each, DType.INT64), shape) for each in indices]
    found = scatter_nd(zeros_of(data), _columns(data, stack(whole, 0)), given, mode="add")
    return (Tuple((found, *(Tuple(()) for _ in indices))),)


def of_meshgrid(call: Call, given: Expr) -> Entries:
    """The tuple of the sums over the axes along which each tensor was repeated."""
    assert isinstance(call.attrs, MeshgridAttributes)
    fields = fields_of(call.args[0])
    axes = grid_axes(call.attrs, len(fields))
    apart = [TupleGetItem(given, at) for at in range(len(fields))]
    sums = [sum_over(part, axis=axis, exclude=True) for part, axis in zip(apart, axes, strict=True)]
    return (Tuple(tuple(each if of.shape else reshape(each, ()) for each, of in zip(sums, fields, strict=True))),)


def of_scatter(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, ScatterAttributes)
    return _scattered(call, given, call.attrs.axis, "update")


def of_scatter_add(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, ScatterAttributes)
    return _scattered(call, given, call.attrs.axis, "add")


def of_scatter_elements(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, ScatterElementsAttributes)
    return _scattered(call, given, call.attrs.axis, call.attrs.reduction, call.attrs.include_self)


def _scattered(call: Call, given: Expr, axis: int, mode: str, include_self: bool = True) -> Entries:
    """By the data: what stays of them; by the updates: what became of them, 0 for those that were left out."""
    data, indices, updates = call.args
    axis %= rank_of(data)
    is_inside = _is_inside(indices, _extent(data, axis, indices))
    if mode == "mean":
        counts = scatter_elements(_ones_of(data), indices, _ones_of(updates), axis, "add", include_self)
        given = _by_counts(given, counts)
    taken = kept_where(is_inside, gather(given, axis, indices))
    if mode in ("add", "mean"):
        return given if include_self else scatter(given, indices, zeros_of(updates), axis), None, taken
    if mode != "update":
        first = data if include_self else scatter(data, indices, _identities(updates, mode), axis)
        by_data, by_updates = combined(
            first, updates, call, given, mode,
            lambda to, what, how: scatter_elements(to, indices, what, axis, how), lambda of: gather(of, axis, indices),
        )  # fmt: skip
        if not include_self:
            by_data = scatter(by_data, indices, zeros_of(updates), axis)
        return by_data, None, kept_where(is_inside, by_updates)
    stays = _is_last(call, lambda to, what: scatter(to, indices, what, axis), lambda of: gather(of, axis, indices))
    return scatter(given, indices, zeros_of(updates), axis), None, kept_where(stays, taken)


def _is_last(call: Call, put: Callable[[Expr, Expr], Expr], got: Callable[[Expr], Expr]) -> Expr:
    """Which updates stay: of several at one place the last. `put` writes updates to data, `got` reads them there."""
    data, _, updates = call.args
    shape = extents_of(updates)
    if shape is None:
        raise _not_yet(call, "of updates of unknown extents")
    order = const(np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape))
    return equal(got(put(cast(zeros_of(data), DType.INT64), order)), order)


def of_scatter_nd(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, ScatterNDAttributes)
    data, indices, updates = call.args
    if call.attrs.mode == "mean":
        given = _by_counts(given, scatter_nd(_ones_of(data), indices, _ones_of(updates), mode="add"))
    rows = [_row(indices, at) for at in range(_count_of(indices))]
    inside = [_is_inside(row, _extent(data, at, row)) for at, row in enumerate(rows)]
    outer = rank_of(indices) - 1
    is_inside = expand_dims(all_of(concatenate(inside, 0), (0,)), outer, rank_of(updates) - outer)
    if call.attrs.mode in ("add", "mean"):
        return given, None, kept_where(is_inside, gather_nd(given, indices))
    if call.attrs.mode == "update":
        stays = _is_last(call, lambda to, what: scatter_nd(to, indices, what), lambda of: gather_nd(of, indices))
        by_updates = kept_where(stays, kept_where(is_inside, gather_nd(given, indices)))
        return scatter_nd(given, indices, zeros_of(updates)), None, by_updates
    by_data, by_updates = combined(
        data, updates, call, given, call.attrs.mode,
        lambda to, what, how: scatter_nd(to, indices, what, how), lambda of: gather_nd(of, indices),
    )  # fmt: skip
    return by_data, None, kept_where(is_inside, by_updates)


def _is_inside(indices: Expr, extent: Expr) -> Expr:
    """Which places are updated: the others are left out."""
    counted = where(less(indices, 0), add(indices, extent), indices)
    return logical_and(greater_equal(counted, 0), less(counted, extent))


def _extent(data: Expr, axis: int, like: Expr) -> Expr:
    """An extent as a number of the type of indices, which the run tells where the type does not."""
    extent = tensor_of(data).shape[axis]
    if isinstance(extent, int):
        return _number(extent, like)
    return cast(take(shape_of(data, DType.INT64), const(axis, DType.INT64)), tensor_of(like).dtype)


def _ones_of(like: Expr) -> Expr:
    return add(cast(zeros_of(like), DType.INT64), const(1, DType.INT64))


def _identities(like: Expr, mode: str) -> Expr:
    """What `mode` makes nothing of, in place of elements that only their updates decide."""
    dtype = tensor_of(like).dtype
    identity = MODES[mode].identity
    assert identity is not None
    return add(zeros_of(like), const(identity(dtype), dtype))


def _by_counts(given: Expr, counts: Expr) -> Expr:
    """Each element of a mean has its share of what the mean is given."""
    return divide(given, cast(counts, tensor_of(given).dtype))


def of_strided_set(call: Call, given: Expr) -> Entries:
    _, part, begin, end, strides = call.args
    left = strided_set(given, zeros_of(part), begin, end, strides)
    if not (isinstance(begin, Constant) and isinstance(end, Constant) and isinstance(strides, Constant)):
        rank = rank_of(part)
        taken = dyn.strided_slice(given, begin, end, strides)
        return left, strided_set(zeros_of(part), taken, [0] * rank, [2**31 - 1] * rank), None, None, None
    taken = strided_slice(given, begin.data.tolist(), end.data.tolist(), strides.data.tolist())
    if tensor_of(taken).shape != tensor_of(part).shape:
        taken = _fitted(call, taken, part)
    return left, taken, None, None, None


def _fitted(call: Call, taken: Expr, part: Expr) -> Expr:
    """As much as a part has of what lies at its place, and zeros for what of it reaches beyond."""
    there, wanted = extents_of(taken), extents_of(part)
    if there is None or wanted is None:
        raise _not_yet(call, "of a part of unknown extents")
    first = strided_slice(taken, [0] * len(wanted), list(map(min, there, wanted)))
    return pad(first, [(0, max(0, own - extent)) for own, extent in zip(wanted, there, strict=True)])


def of_reverse_sequence(call: Call, given: Expr) -> Entries:
    """Its own inverse."""
    assert isinstance(call.attrs, ReverseSequenceAttributes)
    return reverse_sequence(given, call.args[1], call.attrs.seq_axis, call.attrs.batch_axis), None


def of_sequence_mask(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, SequenceMaskAttributes)
    return sequence_mask(given, call.args[1], 0.0, call.attrs.axis), None


def of_sort(call: Call, given: Expr) -> Entries:
    """Back to where the elements stood."""
    assert isinstance(call.attrs, SortAttributes)
    data = call.args[0]
    places = argsort(data, call.attrs.axis, call.attrs.is_ascend, "int64")
    return (scatter_add(zeros_of(data), places, given, call.attrs.axis % rank_of(data)),)


def of_topk(call: Call, given: Expr) -> Entries:
    """Back to where the elements stood; the places have no gradient."""
    assert isinstance(call.attrs, TopKAttributes)
    data, axis = call.args[0], call.attrs.axis % rank_of(call.args[0])
    if call.attrs.ret_type == "indices":
        return (None,)
    if call.attrs.ret_type == "both":
        return (scatter_add(zeros_of(data), cast(TupleGetItem(call, 1), DType.INT64), TupleGetItem(given, 0), axis),)
    found = topk(data, call.attrs.k, axis, "indices", call.attrs.is_ascend, "int64")
    return (scatter_add(zeros_of(data), as_expr(found), given, axis),)


def of_trilu(call: Call, given: Expr) -> Entries:
    assert isinstance(call.attrs, TriluAttributes)
    return trilu(given, call.args[1], call.attrs.upper), None


def _inside(indices: Expr, count: Expr, wraps: bool) -> Expr:
    """The places that are read: moved to the ends, or counted round."""
    if wraps:
        return floor_mod(indices, count)
    return maximum(minimum(indices, subtract(count, _number(1, indices))), _number(0, indices))


def _from_end(indices: Expr, count: Expr) -> Expr:
    """The places that are read: negative ones count from the end, and the rest is moved inside."""
    return _inside(where(less(indices, 0), add(indices, count), indices), count, wraps=False)


def _columns(data: Expr, indices: Expr) -> Expr:
    """indices[k, ..] with each row inside its axis of the data."""
    rows = [_row(indices, at) for at in range(_count_of(indices))]
    return concatenate([_from_end(row, _extent(data, at, row)) for at, row in enumerate(rows)], 0)


def _count_of(indices: Expr) -> int:
    """How many places each of the indices has."""
    count = tensor_of(indices).shape[0]
    assert isinstance(count, int)
    return count


def _row(indices: Expr, at: int) -> Expr:
    """The places of one axis, as indices[1, ..]."""
    return strided_slice(indices, [at], [at + 1], axes=[0])


def _number(number: int, like: Expr) -> Expr:
    """A number of the type of indices."""
    return const(number, tensor_of(like).dtype)


def _not_yet(call: Call, what: str) -> RelayError:
    assert isinstance(call.op, Op)
    return RelayError(
        rule="no-gradient", message=f"`{call.op.name}` {what} has no gradient yet", span=call.span,
        found=str(call.attrs),
    )  # fmt: skip

"""Axes that data compute.   x[..] × axes[k] → …

How many axes there are is known, since a tensor's shape tells it; which ones, only the run. So what works along axes
works along the last ones: the axes named are moved there, in an order that the run computes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from relay.base.dtypes import DType
from relay.base.names.loading import when_called
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Node
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.checked import checked
from relay.ops.creation.create import shape_of
from relay.ops.elementwise.comparison import equal, less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.index import one_hot, take
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.reduction import reduce

if TYPE_CHECKING:
    from relay.ops.indexing.scatter import scatter_elements
    from relay.ops.sorting.sort import argsort
else:  # most axes are known
    scatter_elements = when_called("relay.ops.indexing.scatter", "scatter_elements")
    argsort = when_called("relay.ops.sorting.sort", "argsort")

LONG = DType.INT64
_MOST_ENTRIES = 1024  # more than a tensor has axes, or a node outputs; a file may say any number


def entries(node: Node, index: int, what: str) -> tuple[Expr, int]:
    """An input that is a list of integers, and how many it has: int64[k]."""
    value = node.value(index)
    if value.rank == 0:
        return reshape(as_dtype(value.expr, LONG), (1,)), 1
    count = value.shape[0] if value.rank == 1 else None
    if not isinstance(count, int):
        node.unsupported(f"with {what} of type {value.type}, so that nobody knows how many")
    if count > _MOST_ENTRIES:
        node.unsupported(f"with {what} of {count:,} entries")
    return as_dtype(value.expr, LONG), count


def scalar(node: Node, index: int, what: str) -> Expr:
    """An input that is one number, of its own type."""
    value = node.value(index)
    if any(extent != 1 for extent in value.shape):
        node.unsupported(f"with {what} of type {value.type}")
    return value.expr if value.rank == 0 else reshape(value.expr, ())


def numbers(*items: int) -> Expr:
    return const(np.asarray(items, np.int64))


def shape_of_value(value: Value) -> Expr:
    return shape_of(value.expr, LONG)


def named(axes: Expr, count: int, rank: int, what: str) -> Expr:
    """bool[rank]: which axes are named; the run ends where one is none, or is named twice."""
    inside = check_indices(axes, (rank,), what)
    wrapped = where(less(inside, const(0, LONG)), add(inside, const(rank, LONG)), inside)
    hot = reduce.sum(one_hot(wrapped, 1, 0, rank, -1, LONG), (0,))
    differ = equal(reduce.max(hot, (0,)), const(1, LONG))
    return cast(checked(hot, differ, f"{what} names an axis twice") if count > 1 else hot, DType.BOOL)


def others_first(named_axes: Expr) -> Expr:
    """int64[rank]: the axes that are not named, then those that are, each in their order."""
    return argsort(as_dtype(named_axes, DType.INT32), 0, dtype=LONG)


def reduced(
    value: Value, axes: Expr, count: int, keepdims: bool, what: str, function: Callable[[Expr, tuple[int, ...]], Expr]
) -> Expr:
    """What `function` gives of x and some of its axes, without those axes or with an extent of 1 in their place."""
    there = named(axes, count, value.rank, what)
    last = tuple(range(value.rank - count, value.rank))
    result = function(dyn.transpose(value.expr, others_first(there)), last)
    if not keepdims:
        return result
    return dyn.reshape(result, where(there, const(1, LONG), shape_of_value(value)), allowzero=True)


def along(value: Value, axis: Expr, what: str, function: Callable[[Expr], Expr]) -> Expr:
    """What `function`, which keeps shapes, gives along an axis: it works along the last one."""
    order = others_first(named(reshape(as_dtype(axis, LONG), (1,)), 1, value.rank, what))
    moved = function(dyn.transpose(value.expr, order))
    return reshape(dyn.transpose(moved, argsort(order, 0, dtype=LONG)), value.shape, allowzero=True)


def squeezed(value: Value, axes: Expr, count: int, what: str) -> Expr:
    """x[..] without some axes, of extent 1."""
    order = others_first(named(axes, count, value.rank, what))
    kept = strided_slice(order, (0,), (value.rank - count,), (1,))
    return dyn.reshape(value.expr, take(shape_of_value(value), kept, axis=0), allowzero=True)


def unsqueezed(value: Value, axes: Expr, count: int, what: str) -> Expr:
    """x[..] with an axis of extent 1 at each of `axes`, places in the result."""
    rank = value.rank + count
    order = others_first(named(axes, count, rank, what))
    old = strided_slice(order, (0,), (value.rank,), (1,))
    ones = const(np.ones(rank, np.int64))
    return dyn.reshape(value.expr, scatter_elements(ones, old, shape_of_value(value), 0), allowzero=True)

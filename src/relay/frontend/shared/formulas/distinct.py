"""Distinct elements, or distinct slices along an axis.   x[.., e, ..] → [.., k, ..]"""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.shared.node import Node
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr
from relay.ops.elementwise.comparison import less, not_equal
from relay.ops.elementwise.convert import cast
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import gather, take
from relay.ops.manipulation.shape import expand_dims, reshape, squeeze
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax
from relay.ops.sorting.unique import unique


def distinct(
    node: Node, value: Value, axis: int | None, *, in_order: bool, dtype: DType
) -> tuple[Expr, Expr, Expr, Expr]:  # fmt: skip
    """The distinct elements (slices along `axis`), where each is first, which of them each element is, and how often
    each is there. Slices are compared as rows of words are, by the first place where they differ."""
    if axis is None:
        keys = reshape(value.expr, (product(value.shape),), allowzero=True)
    else:
        keys = _ranks(node, value, axis)
    found = unique(keys, is_sorted=in_order, return_counts=True)
    elements, first, inverse, counts = found[0], found[1], found[2], found[4]
    if axis is not None:
        elements = take(value.expr, first, axis=axis)
    return elements, cast(first, dtype), cast(inverse, dtype), cast(counts, dtype)


def _ranks(node: Node, value: Value, axis: int) -> Expr:
    """For each slice along an axis, how many come before it: int64[e], the same for equal ones."""
    extent = value.shape[axis]
    rest = [place for place in range(value.rank) if place != axis]
    width = product(value.shape[place] for place in rest)
    if width == 0:
        node.unsupported(f"of slices without elements: {value.type}")
    rows = reshape(transpose(value.expr, (axis, *rest)), (extent, width), allowzero=True)
    left, right = expand_dims(rows, 0), expand_dims(rows, 1)  # [1, e, width] and [e, 1, width]
    differ = argmax(cast(not_equal(left, right), DType.INT32), 2, keepdims=True)  # the first place: [e, e, 1]
    whole = (extent, extent, width)
    before = less(*(gather(broadcast_to(each, whole), 2, differ) for each in (left, right)))
    return reduce.sum(cast(squeeze(before, (2,)), DType.INT64), (1,))

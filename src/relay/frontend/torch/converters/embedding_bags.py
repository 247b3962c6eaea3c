"""Sums, means and maxima of embeddings, bag by bag.   weight[rows, d], indices[n], offsets[bags] → [bags, d]"""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result
from relay.frontend.shared.places.indices import taken
from relay.frontend.shared.places.slicing import slice_axes
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.creation.create import full, ones
from relay.ops.elementwise.comparison import greater, not_equal, where
from relay.ops.elementwise.elementwise_binary import divide, maximum, multiply, subtract
from relay.ops.indexing.scatter import scatter_elements
from relay.ops.indexing.segment import segment_sum
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.reduction.scan import cumsum
from relay.ops.sorting.search import searchsorted

_MEAN, _MAXIMUM = 1, 2
"""The other mode is the sum."""


def _bag_of_each(node: TorchNode) -> Expr:
    """The bag of each index: how many bags begin at its place or before, less one."""
    indices, offsets = node.value(1), node.value(2)
    begins = slice_axes(as_dtype(offsets.expr, DType.INT64), offsets.shape, {0: (0, node.shape[0], 1)})
    places = cumsum(ones(indices.shape, DType.INT64), 0, exclusive=True)
    return subtract(searchsorted(begins, places, right=True, dtype=DType.INT64), const(1, DType.INT64))


def _embedding_bag(node: TorchNode) -> Result:
    """Empty bags are zeros. Indices equal to `padding_idx` are in no bag; `per_sample_weights` are for sums."""
    indices, mode = node.value(1), node.int("mode", 0)
    rows: Expr = taken(node.value(0), indices, 0, f"{node.operator} {node.name}")
    counted: Expr = ones(indices.shape, node.dtype)
    padding = node.int("padding_idx", -1)
    if padding >= 0:
        counted = as_dtype(not_equal(indices.expr, const(padding, indices.dtype)), node.dtype)
    bags, of_each = node.shape[0], _bag_of_each(node)
    count = expand_dims(segment_sum(counted, of_each, bags), 1)
    if mode == _MAXIMUM:
        least = const(-np.inf, node.dtype)
        shown = where(greater(expand_dims(counted, 1), const(0, node.dtype)), rows, least)
        places = broadcast_to(expand_dims(of_each, 1), (*indices.shape, node.shape[1]))
        found = scatter_elements(full(least, node.shape), places, shown, 0, "max")
        return where(greater(count, const(0, node.dtype)), found, const(0, node.dtype)), None, None, None
    weights = counted if node.optional_value(3) is None else multiply(counted, node.expr(3))
    total = segment_sum(multiply(rows, expand_dims(weights, 1)), of_each, bags)
    if mode == _MEAN:
        total = divide(total, maximum(count, const(1, node.dtype)))
    return total, None, None, None


_OPTIONS = ("mode", "padding_idx", "scale_grad_by_freq", "sparse", "include_last_offset")

EMBEDDING_BAGS: tuple[Converter, ...] = (
    *converters("_embedding_bag", _embedding_bag, *_OPTIONS),
    *converters("_embedding_bag_forward_only", _embedding_bag, *_OPTIONS),
)

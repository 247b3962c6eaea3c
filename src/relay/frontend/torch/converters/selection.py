"""Elements that data select, whose number data decide: nonzero, masked_select, unique, repeat_interleave, bincount."""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.shared.formulas.distinct import distinct
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.formulas.products import broadcast_shape
from relay.frontend.shared.node import Result
from relay.frontend.shared.places.masks import chosen_by, put_where
from relay.frontend.shared.places.slicing import FAR, slice_axes
from relay.frontend.shared.value import Value
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ir.types import TensorType
from relay.ops.checked import checked
from relay.ops.creation.create import arange, full, full_like, shape_of
from relay.ops.elementwise.comparison import equal, greater_equal, not_equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, logical_or, maximum, subtract
from relay.ops.framework.dimensions import product
from relay.ops.indexing.argwhere import argwhere
from relay.ops.indexing.index import take
from relay.ops.indexing.scatter import scatter_elements
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import reshape, squeeze
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.reduction import reduce
from relay.ops.reduction.scan import cumsum
from relay.ops.sorting.search import searchsorted

_LONG = DType.INT64


def _nonzero(node: TorchNode) -> Result:
    if node.value(0).rank == 0:
        node.unsupported("of a scalar")
    return cast(argwhere(node.expr()), _LONG)


def _masked_select(node: TorchNode) -> Result:
    data, mask = node.value(0), node.value(1)
    shape = broadcast_shape(node, data.shape, mask.shape)
    if not shape:
        node.unsupported("of a scalar")
    return chosen_by(broadcast_to(mask.expr, shape), len(shape), broadcast_to(data.expr, shape))


def _masked_scatter(node: TorchNode) -> Result:
    """The elements of the source, in their order, where the mask is set."""
    data, mask, source = node.value(0), node.value(1), node.value(2)
    if data.rank == 0:
        node.unsupported("of a scalar")
    row = reshape(source.expr, (product(source.shape),), allowzero=True)
    whole = Value("", broadcast_to(mask.expr, data.shape), TensorType(data.shape, mask.dtype))
    return put_where(whole, data, row, f"{node.operator} {node.name}", may_be_more=True)


def _distinct(node: TorchNode, axis: int | None) -> Result:
    elements, _, inverse, counts = distinct(node, node.value(0), axis, in_order=True, dtype=_LONG)
    if axis is None:
        inverse = reshape(inverse, node.value(0).shape, allowzero=True)
    return elements, _if_asked(node, 1, inverse), _if_asked(node, 2, counts)


def _if_asked(node: TorchNode, output: int, made: Expr) -> Expr | None:
    """PyTorch gives an empty tensor for what is not asked for."""
    type_ = node.types[output]
    return None if type_ is None or type_.shape == (0,) else made


def _unique(node: TorchNode) -> Result:
    return _distinct(node, None)


def _unique_dim(node: TorchNode) -> Result:
    return _distinct(node, node.axis("dim"))


def _unique_consecutive(node: TorchNode) -> Result:
    """The first of each run of equal elements, or of equal slices of an axis."""
    value = node.value(0)
    axis = node.axis("dim") if node.has("dim") else 0
    shape = value.shape if node.has("dim") else (product(value.shape),)
    data = reshape(value.expr, shape, allowzero=True)
    places = cumsum(full(const(1, _LONG), (shape[axis],)), 0, exclusive=True)
    differ = not_equal(data, take(data, maximum(subtract(places, const(1, _LONG)), const(0, _LONG)), axis=axis))
    others = tuple(place for place in range(len(shape)) if place != axis)
    begins = logical_or(equal(places, const(0, _LONG)), reduce.any(differ, others) if others else differ)
    starts = cast(squeeze(argwhere(begins), (1,)), _LONG)
    bounds = concatenate([starts, reshape(take(shape_of(data, _LONG), const(axis, _LONG)), (1,))], 0)
    counts = subtract(slice_axes(bounds, node.type_of(bounds).shape, {0: (1, FAR, 1)}), starts)
    inverse = subtract(cumsum(cast(begins, _LONG), 0), const(1, _LONG))
    if not node.has("dim"):
        inverse = reshape(inverse, value.shape, allowzero=True)
    return take(data, starts, axis=axis), _if_asked(node, 1, inverse), _if_asked(node, 2, counts)


def _repeat_interleave(node: TorchNode) -> Result:
    """repeats[n] → each index i as often as repeats[i] says: at a place, the first i up to which there are more."""
    given = node.value(0)
    if given.rank != 1 or node.has("output_size"):
        node.unsupported(f"of repeats of type {given.type}")
    repeats = as_dtype(given.expr, _LONG)
    fine = reduce.all(greater_equal(repeats, const(0, _LONG)), (0,))
    ends = cumsum(checked(repeats, fine, "repeat_interleave repeats nothing less than 0 times"), 0)
    total = reduce.sum(repeats, (0,))
    places = arange(const(0, _LONG), total, const(1, _LONG), dtype=_LONG)
    return as_dtype(searchsorted(ends, places, right=True, dtype=_LONG), node.dtype)


def _bincount(node: TorchNode) -> Result:
    """How often each number is there, or the sum of its weights."""
    numbers, weights = as_dtype(node.expr(0), _LONG), node.optional_value(1)
    fine = reduce.all(greater_equal(numbers, const(0, _LONG)), (0,))
    numbers = checked(numbers, fine, "bincount counts numbers of at least 0")
    most = reduce.max(concatenate([numbers, const(np.array([node.int("minlength", 0) - 1]))], 0), (0,))
    bins = arange(const(0, _LONG), add(most, const(1, _LONG)), const(1, _LONG), dtype=_LONG)
    nothing = full_like(as_dtype(bins, node.dtype), const(0, node.dtype))
    counted = full_like(as_dtype(numbers, node.dtype), const(1, node.dtype)) if weights is None else node.operand(1)
    return scatter_elements(nothing, numbers, counted, 0, "add")


SELECTION: tuple[Converter, ...] = (
    *converters("nonzero", _nonzero),
    *converters("masked_select", _masked_select),
    *converters("masked_scatter", _masked_scatter),
    *converters("_unique2", _unique, "sorted", "return_inverse", "return_counts"),
    *converters("unique_dim", _unique_dim, "dim", "sorted", "return_inverse", "return_counts"),
    *converters("unique_consecutive", _unique_consecutive, "dim", "return_inverse", "return_counts"),
    *converters("repeat_interleave", _repeat_interleave, "output_size", overloads=("Tensor",)),
    *converters("bincount", _bincount, "minlength"),
)

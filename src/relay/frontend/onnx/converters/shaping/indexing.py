"""Elements chosen by index: Gather, GatherElements, GatherND, OneHot, Compress."""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.shaping.computed import is_plain
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import scalar
from relay.frontend.shared.places.indices import checked, gathered, taken
from relay.ir.expr import const
from relay.ops.elementwise.comparison import less, where
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.dimensions import product
from relay.ops.indexing import index
from relay.ops.indexing.argwhere import argwhere
from relay.ops.manipulation.shape import squeeze
from relay.ops.manipulation.transpose import transpose


def _what(node: OnnxNode) -> str:
    """Who is given the indices."""
    return f"{node.operator} {node.name}"


def _gather(node: OnnxNode) -> Result:
    return taken(node.value(0), node.value(1), node.axis(default=0), _what(node))


def _gather_elements(node: OnnxNode) -> Result:
    data, indices, axis = node.value(0), node.value(1), node.axis(default=0)
    if indices.rank != data.rank:
        node.unsupported(f"of {data.type} with indices of type {indices.type}")
    return gathered(data, indices, axis, _what(node))


def _gather_nd(node: OnnxNode) -> Result:
    """indices[.., k] → Relay's indices[k, ..]; places that are negative count from the end."""
    data, indices, batch = node.value(0), node.value(1), node.int("batch_dims", 0)
    depth = indices.shape[-1] if indices.rank else None
    if not isinstance(depth, int) or not 0 < depth <= data.rank - batch:
        node.unsupported(f"with indices of type {indices.type}")
    first = (indices.rank - 1, *range(indices.rank - 1))
    places = transpose(checked(indices, data.shape[batch : batch + depth], _what(node)), first)
    return index.gather_nd(data.expr, places, batch_dims=batch, index_rank=depth)


def _one_hot(node: OnnxNode) -> Result:
    """values = [off, on]; a negative index counts from the end."""
    indices, values = node.value(0), node.value(2)
    depth = int(node.scalar(1, "a depth")) if is_plain(node, 1) else as_dtype(scalar(node, 1, "a depth"), DType.INT64)
    axis = node.wrapped_axis(node.int("axis"), indices.rank + 1)
    places, dtype = indices.expr, indices.dtype
    if dtype.is_float:
        dtype, places = DType.INT64, cast(places, DType.INT64)
    if dtype.is_signed_integer:
        count = const(depth, dtype) if isinstance(depth, int) else as_dtype(depth, dtype)
        places = where(less(places, const(0, dtype)), add(places, count), places)
    off, on = (index.take(values.expr, const(at, DType.INT64), axis=0) for at in (0, 1))
    return index.one_hot(places, on, off, depth, axis, values.dtype)


def _compress(node: OnnxNode) -> Result:
    """The elements along an axis (of all elements without one) where a condition is true."""
    if not is_plain(node, 1):
        return index.take(
            node.expr(), squeeze(argwhere(node.expr(1)), (1,)), axis=node.axis() if node.has("axis") else None
        )
    places = np.flatnonzero(node.numbers(1, "a condition"))
    value = node.value(0)
    axis = node.axis() if node.has("axis") else None
    extent = product(value.shape) if axis is None else value.shape[axis]
    if places.size and not (isinstance(extent, int) and places[-1] < extent):
        node.unsupported(f"of place {places[-1]} along an axis of {extent}")
    return index.take(value.expr, const(places, DType.INT64), axis=axis)


INDEXING: tuple[Converter, ...] = (
    converter("Gather", _gather, "axis"),
    converter("GatherElements", _gather_elements, "axis"),
    converter("GatherND", _gather_nd, "batch_dims"),
    converter("OneHot", _one_hot, "axis"),
    converter("Compress", _compress, "axis"),
)

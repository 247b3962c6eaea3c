"""Elements chosen by index: Gather, GatherElements, GatherND, OneHot, Compress."""

from __future__ import annotations

import numpy as np

from relay.base.dtypes import DType
from relay.frontend.onnx.elementwise import number
from relay.frontend.onnx.node import Converter, OnnxNode, Result, converter
from relay.frontend.onnx.value import is_symbolic
from relay.ir.expr import Expr, const
from relay.ops import index
from relay.ops.comparison import less, where
from relay.ops.elementwise_binary import add
from relay.ops.transpose import transpose


def _gather(node: OnnxNode) -> Result:
    """data[.., e, ..] × indices[..] → [.., indices, ..]. Indices may be negative; known ones are made plain here."""
    axis = node.axis(default=0)
    indices, extent = node.value(1), node.value(0).shape[axis]
    known = indices.known
    if known is None or is_symbolic(known) or not isinstance(extent, int) or known.dtype.kind not in "iu":
        return index.take(node.expr(0), indices.expr, axis=axis, mode="wrap")
    outside = (known < -extent) | (known >= extent)
    if bool(np.any(outside)):
        node.unsupported(f"of place {known[outside].ravel()[0]} along an axis of {extent}")
    if not bool(np.any(known < 0)):
        return index.take(node.expr(0), indices.expr, axis=axis)
    return index.take(node.expr(0), const(np.where(known < 0, known + extent, known)), axis=axis)


def _gather_elements(node: OnnxNode) -> Result:
    return index.gather(node.expr(0), node.axis(default=0), node.expr(1))


def _gather_nd(node: OnnxNode) -> Result:
    """indices[.., k] → Relay's indices[k, ..]; places that may be negative count from the end."""
    data, indices, batch = node.value(0), node.value(1), node.int("batch_dims", 0)
    depth = indices.shape[-1] if indices.rank else None
    if not isinstance(depth, int) or not 0 < depth <= data.rank - batch:
        node.unsupported(f"with indices of type {indices.type}")
    chosen = _counted_from_front(node, indices.expr, batch, depth)
    first = (indices.rank - 1, *range(indices.rank - 1))
    return index.gather_nd(data.expr, transpose(chosen, first), batch_dims=batch, index_rank=depth)


def _counted_from_front(node: OnnxNode, indices: Expr, batch: int, depth: int) -> Expr:
    known, extents = node.value(1).known, node.value(0).shape[batch : batch + depth]
    if known is not None and not is_symbolic(known) and not bool(np.any(known < 0)):
        return indices
    if not all(isinstance(extent, int) for extent in extents):
        node.unsupported("with indices that may be negative along a symbolic axis")
    dtype = node.value(1).dtype
    sizes = const(np.asarray(extents, dtype=dtype.numpy))
    return where(less(indices, number(0, dtype)), add(indices, sizes), indices)


def _one_hot(node: OnnxNode) -> Result:
    """values = [off, on]; a negative index counts from the end."""
    indices, values = node.value(0), node.value(2)
    depth = node.scalar(1, "a depth")
    axis = node.wrapped_axis(node.int("axis"), indices.rank + 1)
    places, dtype = indices.expr, indices.dtype
    if dtype.is_float:
        node.unsupported("of indices that are floats")
    if dtype.is_signed_integer:
        places = where(less(places, number(0, dtype)), add(places, number(int(depth), dtype)), places)
    off, on = (index.take(values.expr, const(at, DType.INT64), axis=0) for at in (0, 1))
    return index.one_hot(places, on, off, int(depth), axis, values.dtype)


def _compress(node: OnnxNode) -> Result:
    """The elements along an axis (of all elements without one) where a known condition is true."""
    condition = node.numbers(1, "a condition").ravel()
    places = const(np.flatnonzero(condition), DType.INT64)
    return index.take(node.expr(0), places, axis=node.axis() if node.has("axis") else None)


INDEXING: tuple[Converter, ...] = (
    converter("Gather", _gather, "axis"),
    converter("GatherElements", _gather_elements, "axis"),
    converter("GatherND", _gather_nd, "batch_dims"),
    converter("OneHot", _one_hot, "axis"),
    converter("Compress", _compress, "axis"),
)

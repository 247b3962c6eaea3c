"""Elements changed where indices tell: ScatterElements, ScatterND, ReverseSequence."""

from __future__ import annotations

from relay.base.dtypes import DType
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.triangles import positions
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.indices import checked
from relay.frontend.shared.places.sampling import extent_of
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, floor_mod
from relay.ops.indexing import scatter
from relay.ops.indexing.check_indices import check_indices
from relay.ops.indexing.sequence import reverse_sequence
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose


def _what(node: OnnxNode) -> str:
    """Who is given the indices."""
    return f"{node.operator} {node.name}"


def _mode(node: OnnxNode) -> str:
    """What becomes of an element and its update."""
    reduction = node.text("reduction", "none")
    if reduction not in ("none", "add", "mul", "min", "max"):
        node.unsupported(f"with the reduction {reduction}")
    return "update" if reduction == "none" else reduction


def _scatter_elements(node: OnnxNode) -> Result:
    data, indices, axis = node.value(0), node.value(1), node.axis(default=0)
    places = checked(indices, (data.shape[axis],), _what(node))
    return scatter.scatter_elements(data.expr, places, node.expr(2), axis, _mode(node))


def _scatter_nd(node: OnnxNode) -> Result:
    """indices[.., k] → Relay's indices[k, ..]"""
    data, indices = node.value(0), node.value(1)
    depth = indices.shape[-1] if indices.rank else None
    if not isinstance(depth, int) or not 0 < depth <= data.rank:
        node.unsupported(f"with indices of type {indices.type}")
    first = (indices.rank - 1, *range(indices.rank - 1))
    places = transpose(checked(indices, data.shape[:depth], _what(node)), first)
    return scatter.scatter_nd(data.expr, places, node.expr(2), _mode(node))


def _reverse_sequence(node: OnnxNode) -> Result:
    along, batch = node.int("time_axis", 0), node.int("batch_axis", 1)
    return reverse_sequence(node.expr(), node.expr(1), along, batch)


def _tensor_scatter(node: OnnxNode) -> Result:
    """past[b, .., e, ..], update[b, .., k, ..], first places [b], 0 without: entries of an axis, in a row from there,
    which begin anew at the end in circular mode."""
    past, update, starts = node.value(0), node.value(1), node.optional_value(2)
    axis, mode, extent = node.axis(), node.text("mode"), past.shape[node.axis()]
    if axis == 0 or mode not in ("linear", "circular"):
        node.unsupported(f"along axis {axis} with mode {mode!r}")
    places = positions((update, axis))
    if axis < update.rank - 1:
        places = expand_dims(places, 1, update.rank - axis - 1)
    if starts is not None:
        places = add(expand_dims(cast(starts.expr, DType.INT64), 1, update.rank - 1), places)
    if mode == "circular":
        places = floor_mod(places, extent_of(past, axis, DType.INT64))
    inside = check_indices(places, (extent,), _what(node))
    return scatter.scatter_elements(past.expr, broadcast_to(inside, update.shape), update.expr, axis, "update")


UPDATES: tuple[Converter, ...] = (
    converter("ScatterElements", _scatter_elements, "axis", "reduction"),
    converter("ScatterND", _scatter_nd, "reduction"),
    converter("TensorScatter", _tensor_scatter, "axis", "mode"),
    converter("ReverseSequence", _reverse_sequence, "batch_axis", "time_axis"),
)

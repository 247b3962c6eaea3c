"""Elements changed where indices tell: ScatterElements, ScatterND, ReverseSequence."""

from __future__ import annotations

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.indices import checked
from relay.frontend.shared.node import Result, converter
from relay.ops.indexing import scatter
from relay.ops.indexing.sequence import reverse_sequence
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


UPDATES: tuple[Converter, ...] = (
    converter("ScatterElements", _scatter_elements, "axis", "reduction"),
    converter("ScatterND", _scatter_nd, "reduction"),
    converter("ReverseSequence", _reverse_sequence, "batch_axis", "time_axis"),
)

"""What a graph inside a node takes from around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto


def names_from_outside(graph: GraphProto) -> dict[str, None]:
    """Names that a graph or the graphs inside it use and that it does not define, in the order they are met."""
    used: dict[str, None] = {}
    defined: set[str] = set()
    graphs = [graph]
    while graphs:
        current = graphs.pop()
        defined.update(info.name for info in current.input)
        defined.update(tensor.name for tensor in current.initializer)
        for node in current.node:
            used.update(dict.fromkeys(node.input))
            defined.update(node.output)
            graphs += (attribute.g for attribute in node.attribute if attribute.HasField("g"))
        used.update((info.name, None) for info in current.output)
    return {name: None for name in used if name and name not in defined}

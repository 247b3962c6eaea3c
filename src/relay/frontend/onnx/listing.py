"""The nodes of a graph as text, a line each: where errors about a node point to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relay.base.span import Source, Span
from relay.frontend.shared.names import printable

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

_WIDEST = 160  # characters of a line shown; a Concat may have a thousand inputs


def node_label(node: NodeProto, index: int) -> str:
    """The name of a node for messages: its own, or that of what it makes, or its place."""
    made = next((output for output in node.output if output), "")
    return printable(node.name or (f"the maker of {made}" if made else f"number {index}"))


def listing(graph: GraphProto, name: str) -> Source:
    """A source whose line `i + 1` shows node `i` as an assignment."""
    return Source(name, "\n".join(_line(node) for node in graph.node))


def node_span(source: Source, index: int) -> Span:
    """The place of node `index` in its listing."""
    return Span(source, index + 1)


def _line(node: NodeProto) -> str:
    called = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
    text = f"{', '.join(node.output)} = {called}({', '.join(node.input)})"
    shown = text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"
    return printable(f"{shown}  // {node.name}" if node.name else shown)

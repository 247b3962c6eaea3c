"""Long edges as references: what is used far below is called by its name there, as a reader would want it."""

from __future__ import annotations

from dataclasses import replace

from relay.report.dataflow.diagram import Block, Edge, Node, NodeKind
from relay.report.dataflow.layering import ranks

LONGEST_EDGE = 24
"""Layers that an edge passes at most. So a drawing has at most so many bends for each node, too."""


def with_references(block: Block) -> Block:
    """The block, in which values that are used more than `LONGEST_EDGE` layers below have a reference there; the same
    block if there are none."""
    rank = ranks(len(block.nodes), ((edge.source, edge.target) for edge in block.edges))
    far = [edge for edge in block.edges if rank[edge.target] - rank[edge.source] > LONGEST_EDGE]
    if not far:
        return block
    by_target: dict[int, list[Edge]] = {}
    for edge in far:
        by_target.setdefault(edge.target, []).append(edge)
    sources = {edge.source for edge in far}
    nodes: list[Node] = []
    place: list[int] = []  # of the block's nodes
    edges: list[Edge] = []
    for number, node in enumerate(block.nodes):
        references: list[Edge] = []
        for edge in by_target.get(number, ()):
            value = block.nodes[edge.source]
            references.append(replace(edge, source=len(nodes)))
            nodes.append(Node(NodeKind.REFERENCE, value.name, value.name, value.type_text))
        place.append(len(nodes))
        nodes.append(node.named() if number in sources else node)
        edges += (replace(edge, target=place[number]) for edge in references)
    edges += (
        replace(edge, source=place[edge.source], target=place[edge.target])
        for edge in block.edges
        if rank[edge.target] - rank[edge.source] <= LONGEST_EDGE
    )
    return Block(block.heading, tuple(nodes), tuple(edges))

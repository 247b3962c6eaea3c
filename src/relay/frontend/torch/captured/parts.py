"""Which operators of a captured graph go into one region."""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from relay.frontend.torch.captured.survey import is_operator
from relay.frontend.torch.package import torch_package

if TYPE_CHECKING:
    from torch import fx


def parts_of(graph: fx.GraphModule, refused: Collection[fx.Node]) -> list[list[fx.Node]]:
    """The nodes of each region, which take no numbers but those that the graph is given: what computes others is copied
    into every region that needs them."""
    stages = _stages(graph, refused)
    for node in graph.graph.nodes:  # functions of operators on functions go where their one user goes
        if node.op == "get_attr" and _is_graph(graph, node):
            (user,) = node.users
            if user in stages:
                stages[node] = stages[user]
    parts: dict[int, list[fx.Node]] = {}
    for node in graph.graph.nodes:
        if node in stages:
            parts.setdefault(stages[node], []).append(node)
    return [_with_numbers(graph, parts[stage]) for stage in sorted(parts)]


def _stages(graph: fx.GraphModule, refused: Collection[fx.Node]) -> dict[fx.Node, int]:
    """The number of the region of each node that is taken. A region waits for one more region than the operators
    outside that it needs, so none waits for itself."""
    stages: dict[fx.Node, int] = {}
    ready: dict[fx.Node, int] = {}  # the first region that may use a node
    after: dict[fx.Node, int] = {}  # the last region that has to run before it
    for node in graph.graph.nodes:
        before = node.all_input_nodes
        ready[node] = max((ready[each] for each in before), default=0)
        after[node] = max((after[each] for each in before), default=-1)
        if before[0] in stages if _is_part(node) else is_operator(node) and node not in refused:
            stages[node] = after[node] = ready[node]
        elif is_operator(node):
            ready[node] = after[node] + 1
    return stages


def _with_numbers(graph: fx.GraphModule, part: Sequence[fx.Node]) -> list[fx.Node]:
    """The part with copies of what computes the numbers that its operators take."""
    waiting = [each for node in part for each in node.all_input_nodes]
    needed: set[fx.Node] = set()
    while waiting:
        node = waiting.pop()
        if node not in needed and node.op == "call_function" and not is_operator(node) and not _is_part(node):
            needed.add(node)
            waiting += node.all_input_nodes
    copies: dict[fx.Node, fx.Node] = {}
    for node in list(graph.graph.nodes):
        if node in needed:
            with graph.graph.inserting_after(node):
                copies[node] = graph.graph.node_copy(node, lambda each: copies.get(each, each))
    for node in part:
        for each in node.all_input_nodes:
            if each in copies:
                node.replace_input_with(each, copies[each])
    for node in reversed(list(copies)):
        if not node.users:
            graph.graph.erase_node(node)
    return [*copies.values(), *part]


def _is_part(node: fx.Node) -> bool:
    """Whether a node is one of several outputs of its input."""
    return node.op == "call_function" and node.target is operator.getitem


def _is_graph(graph: fx.GraphModule, node: fx.Node) -> bool:
    return isinstance(operator.attrgetter(str(node.target))(graph), torch_package("torch.fx").GraphModule)

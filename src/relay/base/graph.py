"""Walks over directed acyclic graphs, without recursion, so depth is limited by memory alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node")
Key = TypeVar("Key", bound=Hashable)


def post_order(roots: Iterable[Node], children: Callable[[Node], Collection[Node]]) -> list[Node]:
    """Every node reachable from `roots` once, each after its children, left to right: by identity, since equality of
    nodes may cost as much as the graphs under them.

    >>> graph = {"a": ["b", "c"], "b": ["c"], "c": []}
    >>> post_order(["a"], graph.__getitem__)
    ['c', 'b', 'a']
    """
    order: list[Node] = []
    done: set[int] = set()
    for root in roots:
        if id(root) in done:
            continue
        done.add(id(root))
        stack = [(root, iter(children(root)))]
        while stack:
            node, rest = stack[-1]
            for child in rest:
                if id(child) in done:
                    continue
                done.add(id(child))
                parts = children(child)
                if parts:
                    stack.append((child, iter(parts)))
                    break
                order.append(child)
            else:
                order.append(node)
                stack.pop()
    return order


def strongly_connected(nodes: Iterable[Key], successors: Callable[[Key], Iterable[Key]]) -> list[tuple[Key, ...]]:
    """The strongly connected components of a graph of hashable nodes, each after those it leads to, in a fixed order
    (Tarjan 1972).

    >>> graph = {"a": ["b"], "b": ["a", "c"], "c": []}
    >>> strongly_connected(graph, graph.__getitem__)
    [('c',), ('a', 'b')]
    """
    index: dict[Key, int] = {}
    low: dict[Key, int] = {}
    open_nodes: list[Key] = []
    is_open: set[Key] = set()
    components: list[tuple[Key, ...]] = []
    for root in nodes:
        if root in index:
            continue
        work: list[tuple[Key, Iterator[Key]]] = []
        enter: Key | None = root
        while enter is not None or work:
            if enter is not None:
                index[enter] = low[enter] = len(index)
                open_nodes.append(enter)
                is_open.add(enter)
                work.append((enter, iter(successors(enter))))
                enter = None
            node, rest = work[-1]
            for successor in rest:
                if successor not in index:
                    enter = successor
                    break
                if successor in is_open:
                    low[node] = min(low[node], index[successor])
            if enter is not None:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                start = open_nodes.index(node)
                components.append(tuple(open_nodes[start:]))
                is_open.difference_update(open_nodes[start:])
                del open_nodes[start:]
    return components

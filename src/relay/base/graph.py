"""Walks over directed acyclic graphs, without recursion, so depth is limited by memory alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Node = TypeVar("Node")
Value = TypeVar("Value")


def post_order(roots: Iterable[Node], children: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Every node reachable from `roots` once, by identity, each after its children, left to right.

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
                if id(child) not in done:
                    done.add(id(child))
                    stack.append((child, iter(children(child))))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def fold(
    root: Node,
    children: Callable[[Node], Iterable[Node]],
    combine: Callable[[Node, list[Value]], Value],
) -> Value:
    """`combine(node, values of its children)` from the leaves up, each node once (by identity).

    >>> fold((1, (2, 3)), lambda n: n if isinstance(n, tuple) else (), lambda n, vs: sum(vs) or n)
    6
    """
    values: dict[int, Value] = {}
    kept = post_order([root], children)  # holds every node alive, so identities stay unique
    for node in kept:
        values[id(node)] = combine(node, [values[id(child)] for child in children(node)])
    return values[id(root)]

"""In which layer each node of a drawing stands, and in which order those of a layer (Sugiyama, Tagawa and Toda 1981).

Edges lead from a layer to a later one. Where an edge passes a layer it has a bend, which is ordered like a node; edges
of one node share theirs, so that a value that many use is one line with branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from relay.base.frozen import frozen

_SWEEPS = 12
_PATIENCE = 3
"""Sweeps without fewer crossings after which the best order stays."""


@frozen
class Layering:
    """Vertices are numbers: nodes, then bends. `layers` has them in order, `links` the pairs of vertices in layers that
    follow each other, and `routes` the bends of each edge, from its source on."""

    layers: tuple[tuple[int, ...], ...]
    links: tuple[tuple[int, int], ...]
    routes: dict[tuple[int, int], tuple[int, ...]]


def ranks(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The layer of each node: below all that it takes, and as low as what takes it allows where that makes edges
    shorter, or no longer because all that leads to it moves with it. Edges lead from smaller numbers to larger ones.

    >>> ranks(5, [(0, 2), (2, 3), (1, 4), (3, 4)])
    [0, 2, 1, 2, 3]
    """
    sources: list[list[int]] = [[] for _ in range(count)]
    targets: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        sources[target].append(source)
        targets[source].append(target)
    rank = [0] * count
    is_tree = [False] * count  # alone what is above it leads to it
    for node in range(count):
        rank[node] = max((rank[each] + 1 for each in sources[node]), default=0)
        is_tree[node] = all(is_tree[each] and len(targets[each]) == 1 for each in sources[node])
    for node in range(count - 1, -1, -1):
        if targets[node] and (is_tree[node] or len(targets[node]) > len(sources[node])):
            rank[node] = min(rank[each] for each in targets[node]) - 1
    return rank


def layered(count: int, edges: Sequence[tuple[int, int]]) -> Layering:
    """The layers of `count` nodes, ordered so that few edges cross."""
    rank = ranks(count, edges)
    routes: dict[tuple[int, int], tuple[int, ...]] = {}
    links: list[tuple[int, int]] = []
    bends: dict[int, list[int]] = {}
    for source, target in edges:
        shared = bends.setdefault(source, [])
        while len(shared) < rank[target] - rank[source] - 1:
            links.append((shared[-1] if shared else source, len(rank)))
            shared.append(len(rank))
            rank.append(rank[source] + len(shared))
        route = shared[: rank[target] - rank[source] - 1]
        routes[source, target] = tuple(route)
        links.append((route[-1] if route else source, target))
    layers: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for vertex, layer in enumerate(rank):
        layers[layer].append(vertex)
    return Layering(tuple(map(tuple, _ordered(layers, links))), tuple(links), routes)


def neighbours(count: int, links: Iterable[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Those above and those below each vertex."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _ordered(layers: list[list[int]], links: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Layers whose vertices are sorted by where their neighbours stand, down and up in turn, until that makes no fewer
    crossings."""
    above, below = neighbours(sum(map(len, layers)), links)
    best, fewest, patience = layers, crossings(layers, below), _PATIENCE
    current = layers
    for sweep in range(_SWEEPS):
        if not fewest or not patience:
            break
        current = _swept(current, above) if sweep % 2 == 0 else _swept(current[::-1], below)[::-1]
        found = crossings(current, below)
        if found < fewest:
            best, fewest, patience = current, found, _PATIENCE
        else:
            patience -= 1
    return best


def _swept(layers: list[list[int]], beside: list[list[int]]) -> list[list[int]]:
    """Each layer by the mean places of the neighbours in the layer before it; what has none there stays about where it
    is."""
    swept = [layers[0]]
    for layer in layers[1:]:
        places = {vertex: place for place, vertex in enumerate(swept[-1])}
        scale = len(swept[-1]) / len(layer)
        keys = {
            vertex: sum(places[each] for each in beside[vertex]) / len(beside[vertex]) if beside[vertex] else at * scale
            for at, vertex in enumerate(layer)
        }
        swept.append(sorted(layer, key=keys.__getitem__))
    return swept


def crossings(layers: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of links cross (Barth, Mutzel and Jünger 2004).

    >>> crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    1
    """
    total = 0
    for upper, lower in pairwise(layers):
        places = {vertex: place for place, vertex in enumerate(lower)}
        total += _inversions(
            [place for vertex in upper for place in sorted(places[each] for each in below[vertex])], len(lower)
        )
    return total


def _inversions(places: Iterable[int], count: int) -> int:
    """How many pairs stand in the wrong order, by a Fenwick tree over the places met so far."""
    tree = [0] * (count + 1)
    total = 0
    for met, place in enumerate(places):
        at, not_beyond = place + 1, 0
        while at:
            not_beyond += tree[at]
            at &= at - 1
        total += met - not_beyond
        at = place + 1
        while at <= count:
            tree[at] += 1
            at += at & -at
    return total

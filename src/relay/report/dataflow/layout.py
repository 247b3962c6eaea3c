"""Where the nodes of a drawing stand, and where its edges run: layers from above to below, edges with few bends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from relay.base.frozen import frozen
from relay.report.dataflow.layering import Layering, layered, neighbours

_GAP_PX, _BEND_GAP_PX, _LAYER_GAP_PX = 18.0, 10.0, 30.0
_SWEEPS = 8
_BEND_WEIGHT = 4.0
"""How much more the places of bends count than those of nodes: long edges are to be straight."""


@frozen
class Size:
    width: float
    height: float


@frozen
class Layout:
    """The left upper corner of each node, and the points of each edge, in pixels. From an even point of an edge to the
    next it runs straight down, and from an odd one it curves to the next."""

    size: Size
    corners: tuple[tuple[float, float], ...]
    paths: Mapping[tuple[int, int], tuple[tuple[float, float], ...]]


def arranged(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> Layout:
    """A layout of nodes of these sizes. Edges lead from smaller numbers to larger ones.

    >>> layout = arranged([Size(40, 20), Size(60, 20)], [(0, 1)])
    >>> layout.corners, layout.size
    (((10.0, 0.0), (0.0, 50.0)), Size(width=60.0, height=70.0))
    """
    layering = layered(len(sizes), edges)
    bends = sum(map(len, layering.layers)) - len(sizes)
    boxes = [*sizes, *([Size(0, 0)] * bends)]
    middles = _middles(layering, boxes, len(sizes))
    tops, bottoms = _bands(layering, boxes)
    layer_of = {vertex: number for number, layer in enumerate(layering.layers) for vertex in layer}
    left = min((middle - box.width / 2 for middle, box in zip(middles, boxes, strict=True)), default=0.0)
    right = max((middle + box.width / 2 for middle, box in zip(middles, boxes, strict=True)), default=0.0)
    middles = [round(middle - left, 1) for middle in middles]
    corners: list[tuple[float, float]] = []
    for node, box in enumerate(sizes):
        band = layer_of[node]
        slack = bottoms[band] - tops[band] - box.height
        corners.append((round(middles[node] - box.width / 2, 1), round(tops[band] + slack / 2, 1)))
    paths: dict[tuple[int, int], tuple[tuple[float, float], ...]] = {}
    for (source, target), route in layering.routes.items():
        points = [(middles[source], corners[source][1] + sizes[source].height)]
        points.append((middles[source], bottoms[layer_of[source]]))
        for bend in route:
            points += [(middles[bend], tops[layer_of[bend]]), (middles[bend], bottoms[layer_of[bend]])]
        points += [(middles[target], tops[layer_of[target]]), (middles[target], corners[target][1])]
        paths[source, target] = tuple(points)
    return Layout(Size(round(right - left, 1), bottoms[-1] if bottoms else 0.0), tuple(corners), paths)


def _bands(layering: Layering, boxes: Sequence[Size]) -> tuple[list[float], list[float]]:
    """Where each layer begins and ends."""
    tops: list[float] = []
    bottoms: list[float] = []
    y = 0.0
    for layer in layering.layers:
        tops.append(y)
        bottoms.append(y + max(boxes[vertex].height for vertex in layer))
        y = bottoms[-1] + _LAYER_GAP_PX
    return tops, bottoms


def _middles(layering: Layering, boxes: Sequence[Size], nodes: int) -> list[float]:
    """The middle of each vertex, from left to right: each layer as near to its neighbours as the order and the widths
    in it allow, down and up in turn, and at last to those on both sides."""
    above, below = neighbours(len(boxes), layering.links)
    offsets = {layer: _offsets(layer, boxes, nodes) for layer in layering.layers}
    middles = [0.0] * len(boxes)
    for layer, offset in offsets.items():
        for vertex, at in zip(layer, offset, strict=True):
            middles[vertex] = at - offset[-1] / 2
    for sweep in range(_SWEEPS + 1):
        layers = layering.layers if sweep % 2 == 0 else layering.layers[::-1]
        for layer in layers:
            wanted: list[float] = []
            weights: list[float] = []
            for vertex in layer:
                beside = above[vertex] if sweep % 2 == 0 else below[vertex]
                if sweep == _SWEEPS or not beside:
                    beside = above[vertex] + below[vertex]
                wanted.append(sum(middles[each] for each in beside) / len(beside) if beside else middles[vertex])
                weights.append((_BEND_WEIGHT if vertex >= nodes else 1.0) * max(1, len(beside)))
            for vertex, middle in zip(layer, nearest_places(wanted, weights, offsets[layer]), strict=True):
                middles[vertex] = middle
    return middles


def _offsets(layer: Sequence[int], boxes: Sequence[Size], nodes: int) -> list[float]:
    """How far each vertex of a layer is behind the first, at least."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        gap = _GAP_PX if left < nodes and right < nodes else _BEND_GAP_PX
        offsets.append(offsets[-1] + (boxes[left].width + boxes[right].width) / 2 + gap)
    return offsets


def nearest_places(wanted: Sequence[float], weights: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The places nearest to those wanted (by weighted squares) that keep their order and distances: less their
    offsets they must not fall, which is isotonic regression, solved by pooling adjacent violators (Ayer et al. 1955).

    >>> nearest_places([5.0, 5.0], [1.0, 1.0], [0.0, 4.0])
    [3.0, 7.0]
    """
    pools: list[tuple[float, float, int]] = []  # mean, weight, members
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, members = want - offset, 1
        while pools and pools[-1][0] > mean:
            before, heavier, more = pools.pop()
            mean = (mean * weight + before * heavier) / (weight + heavier)
            weight += heavier
            members += more
        pools.append((mean, weight, members))
    starts = [mean for mean, _, members in pools for _ in range(members)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]

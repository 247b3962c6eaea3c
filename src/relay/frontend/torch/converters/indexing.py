"""Elements chosen by index: embedding, gather, index_select, index; and parts put in place of others."""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import IntExpr, maximum, minimum
from relay.base.dtypes import DType
from relay.frontend.shared.node import Result
from relay.frontend.shared.places.indices import gathered, places_of, taken
from relay.frontend.shared.places.slicing import FAR, slice_axes
from relay.frontend.shared.value import Value
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.framework.dimensions import simplest
from relay.ops.indexing.argwhere import argwhere
from relay.ops.indexing.index import gather_nd, take
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.transpose import transpose


def _what(node: TorchNode) -> str:
    """Who is given the indices."""
    return f"{node.operator} {node.name}"


def _embedding(node: TorchNode) -> Result:
    return taken(node.value(0), node.value(1), 0, _what(node))


def _index_select(node: TorchNode) -> Result:
    return taken(node.value(0), node.value(1), node.axis("dim"), _what(node))


def _gather(node: TorchNode) -> Result:
    return gathered(node.value(0), node.value(1), node.axis("dim"), _what(node))


def _index(node: TorchNode) -> Result:
    """NumPy's indexing by integers and masks: x[i, j, :, ..]. Indices side by side stand where they were, others come
    first."""
    data = node.value(0)
    chosen = _chosen(node, [node.optional_value(index) for index in range(1, len(node.inputs))])
    if len(chosen) == 1:
        ((axis, index),) = chosen.items()
        return taken(data, index, axis, _what(node))
    places, shape = places_of(node, data, chosen, _what(node))
    others = [axis for axis in range(data.rank) if axis not in chosen]
    found = gather_nd(transpose(data.expr, (*chosen, *others)), places, index_rank=len(chosen))
    first, last = min(chosen), max(chosen)
    if first == 0 or last - first >= len(chosen):
        return found
    rank = len(shape)
    return transpose(found, (*range(rank, rank + first), *range(rank), *range(rank + first, rank + len(others))))


def _chosen(node: TorchNode, given: Sequence[Value | None]) -> dict[int, Value]:
    """The indices by the axis of the data they are of. A mask over several axes is the places where it is set, an index
    for each of them."""
    chosen: dict[int, Value] = {}
    axis = 0
    for index in given:
        if index is None:
            axis += 1
        elif index.dtype.is_bool or index.dtype is DType.UINT8:
            places = argwhere(index.expr)
            for place in range(index.rank):
                column = take(places, const(place, DType.INT64), axis=1)
                chosen[axis] = Value("", column, node.type_of(column))
                axis += 1
        else:
            chosen[axis] = index
            axis += 1
    return chosen


def _replaced(node: TorchNode, part: Expr, start: IntExpr, end: IntExpr, axis: int) -> Expr:
    """x[.., :start, ..], the part, x[.., end:, ..]"""
    data = node.value(0)
    before = slice_axes(data.expr, data.shape, {axis: (0, start, 1)}) if start != 0 else None
    after = slice_axes(data.expr, data.shape, {axis: (end, FAR, 1)}) if end != data.shape[axis] else None
    parts = [each for each in (before, part, after) if each is not None]
    return concatenate(parts, axis) if len(parts) > 1 else part


def _slice_scatter(node: TorchNode) -> Result:
    axis = node.axis("dim", default=0)
    extent = node.value(0).shape[axis]
    start, end = (_place(node.extent(name, default), extent) for name, default in (("start", 0), ("end", FAR)))
    if node.int("step", 1) != 1:
        node.unsupported("with a step")
    return _replaced(node, node.operand(1), start, end, axis)


def _place(place: IntExpr, extent: IntExpr) -> IntExpr:
    """A place of an axis, counted from either end, moved into the axis. A symbolic one is counted from the start."""
    if isinstance(place, int) and (place < 0 or place >= FAR):
        return simplest(maximum(extent + place, 0)) if place < 0 else extent
    return simplest(minimum(place, extent))


def _select_scatter(node: TorchNode) -> Result:
    axis, index = node.axis("dim"), node.extent("index")
    if isinstance(index, int) and index < 0:
        index = node.value(0).shape[axis] + index
    return _replaced(node, expand_dims(node.operand(1), axis), index, index + 1, axis)


INDEXING: tuple[Converter, ...] = (
    *converters("embedding", _embedding, "padding_idx", "scale_grad_by_freq", "sparse"),
    *converters("index_select", _index_select, "dim"),
    *converters("gather", _gather, "dim", "sparse_grad"),
    *converters("index", _index, overloads=("Tensor",)),
    *converters("slice_scatter", _slice_scatter, "dim", "start", "end", "step"),
    *converters("select_scatter", _select_scatter, "dim", "index"),
)

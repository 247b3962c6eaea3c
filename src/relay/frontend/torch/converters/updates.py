"""Elements at places that indices tell are changed: scatter, scatter_add, index_add, index_put, …."""

from __future__ import annotations

from collections.abc import Callable

from relay.frontend.shared.node import Result
from relay.frontend.shared.places.indices import checked, places_of
from relay.frontend.shared.places.masks import put_where
from relay.frontend.shared.places.slicing import slice_axes
from relay.frontend.shared.value import Value
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.creation.create import zeros_like
from relay.ops.elementwise.comparison import where
from relay.ops.elementwise.elementwise_binary import add, multiply
from relay.ops.indexing.scatter import scatter_elements, scatter_nd
from relay.ops.manipulation.shape import reshape, squeeze
from relay.ops.manipulation.tile import broadcast_to
from relay.ops.manipulation.transpose import transpose

_REDUCTIONS = {
    "sum": "add", "prod": "mul", "amax": "max", "amin": "min", "mean": "mean", "add": "add", "multiply": "mul",
}  # fmt: skip
"""Relay's names of what becomes of an element and its update, by PyTorch's."""


def _what(node: TorchNode) -> str:
    """Who is given the indices."""
    return f"{node.operator} {node.name}"


def _scatter(mode: str | None = None) -> Callable[[TorchNode], Result]:
    """x, indices[.., k, ..], updates[.., k or more, ..]: those beyond the indices are not used. A number is the update
    of all. Without a `mode` it is the argument `reduce`; without `include_self` what was there does not count."""

    def convert(node: TorchNode) -> Result:
        data, indices, updates = node.value(0), node.value(1), node.value(2)
        if data.rank == 0:
            node.unsupported("of a scalar")
        chosen = mode or _REDUCTIONS.get(node.text("reduce"))
        if chosen is None:
            node.unsupported(f"with the reduction {node.text('reduce')!r}")
        axis = node.axis("dim")
        source = node.operand(2)
        if updates.rank == 0:
            source = broadcast_to(source, indices.shape)
        elif updates.shape != indices.shape:
            source = slice_axes(source, updates.shape, {place: (0, end, 1) for place, end in enumerate(indices.shape)})
        places = checked(indices, (data.shape[axis],), _what(node))
        return scatter_elements(data.expr, places, source, axis, chosen, node.flag("include_self", True))

    return convert


def _along(mode: str) -> Callable[[TorchNode], Result]:
    """x[.., e, ..], indices[k], updates[.., k, ..]: whole entries of an axis."""

    def convert(node: TorchNode) -> Result:
        data, indices, updates = node.value(0), node.value(1), node.operand(2)
        axis, alpha = node.axis("dim"), node.number(3, 1)
        if data.rank == 0 or indices.rank != 1:
            node.unsupported(f"of {data.type} by indices of type {indices.type}")
        source_shape = tuple(indices.shape[0] if place == axis else extent for place, extent in enumerate(data.shape))
        if node.value(2).rank == 0:
            updates = broadcast_to(updates, source_shape)
        row = tuple(indices.shape[0] if place == axis else 1 for place in range(data.rank))
        places = reshape(checked(indices, (data.shape[axis],), _what(node)), row, allowzero=True)
        source = updates if alpha == 1 else multiply(updates, const(alpha, node.dtype))
        return scatter_elements(data.expr, broadcast_to(places, source_shape), source, axis, mode)

    return convert


def _index_put(node: TorchNode) -> Result:
    """NumPy's assignment x[i, j, :, ..] = values, or += with `accumulate`."""
    data, *indices, _ = (node.optional_value(index) for index in range(len(node.inputs)))
    assert data is not None
    chosen = {axis: index for axis, index in enumerate(indices) if index is not None}
    values = node.value(len(node.inputs) - 1)
    update = node.operand(len(node.inputs) - 1)
    if any(index.dtype.is_bool for index in chosen.values()):
        mask = chosen.get(0)
        if len(chosen) > 1 or mask is None:
            node.unsupported("by a mask beside other indices")
        return _put_by_mask(node, mask, values, update)
    first = min(chosen)
    if max(chosen) - first >= len(chosen):
        node.unsupported("by indices that do not stand side by side")
    places, shape = places_of(node, data, chosen, _what(node))
    others = [axis for axis in range(data.rank) if axis not in chosen]
    rank = len(shape)
    kept = tuple(data.shape[axis] for axis in others)
    source: Expr = broadcast_to(update, (*kept[:first], *shape, *kept[first:]))
    source = transpose(source, (*range(first, first + rank), *range(first), *range(first + rank, rank + len(others))))
    order = (*chosen, *others)
    mode = "add" if node.flag("accumulate") else "update"
    changed = scatter_nd(transpose(data.expr, order), places, source, mode)
    return transpose(changed, tuple(order.index(axis) for axis in range(data.rank)))


def _put_by_mask(node: TorchNode, mask: Value, values: Value, update: Expr) -> Result:
    """x[mask] = values, which are one for each place where the mask is set, or serve all of them."""
    data, adds = node.value(0), node.flag("accumulate")
    before = Value("", zeros_like(data.expr), data.type) if adds else data
    inner = data.rank - mask.rank
    if values.rank > inner and values.shape[0] != 1:
        changed = put_where(mask, before, update, _what(node))
    else:
        chosen = reshape(mask.expr, (*mask.shape, *(1,) * inner), allowzero=True)
        changed = where(chosen, squeeze(update, (0,)) if values.rank > inner else update, before.expr)
    return add(data.expr, changed) if adds else changed


UPDATES: tuple[Converter, ...] = (
    *converters("scatter", _scatter("update"), "dim", overloads=("src", "value")),
    *converters("scatter", _scatter(), "dim", "reduce", overloads=("reduce", "value_reduce")),
    *converters("scatter_add", _scatter("add"), "dim"),
    *converters("scatter_reduce", _scatter(), "dim", "reduce", "include_self", overloads=("two",)),
    *converters("index_add", _along("add"), "dim"),
    *converters("index_copy", _along("update"), "dim"),
    *converters("index_fill", _along("update"), "dim", overloads=("int_Scalar", "int_Tensor")),
    *converters("index_put", _index_put, "accumulate"),
)

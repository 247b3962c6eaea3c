"""The same elements in another shape, order or neighbourhood: view, permute, cat, split, slice, pad, …."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np

from relay.arith.expr import IntExpr
from relay.frontend.shared.node import Result
from relay.frontend.shared.places.slicing import FAR, slice_axes
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops import dyn
from relay.ops.indexing.index import take
from relay.ops.manipulation import shape
from relay.ops.manipulation.combine import concatenate, split, stack
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.tile import broadcast_to, tile
from relay.ops.manipulation.transpose import reverse, transpose
from relay.ops.nn.space_depth import depth_to_space

Amount = TypeVar("Amount", bound=IntExpr)


def _reshape(node: TorchNode) -> Result:
    value = node.value(0)
    return value if value.shape == node.shape else shape.reshape(value.expr, node.shape, allowzero=True)


def _squeeze(node: TorchNode) -> Result:
    """Axes of extent 1 go; of those named, too, only they do."""
    value = node.value(0)
    axes = tuple(axis for axis in node.axes() if value.shape[axis] == 1)
    return shape.squeeze(value.expr, axes) if axes else value


def _unsqueeze(node: TorchNode) -> Result:
    return shape.expand_dims(node.expr(), node.wrapped_axis(node.int("dim"), node.value(0).rank + 1))


def _expand(node: TorchNode) -> Result:
    value = node.value(0)
    return value if value.shape == node.shape else broadcast_to(value.expr, node.shape)


def _permute(node: TorchNode) -> Result:
    rank = node.value(0).rank
    return transpose(node.expr(), tuple(node.wrapped_axis(axis, rank) for axis in node.ints("dims")))


def _transpose(node: TorchNode) -> Result:
    """Two axes change places."""
    rank = node.value(0).rank
    if rank == 0:
        return node.value(0)
    first, second = (node.wrapped_axis(node.int(name), rank) for name in ("dim0", "dim1"))
    axes = list(range(rank))
    axes[first], axes[second] = axes[second], axes[first]
    return transpose(node.expr(), axes)


def _matrix_transpose(node: TorchNode) -> Result:
    return transpose(node.expr(), (1, 0)) if node.value(0).rank == 2 else node.value(0)


def _slice(node: TorchNode) -> Result:
    value, axis = node.value(0), node.axis("dim", default=0)
    part = node.extent("start", 0), node.extent("end", FAR), node.int("step", 1)
    return slice_axes(value.expr, value.shape, {axis: part})


def _select(node: TorchNode) -> Result:
    """One entry of an axis, which goes."""
    value, axis, index = node.value(0), node.axis("dim"), node.extent("index")
    end = FAR if index == -1 else index + 1
    return shape.squeeze(slice_axes(value.expr, value.shape, {axis: (index, end, 1)}), [axis])


def _parts(node: TorchNode, edges: Sequence[IntExpr]) -> Result:
    value = node.value(0)
    return split(value.expr, edges, node.axis("dim", default=0)) if edges else (value,)


def _split(node: TorchNode) -> Result:
    """Parts as large as the results that PyTorch gives."""
    axis = node.axis("dim", default=0)
    sizes = [type_.shape[axis] for type_ in node.types if type_ is not None]
    return _parts(node, list(accumulate(sizes[:-1])))


def _unbind(node: TorchNode) -> Result:
    """The entries of an axis, which goes."""
    value, axis = node.value(0), node.axis("dim", default=0)
    parts = [value.expr] if len(node.types) == 1 else split(value.expr, len(node.types), axis)
    return tuple(shape.squeeze(part, [axis]) for part in parts)


def _concatenate(node: TorchNode) -> Result:
    """Of the tensors that are not the empty one of one axis, which PyTorch passes over."""
    values = [value for value in node.values() if value.shape != (0,)]
    if len(values) < 2:
        return values[0] if values else node.value(0)
    axis = node.wrapped_axis(node.int("dim", 0), values[0].rank)
    positions = [position for position, value in enumerate(node.values()) if value.shape != (0,)]
    return concatenate([node.operand(position) for position in positions], axis)


def _stack(node: TorchNode) -> Result:
    parts = [node.operand(position) for position in range(len(node.inputs))]
    return stack(parts, node.wrapped_axis(node.int("dim", 0), node.value(0).rank + 1))


def _repeat(node: TorchNode) -> Result:
    """As many times along each axis; more of them than the tensor has come first."""
    repeats = node.extents_of("repeats")
    return tile(node.expr(), repeats) if repeats else node.value(0)


def _flip(node: TorchNode) -> Result:
    result: Expr = node.expr()
    for axis in node.axes("dims"):
        result = reverse(result, axis)
    return result


_MODES = {"reflect": "reflect", "replicate": "edge"}


def _widths(rank: int, amounts: Sequence[Amount]) -> list[tuple[Amount | int, Amount | int]]:
    """PyTorch says what comes before and after the last axis, then the one before it, …."""
    widths: list[tuple[Amount | int, Amount | int]] = [(0, 0)] * rank
    for position in range(len(amounts) // 2):
        widths[rank - 1 - position] = amounts[2 * position], amounts[2 * position + 1]
    return widths


def _pad(node: TorchNode) -> Result:
    """Negative amounts cut."""
    mode, value, amounts = node.text("mode", "constant"), node.value(0), node.extents_of("pad")
    if not all(isinstance(each, int) for each in amounts):
        return _padded_by_extents(node, mode, amounts)
    widths = _widths(value.rank, node.ints("pad"))
    if not any(before or after for before, after in widths):
        return value
    if mode == "constant":
        return pad(value.expr, widths, node.number(1, node.float("value", 0.0)))
    if mode == "circular":
        return _wrapped(node, widths)
    if mode not in _MODES:
        node.unsupported(f"with the mode {mode!r}")
    return pad(value.expr, widths, pad_mode=_MODES[mode])


def _padded_by_extents(node: TorchNode, mode: str, amounts: Sequence[IntExpr]) -> Expr:
    """Amounts that are computed from extents."""
    known = {**_MODES, "constant": "constant", "circular": "wrap"}
    if mode not in known:
        node.unsupported(f"with the mode {mode!r}")
    value = node.value(0)
    around = const(node.number(1, node.float("value", 0.0)), value.dtype)
    widths = shape.reshape(node.tensor_of([each for pair in _widths(value.rank, amounts) for each in pair]), (-1, 2))
    return dyn.pad(value.expr, widths, around, known[mode])


def _wrapped(node: TorchNode, widths: Sequence[tuple[int, int]]) -> Expr:
    """The end of each axis before its beginning, and its beginning after its end."""
    result, extents = node.expr(), list(node.value(0).shape)
    for axis, (before, after) in enumerate(widths):
        if min(before, after) < 0:
            node.unsupported("with the mode 'circular' and negative amounts")
        parts = [
            slice_axes(result, extents, {axis: (-before, FAR, 1)}) if before else None,
            result,
            slice_axes(result, extents, {axis: (0, after, 1)}) if after else None,
        ]
        kept = [part for part in parts if part is not None]
        result = concatenate(kept, axis) if len(kept) > 1 else result
        extents[axis] = extents[axis] + before + after
    return result


def _padded(mode: str, rank: int) -> tuple[Converter, ...]:
    def convert(node: TorchNode) -> Result:
        return pad(node.expr(), _widths(node.value(0).rank, node.ints("padding")), pad_mode=mode)

    name = {"reflect": "reflection", "edge": "replication"}[mode]
    return converters(f"{name}_pad{rank}d", convert, "padding")


def _pixel_shuffle(node: TorchNode) -> Result:
    return depth_to_space(node.expr(), node.int("upscale_factor"), mode="CDR")


def _pixel_unshuffle(node: TorchNode) -> Result:
    """Channels outermost, where Relay's operator has the places of a block outermost."""
    value, factor = node.value(0), node.int("downscale_factor")
    leading = value.shape[:-2]
    split_shape = (*leading, node.shape[-2], factor, node.shape[-1], factor)
    rank = len(leading)
    axes = (*range(rank), rank + 1, rank + 3, rank, rank + 2)
    return shape.reshape(transpose(shape.reshape(value.expr, split_shape), axes), node.shape)


def _unfold(node: TorchNode) -> Result:
    """Windows along an axis, their elements last."""
    value, axis, size, step = node.value(0), node.axis("dimension"), node.int("size"), node.int("step")
    count = node.shape[axis]
    if not isinstance(count, int):
        node.unsupported("along a symbolic extent")
    windows = const(np.arange(count)[:, None] * step + np.arange(size))
    others = [place for place in range(value.rank + 1) if place != axis + 1]
    return transpose(take(value.expr, windows, axis=axis), (*others, axis + 1))


def _diagonal(node: TorchNode) -> Result:
    """Of the matrices that two axes make: every (columns + 1)th of their elements, in one row, last."""
    value, offset = node.value(0), node.int("offset", 0)
    first, second = (node.wrapped_axis(node.int(name, place), value.rank) for name, place in (("dim1", 0), ("dim2", 1)))
    others = [axis for axis in range(value.rank) if axis not in (first, second)]
    rows, columns, length = value.shape[first], value.shape[second], node.shape[-1]
    if not isinstance(rows, int) or not isinstance(columns, int) or not isinstance(length, int):
        node.unsupported("over symbolic extents")
    kept = [value.shape[axis] for axis in others]
    row = shape.reshape(transpose(value.expr, (*others, first, second)), (*kept, rows * columns), allowzero=True)
    start = offset if offset >= 0 else -offset * columns
    part = start, start + length * (columns + 1), columns + 1
    return slice_axes(row, (*kept, rows * columns), {len(others): part})


SHAPES: tuple[Converter, ...] = (
    *(
        record
        for name in ("view", "_unsafe_view", "reshape", "view_copy")
        for record in converters(name, _reshape, "size", "shape")
    ),
    *converters("flatten", _reshape, "start_dim", "end_dim", overloads=("using_ints",)),
    *converters("unflatten", _reshape, "dim", "sizes", overloads=("int",)),
    *converters("squeeze", _squeeze, "dim", overloads=("default", "dim", "dims")),
    *converters("unsqueeze", _unsqueeze, "dim"),
    *converters("expand", _expand, "size"),
    *converters("permute", _permute, "dims"),
    *converters("transpose", _transpose, "dim0", "dim1", overloads=("int",)),
    *converters("t", _matrix_transpose),
    *converters("slice", _slice, "dim", "start", "end", "step", overloads=("Tensor",)),
    *converters("select", _select, "dim", "index", overloads=("int",)),
    *converters("split", _split, "split_size", "dim", overloads=("Tensor",)),
    *converters("split_with_sizes", _split, "split_sizes", "dim"),
    *converters("chunk", _split, "chunks", "dim"),
    *converters("unbind", _unbind, "dim", overloads=("int",)),
    *converters("cat", _concatenate, "dim"),
    *converters("stack", _stack, "dim"),
    *converters("repeat", _repeat, "repeats"),
    *converters("flip", _flip, "dims"),
    *converters("unfold", _unfold, "dimension", "size", "step"),
    *converters("diagonal", _diagonal, "offset", "dim1", "dim2"),
    *converters("constant_pad_nd", _pad, "pad"),
    *converters("pad", _pad, "pad", "mode", "value"),
    *(record for mode in ("reflect", "edge") for rank in (1, 2, 3) for record in _padded(mode, rank)),
    *converters("pixel_shuffle", _pixel_shuffle, "upscale_factor"),
    *converters("pixel_unshuffle", _pixel_unshuffle, "downscale_factor"),
)

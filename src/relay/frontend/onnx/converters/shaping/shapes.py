"""The same elements in another shape, order or neighbourhood: reshape, transpose, concat, split, slice, pad, …."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from relay.arith.expr import IntExpr, floor_divide, multiply
from relay.base.dtypes import DType
from relay.frontend.onnx.converters.shaping import computed
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import entries, squeezed, unsqueezed
from relay.frontend.shared.places.slicing import slice_axes
from relay.frontend.shared.value import array_of
from relay.ir.expr import Expr
from relay.ir.types import ANY
from relay.ops.creation.create import shape_of
from relay.ops.framework.dimensions import product, quotient
from relay.ops.manipulation import shape
from relay.ops.manipulation.combine import concatenate, split
from relay.ops.manipulation.pad import pad
from relay.ops.manipulation.tile import broadcast_to, tile
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.space_depth import depth_to_space, space_to_depth


def _reshape(node: OnnxNode) -> Result:
    """0 copies an axis (unless `allowzero`), -1 is what is left; both are worked out here, so symbols stay."""
    if computed.is_computed(node, 1):
        return computed.reshaped(node)
    old, allow_zero = node.value(0).shape, bool(node.int("allowzero", 0))
    wanted = list(node.extents(1, "a shape"))
    for axis, extent in enumerate(wanted):
        if isinstance(extent, int) and extent < -1:
            node.unsupported(f"to the shape {tuple(wanted)}")
        if extent == 0 and not allow_zero:
            if axis >= len(old):
                node.unsupported(
                    f"to the shape {tuple(wanted)}, where 0 copies an axis that {node.value(0).type} lacks"
                )
            wanted[axis] = old[axis]
    return reshaped(node, node.expr(), old, wanted)


def reshaped(node: OnnxNode, x: Expr, old: Sequence[IntExpr], wanted: list[IntExpr]) -> Expr:
    """x in the shape `wanted`, one extent of which may be -1."""
    if wanted.count(-1) > 1:
        node.unsupported(f"to the shape {tuple(wanted)}, with more than one -1")
    if -1 in wanted:
        exact = quotient(product(old), product(extent for extent in wanted if extent != -1))
        if exact is not None:
            wanted[wanted.index(-1)] = exact
    return shape.reshape(x, wanted, allowzero=-1 not in wanted)


def _flatten(node: OnnxNode) -> Result:
    """[product of the axes before `axis`, product of the rest]"""
    value = node.value(0)
    axis = node.int("axis")
    if not -value.rank <= axis <= value.rank:
        node.unsupported(f"with axis {axis} of {value.type}")
    axis = axis + value.rank if axis < 0 else axis
    if axis == 1:
        return shape.batch_flatten(value.expr) if value.rank > 1 else shape.expand_dims(value.expr, 1)
    sides: list[IntExpr] = [1, 1]
    for position, extent in enumerate(value.shape):
        sides[position >= axis] = multiply(sides[position >= axis], extent)
    return shape.reshape(value.expr, sides, allowzero=True)


def _transpose(node: OnnxNode) -> Result:
    rank = node.value(0).rank
    axes = node.ints("perm") if node.has("perm") else tuple(reversed(range(rank)))
    return transpose(node.expr(), axes)


def _squeeze(node: OnnxNode) -> Result:
    value = node.value(0)
    if node.optional_value(1) is None:
        axes = tuple(axis for axis, extent in enumerate(value.shape) if extent == 1)
    elif not computed.is_plain(node, 1):
        return squeezed(value, *entries(node, 1, "axes"), f"{node.operator} {node.name}")
    else:
        axes = tuple(node.wrapped_axis(axis, value.rank) for axis in node.integers(1, "axes"))
    return shape.squeeze(value.expr, axes) if axes else value


def _unsqueeze(node: OnnxNode) -> Result:
    if not computed.is_plain(node, 1):
        return unsqueezed(node.value(0), *entries(node, 1, "axes"), f"{node.operator} {node.name}")
    given = node.integers(1, "axes")
    rank = node.value(0).rank + len(given)
    axes = sorted(node.wrapped_axis(axis, rank) for axis in given)
    if len(set(axes)) < len(axes):
        node.unsupported(f"with axes {given}")
    result = node.expr()
    for axis in axes:
        result = shape.expand_dims(result, axis)
    return result


def _concat(node: OnnxNode) -> Result:
    values = node.values()
    if len(values) == 1:
        return values[0]
    return concatenate([value.expr for value in values], node.axis())


def _split(node: OnnxNode) -> Result:
    """Into the sizes given, else into equal parts, the last of which may be smaller, or empty (opset 18)."""
    axis, value = node.axis(), node.value(0)
    if computed.is_computed(node, 1):
        return computed.split_into(node, axis)
    extent = value.shape[axis]
    edges: list[IntExpr]
    if node.optional_value(1) is not None:
        sizes = node.extents(1, "sizes")
        whole = all(isinstance(each, int) for each in (*sizes, extent)) and sum(sizes) != extent
        if whole or any(isinstance(size, int) and size < 0 for size in sizes):
            node.unsupported(f"of {extent} into parts of {sizes}")
        edges = list(accumulate(sizes[:-1]))
    else:
        parts = node.int("num_outputs", node.output_count)
        if parts < 1 or parts > max(node.output_count, 1):
            node.unsupported(f"into {parts} parts with {node.output_count} outputs")
        if extent is ANY or node.opset < 18 or quotient(extent, parts) is not None:
            return split(value.expr, parts, axis) if parts > 1 else value
        size = floor_divide(extent + (parts - 1), parts)
        edges = [multiply(size, position) for position in range(1, parts)]
    return split(value.expr, edges, axis) if edges else value


def _expand(node: OnnxNode) -> Result:
    """Broadcasting both ways: an extent of 1 in the shape keeps that of the tensor."""
    if computed.is_computed(node, 1):
        return computed.expanded(node)
    old, wanted = list(node.value(0).shape), list(node.extents(1, "a shape"))
    rank = max(len(old), len(wanted))
    old, wanted = [1] * (rank - len(old)) + old, [1] * (rank - len(wanted)) + wanted
    target = tuple(mine if asked == 1 else asked for mine, asked in zip(old, wanted, strict=True))
    if target == node.value(0).shape:
        return node.value(0)
    return broadcast_to(node.expr(), target)


def _tile(node: OnnxNode) -> Result:
    if not computed.is_plain(node, 1):
        return computed.tiled(node)
    repeats = node.integers(1, "repeats")
    if len(repeats) != node.value(0).rank or any(count < 0 for count in repeats):
        node.unsupported(f"with repeats {repeats} of {node.value(0).type}")
    return tile(node.expr(), repeats) if repeats else node.value(0)


def _pad(node: OnnxNode) -> Result:
    """Constant, mirrored or repeated edges, or the tensor itself again. Negative amounts cut: what a number was put
    around, or, before the others, what is mirrored or repeated."""
    value, mode = node.value(0), node.text("mode")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        node.unsupported(f"with mode {mode!r}")
    if not computed.is_plain(node, 1, 3):
        return computed.padded(node, mode)
    pads = node.integers(1, "pads")
    axes = tuple(range(value.rank))
    if node.optional_value(3) is not None:
        axes = tuple(node.wrapped_axis(axis, value.rank) for axis in node.integers(3, "axes"))
    if len(pads) != 2 * len(axes):
        node.unsupported(f"with {len(pads)} pads for {len(axes)} axes")
    widths = [(0, 0)] * value.rank
    for position, axis in enumerate(axes):
        widths[axis] = (pads[position], pads[position + len(axes)])
    if not any(before or after for before, after in widths):
        return value
    if mode == "constant":
        return pad(value.expr, widths, computed.padding_value(node))
    cuts = [(min(0, before), min(0, after)) for before, after in widths]
    widths = [(max(0, before), max(0, after)) for before, after in widths]
    cut = pad(value.expr, cuts) if any(before or after for before, after in cuts) else value.expr
    return pad(cut, widths, pad_mode=mode) if any(before or after for before, after in widths) else cut


def _depth_to_space(node: OnnxNode) -> Result:
    mode = {"DCR": "DCR", "CRD": "CDR"}.get(node.text("mode", "DCR"))  # Relay spells the second one so
    if mode is None:
        node.unsupported(f"with mode {node.text('mode')!r}")
    return depth_to_space(node.expr(), node.int("blocksize"), mode=mode)


def _space_to_depth(node: OnnxNode) -> Result:
    """The places in a block come before the channels (`DCR`), or behind them (`CRD`)."""
    value, mode, size = node.value(0), node.text("mode", "DCR"), node.int("blocksize")
    if mode == "DCR":
        return space_to_depth(value.expr, size)
    if mode != "CRD" or value.rank != 4:
        node.unsupported(f"with mode {mode!r} of {value.type}")
    batch, channels, height, width = value.shape
    blocks = shape.reshape(value.expr, (batch, channels, *_blocks(height, size), *_blocks(width, size)), allowzero=True)
    merged = (batch, channels * (size * size), floor_divide(height, size), floor_divide(width, size))
    return shape.reshape(transpose(blocks, (0, 1, 3, 5, 2, 4)), merged, allowzero=True)


def _blocks(extent: IntExpr, size: int) -> tuple[IntExpr, int]:
    return floor_divide(extent, size), size


def _shape(node: OnnxNode) -> Result:
    """Extents `start` to `end` of the input, with NumPy's rules for slices (opset 15)."""
    value = node.value(0)
    start, end = node.int("start", 0), node.int("end", value.rank)
    positions = range(value.rank)[start:end]
    known = array_of(value.shape[start:end])
    if known is not None:
        return known
    whole = shape_of(value.expr, DType.INT64)
    return slice_axes(whole, (value.rank,), {0: (positions.start, positions.stop, 1)})


SHAPES: tuple[Converter, ...] = (
    converter("Reshape", _reshape, "allowzero", changes=(14,)),
    converter("Flatten", _flatten, "axis"),
    converter("Transpose", _transpose, "perm"),
    converter("Squeeze", _squeeze),
    converter("Unsqueeze", _unsqueeze),
    converter("Concat", _concat, "axis"),
    converter("Split", _split, "axis", "num_outputs", changes=(18,)),
    converter("Expand", _expand),
    converter("Tile", _tile),
    converter("Pad", _pad, "mode", changes=(18, 19)),
    converter("DepthToSpace", _depth_to_space, "blocksize", "mode"),
    converter("SpaceToDepth", _space_to_depth, "blocksize", "mode", changes=(28,)),
    converter("Shape", _shape, "start", "end", changes=(15,)),
)

"""Slice.   x[..] → x[start:end:step, ..]"""

from __future__ import annotations

from collections.abc import Sequence

from relay.frontend.onnx.converters.shaping import computed
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.slicing import slice_axes


def _slice(node: OnnxNode) -> Result:
    """Starts and ends count from the end when negative and are moved into the data, as NumPy has it."""
    if computed.is_computed(node, 1, 2) or not computed.is_plain(node, 3, 4):
        return computed.sliced(node)
    value = node.value(0)
    starts, ends = node.extents(1, "starts"), node.extents(2, "ends")
    axes: Sequence[int] = range(len(starts))
    if node.optional_value(3) is not None:
        axes = [node.wrapped_axis(axis, value.rank) for axis in node.integers(3, "axes")]
    steps = node.integers(4, "steps") if node.optional_value(4) is not None else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or len(set(axes)) < len(axes):
        node.unsupported(f"with {len(starts)} starts, {len(ends)} ends, {len(steps)} steps and axes {tuple(axes)}")
    if any(axis >= value.rank for axis in axes):
        node.unsupported(f"along {len(axes)} axes of {value.type}")
    if 0 in steps:
        node.unsupported("with a step of 0")
    parts = zip(axes, starts, ends, steps, strict=True)
    return slice_axes(value.expr, value.shape, {axis: (start, end, step) for axis, start, end, step in parts})


SLICES: tuple[Converter, ...] = (converter("Slice", _slice),)

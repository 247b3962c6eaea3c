"""Slice, and slices that other converters need.   x[..] → x[start:end:step, ..]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.arith.expr import IntExpr
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Expr
from relay.ops.slice import strided_slice

_FAR = 2**31 - 1
"""As an end, everything that remains, whatever the extent."""


def slice_axes(x: Expr, shape: Sequence[IntExpr], ends: Mapping[int, tuple[IntExpr, IntExpr, int]]) -> Expr:
    """`x` with `(start, end, step)` applied along some axes; axes that stay whole are left out."""
    kept = {axis: part for axis, part in sorted(ends.items()) if not _is_whole(part, shape[axis])}
    if not kept:
        return x
    parts = list(kept.values())
    return strided_slice(
        x, [start for start, _, _ in parts], [end for _, end, _ in parts], [step for _, _, step in parts], tuple(kept)
    )


def _is_whole(part: tuple[IntExpr, IntExpr, int], extent: IntExpr) -> bool:
    start, end, step = part
    return start == 0 and step == 1 and (end == extent or (isinstance(end, int) and end >= _FAR))


def _slice(node: OnnxNode) -> Result:
    """Starts and ends count from the end when negative and are moved into the data, as NumPy has it."""
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
    parts = zip(axes, map(_near, starts), map(_near, ends), steps, strict=True)
    return slice_axes(value.expr, value.shape, {axis: (start, end, step) for axis, start, end, step in parts})


def _near(place: IntExpr) -> IntExpr:
    """A place of at most 32 bits: what lies further away is the same."""
    return max(-_FAR, min(_FAR, place)) if isinstance(place, int) else place


SLICES: tuple[Converter, ...] = (converter("Slice", _slice),)

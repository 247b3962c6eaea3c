"""Resize of images.   x[batch, channels, h, w] → [batch, channels, h', w']"""

from __future__ import annotations

import math

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.ops.nn.resize import resize2d

_METHODS = {"nearest": "nearest_neighbor", "linear": "linear", "cubic": "cubic"}
_COORDINATES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_ROUNDINGS = {
    "round_prefer_floor": "round_prefer_floor", "round_prefer_ceil": "round_prefer_ceil", "floor": "floor",
    "ceil": "ceil",
}  # fmt: skip


def _resize(node: OnnxNode) -> Result:
    """To sizes, or by scales that give whole extents: Relay goes by the ratio of the extents."""
    value = node.value(0)
    if value.rank != 4:
        node.unsupported(f"of {value.type}, which is not [batch, channels, height, width]")
    method, coordinates = node.text("mode"), node.text("coordinate_transformation_mode")
    if method not in _METHODS:
        node.unsupported(f"with mode {method!r}")
    if coordinates not in _COORDINATES:
        node.unsupported(f"with coordinate_transformation_mode {coordinates!r}")
    rounding = node.text("nearest_mode") if method == "nearest" else ""
    if rounding and rounding not in _ROUNDINGS:
        node.unsupported(f"with nearest_mode {rounding!r}")
    size = _target(node)
    if size == value.shape[2:]:
        return value
    return resize2d(
        value.expr, size, layout="NCHW", method=_METHODS[method], coordinate_transformation_mode=coordinates,
        rounding_method=_ROUNDINGS.get(rounding, ""), cubic_alpha=node.float("cubic_coeff_a"),
        cubic_exclude=node.int("exclude_outside"),
    )  # fmt: skip


def _target(node: OnnxNode) -> tuple[int, int]:
    """(height, width) of the result."""
    old = node.value(0).shape
    axes = tuple(node.wrapped_axis(axis, 4) for axis in node.ints("axes", ())) or (0, 1, 2, 3)
    sizes = list(old)
    if node.optional_value(3) is not None:
        given = node.extents(3, "sizes")
        if len(given) != len(axes):
            node.unsupported(f"with {len(given)} sizes for {len(axes)} axes")
        for axis, size in zip(axes, given, strict=True):
            sizes[axis] = size
    else:
        scales = node.numbers(2, "scales").ravel().tolist()
        if len(scales) != len(axes):
            node.unsupported(f"with {len(scales)} scales for {len(axes)} axes")
        for axis, scale in zip(axes, scales, strict=True):
            sizes[axis] = _scaled(node, axis, scale)
    height, width = sizes[2:]
    if (
        tuple(sizes[:2]) != old[:2]
        or not isinstance(height, int)
        or not isinstance(width, int)
        or min(height, width) < 1
    ):
        node.unsupported(f"of {node.value(0).type} to {tuple(sizes)}")
    return height, width


def _scaled(node: OnnxNode, axis: int, scale: float) -> int:
    extent = node.value(0).shape[axis]
    if scale == 1 and not isinstance(extent, int):
        return extent  # pyright: ignore[reportReturnType] - a symbolic extent that stays as it is
    if not isinstance(extent, int) or not math.isfinite(scale) or scale <= 0:
        node.unsupported(f"by {scale} of {node.value(0).type}")
    exact = extent * scale
    if abs(exact - round(exact)) > 1e-4:
        node.unsupported(f"by {scale} of {extent} elements, which is not a whole number")
    return round(exact)


RESIZING: tuple[Converter, ...] = (
    converter(
        "Resize", _resize, "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "mode",
        "nearest_mode", changes=(18, 19),
    ),
)  # fmt: skip

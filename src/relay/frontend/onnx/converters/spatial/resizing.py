"""Resize.   x[..] → [..], each axis resized

Images of known extents have an operator of their own; all else is resized axis by axis, as the run says.
"""

from __future__ import annotations

import math

from relay.arith.expr import IntExpr
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.frontend.onnx.converters.shaping.computed import is_plain
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import LONG, entries, numbers, shape_of_value
from relay.frontend.shared.places.resampling import (
    COORDINATES,
    DOUBLE,
    NEAREST,
    AxisSampling,
    Sampling,
    number,
    resampled,
    scaled_extent,
)
from relay.ir.expr import Expr, const
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, divide, multiply
from relay.ops.elementwise.elementwise_unary import floor
from relay.ops.indexing.index import take
from relay.ops.nn.resize import resize2d
from relay.ops.reduction import reduce

_METHODS = {"nearest": "nearest_neighbor", "linear": "linear", "cubic": "cubic"}
_OF_IMAGES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
_POLICIES = ("stretch", "not_larger", "not_smaller")


@frozen
class _Target:
    """`counts` are the extents of the result along `axes`; `scales` how much denser it is."""

    axes: tuple[int, ...]
    counts: tuple[int, ...]
    scales: tuple[float, ...]


def _resize(node: OnnxNode) -> Result:
    value, how = node.value(0), _sampling(node)
    if how.method != "nearest" and not value.dtype.is_float:
        node.unsupported(f"of {value.type} with mode {how.method!r}")
    axes = _axes(node)
    target = _known_target(node, axes) if is_plain(node, 2, 3) else None
    if target is None:
        return _computed(node, how, axes)
    size = _image_size(value.shape, target, how)
    if size is None:
        return _known(node, how, target)
    if size == value.shape[2:]:
        return value
    return resize2d(
        value.expr, size, layout="NCHW", method=_METHODS[how.method], coordinate_transformation_mode=how.coordinates,
        rounding_method=how.rounding if how.method == "nearest" else "", cubic_alpha=how.cubic_alpha,
        cubic_exclude=int(how.excludes_outside),
    )  # fmt: skip


def _axes(node: OnnxNode) -> tuple[int, ...]:
    rank = node.value(0).rank
    return tuple(node.wrapped_axis(axis, rank) for axis in node.ints("axes", ())) or tuple(range(rank))


def _sampling(node: OnnxNode) -> Sampling:
    method, coordinates = node.text("mode"), node.text("coordinate_transformation_mode")
    rounding = node.text("nearest_mode")
    if method not in _METHODS:
        node.unsupported(f"with mode {method!r}")
    if coordinates not in COORDINATES:
        node.unsupported(f"with coordinate_transformation_mode {coordinates!r}")
    if rounding not in NEAREST:
        node.unsupported(f"with nearest_mode {rounding!r}")
    antialias = bool(node.int("antialias", 0)) and method != "nearest"
    return Sampling(method, coordinates, rounding, node.float("cubic_coeff_a"), antialias,
                    bool(node.int("exclude_outside")), node.float("extrapolation_value"))  # fmt: skip


def _policy(node: OnnxNode) -> str:
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy not in _POLICIES:
        node.unsupported(f"with keep_aspect_ratio_policy {policy!r}")
    return policy


# What is known when the model is read


def _known_target(node: OnnxNode, axes: tuple[int, ...]) -> _Target | None:
    """None where extents are known to the run alone; those that stay as they are may be."""
    shape = node.value(0).shape
    if node.optional_value(3) is not None:
        sizes = node.integers(3, "sizes")
        old = [extent for axis in axes if isinstance(extent := shape[axis], int)]
        if len(sizes) != len(axes):
            node.unsupported(f"with {len(sizes)} sizes for {len(axes)} axes")
        if len(old) < len(axes) or min((*sizes, *old), default=1) < 1:
            return None
        scales = [size / extent for size, extent in zip(sizes, old, strict=True)]
        policy = _policy(node)
        if policy != "stretch":
            scales = [min(scales) if policy == "not_larger" else max(scales)] * len(axes)
            sizes = tuple(math.floor(extent * scales[0] + 0.5) for extent in old)
        return _Target(axes, sizes, tuple(scales))
    scales = node.numbers(2, "scales").ravel().tolist()
    if len(scales) != len(axes):
        node.unsupported(f"with {len(scales)} scales for {len(axes)} axes")
    if any(not math.isfinite(scale) or scale <= 0 for scale in scales):
        node.unsupported(f"by {scales}")
    moved = [(axis, scale) for axis, scale in zip(axes, scales, strict=True) if scale != 1]
    counts: list[int] = []
    for axis, scale in moved:
        extent = shape[axis]
        if not isinstance(extent, int) or not extent:
            return None
        counts.append(scaled_extent(extent, scale))
    return _Target(tuple(axis for axis, _ in moved), tuple(counts), tuple(scale for _, scale in moved))


def _image_size(shape: tuple[IntExpr, ...], target: _Target, how: Sampling) -> tuple[IntExpr, IntExpr] | None:
    """(height, width) of an image [batch, channels, height, width] that Relay's own operator resizes: it goes by the
    ratio of the extents."""
    sizes = list(shape)
    for axis, count, scale in zip(target.axes, target.counts, target.scales, strict=True):
        extent = shape[axis]
        if not isinstance(extent, int) or abs(extent * scale - count) > 1e-4:
            return None
        sizes[axis] = count
    fits = len(shape) == 4 and tuple(sizes[:2]) == shape[:2] and all(isinstance(e, int) and e > 0 for e in sizes[2:])
    return (sizes[2], sizes[3]) if fits and not how.antialias and how.coordinates in _OF_IMAGES else None


def _known(node: OnnxNode, how: Sampling, target: _Target) -> Expr:
    value = node.value(0)
    result = value.expr
    for axis, count, scale in zip(target.axes, target.counts, target.scales, strict=True):
        extent = value.shape[axis]
        if extent == count and scale == 1 and how.coordinates != "tf_crop_and_resize":
            continue
        assert isinstance(extent, int)
        along = AxisSampling(number(extent), number(scale), count, _region(node, axis, how))
        result = resampled(result, axis, value.rank, value.dtype, how, along)
    return result


def _region(node: OnnxNode, axis: int, how: Sampling) -> tuple[Expr, Expr] | None:
    """Where along an axis the region lies that is cropped: `roi` has the starts, then the ends."""
    if how.coordinates != "tf_crop_and_resize":
        return None
    value = node.value(1)
    order = _axes(node)
    if value.shape != (2 * len(order),):
        node.unsupported(f"with a region of type {value.type} for {len(order)} axes")
    at = order.index(axis)
    region = as_dtype(value.expr, DOUBLE)
    return take(region, const(at, LONG), axis=0), take(region, const(at + len(order), LONG), axis=0)


# What the run knows


def _computed(node: OnnxNode, how: Sampling, axes: tuple[int, ...]) -> Expr:
    value = node.value(0)
    old = take(shape_of_value(value), numbers(*axes), axis=0)
    if node.optional_value(3) is not None:
        counts, given = entries(node, 3, "sizes")
        scales = divide(cast(counts, DOUBLE), cast(old, DOUBLE))
        policy = _policy(node)
        if policy != "stretch":
            scale = (reduce.min if policy == "not_larger" else reduce.max)(scales, (0,), keepdims=True)
            scales = multiply(scale, number(1) if given == 1 else const([1.0] * given, DOUBLE))
            counts = cast(floor(add(multiply(cast(old, DOUBLE), scales), number(0.5))), LONG)
    else:
        scales_value = node.value(2)
        given = scales_value.shape[0] if scales_value.rank == 1 else None
        scales = as_dtype(scales_value.expr, DOUBLE)
        product = multiply(as_dtype(scales_value.expr, DType.FLOAT32), cast(old, DType.FLOAT32))
        counts = cast(floor(product), LONG)
    if given != len(axes):
        node.unsupported(f"with {given} sizes or scales for {len(axes)} axes")
    result = value.expr
    for position, axis in enumerate(axes):
        extent, scale, count = (take(each, const(position, LONG), axis=0) for each in (old, scales, counts))
        along = AxisSampling(cast(extent, DOUBLE), scale, count, _region(node, axis, how))
        result = resampled(result, axis, value.rank, value.dtype, how, along)
    return result


RESIZING: tuple[Converter, ...] = (
    converter(
        "Resize", _resize, "antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside",
        "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode", changes=(18, 19),
    ),
)  # fmt: skip

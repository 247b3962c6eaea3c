"""Poolings.   x[batch, channels, ..] → [batch, channels, ..]"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from relay.frontend.onnx.converters.spatial.windows import Window, positive, read_window
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import LONG, entries
from relay.frontend.shared.places.folding import put_together
from relay.frontend.shared.places.window_places import Windows, image_starts, places_of_maxima, put_back
from relay.frontend.shared.value import Value
from relay.ir.expr import Call, Expr, const
from relay.ops import dyn
from relay.ops.creation.create import shape_of
from relay.ops.elementwise.elementwise_binary import add, multiply, power, subtract
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.framework.dimensions import product
from relay.ops.indexing.check_indices import check_indices
from relay.ops.manipulation.combine import stack
from relay.ops.nn import pool
from relay.ops.nn.pool_adaptive import global_avg_pool2d, global_max_pool2d
from relay.ops.reduction import reduce

_MAXIMA = {1: pool.max_pool1d, 2: pool.max_pool2d, 3: pool.max_pool3d}
_MEANS = {1: pool.avg_pool1d, 2: pool.avg_pool2d, 3: pool.avg_pool3d}
"""By the number of spatial axes."""


def _window(node: OnnxNode) -> tuple[tuple[int, ...], Window]:
    """The extents of the kernel, and the rest."""
    kernel = node.ints("kernel_shape")
    return kernel, read_window(node, kernel)


def _max_pool(node: OnnxNode) -> Result:
    """The second output says where in x, counted over all its elements, each largest element is."""
    (kernel, window), value = _window(node), node.value(0)
    result = _MAXIMA[len(kernel)](
        node.expr(), pool_size=kernel, strides=window.strides, dilation=window.dilations,
        padding=window.padding, ceil_mode=bool(node.int("ceil_mode", 0)),
    )  # fmt: skip
    if node.output_count < 2:
        return (result, None)
    windows = Windows(kernel, window.strides, window.dilations, window.padding[: len(kernel)])
    pooled = Value("", result, node.type_of(result))
    places = places_of_maxima(value, pooled, windows, column_major=bool(node.int("storage_order")))
    return (result, add(places, image_starts(value)))


def _max_unpool(node: OnnxNode) -> Result:
    """Zeros, but for elements where a MaxPool found them. A larger `output_shape` has more zeros behind."""
    value, kernel = node.value(0), node.ints("kernel_shape")
    spatial = value.rank - 2
    strides, pads = positive(node, "strides", (1,) * spatial), node.ints("pads", (0,) * (2 * spatial))
    if len(kernel) != spatial or len(pads) != 2 * spatial:
        node.unsupported(f"with kernel_shape {kernel} and pads {pads} of {value.type}")
    shape = list(value.shape[:2])
    for axis, extent in enumerate(value.shape[2:]):
        shape.append((extent - 1) * strides[axis] - (pads[axis] + pads[axis + spatial]) + kernel[axis])
    places = check_indices(as_dtype(node.expr(1), LONG), (product(shape),), f"{node.operator} {node.name}")
    found = put_back(value, places, shape)
    if node.optional_value(2) is None:
        return found
    wanted, count = entries(node, 2, "a shape")
    if count != value.rank:
        node.unsupported(f"to {count} extents of {value.type}")
    more = subtract(wanted, shape_of(found, LONG))
    return dyn.pad(found, stack([const([0] * count, LONG), more], 1))


def _col2im(node: OnnxNode) -> Result:
    """Blocks put back into an image, and sums of what overlaps; the shapes of both may be data."""
    (image, axes), (block, block_axes) = entries(node, 1, "a shape"), entries(node, 2, "a shape")
    if axes != block_axes or node.value(0).rank != 3:
        node.unsupported(f"of {node.value(0).type} to {axes} axes in blocks of {block_axes}")
    ones, none = (1,) * axes, (0,) * (2 * axes)
    strides, dilations = positive(node, "strides", ones), positive(node, "dilations", ones)
    pads = node.ints("pads", none) or none
    if len(pads) != 2 * axes:
        node.unsupported(f"with pads {pads}")
    return put_together(node.value(0), image, block, axes, strides, dilations, pads)


def _average(node: OnnxNode, x: Expr, count_include_pad: bool) -> Call:
    kernel, window = _window(node)
    return _MEANS[len(kernel)](
        x, pool_size=kernel, strides=window.strides, dilation=window.dilations, padding=window.padding,
        ceil_mode=bool(node.int("ceil_mode", 0)), count_include_pad=count_include_pad,
    )  # fmt: skip


def _average_pool(node: OnnxNode) -> Result:
    return _average(node, node.expr(), bool(node.int("count_include_pad")))


def _lp_pool(node: OnnxNode) -> Result:
    """(Σ |x|^p)^(1/p) over each window: a mean, times the size of the window."""
    if node.int("ceil_mode", 0):
        node.unsupported("with ceil_mode")
    dtype, p = node.value(0).dtype, node.int("p")
    size = prod(node.ints("kernel_shape"))
    total = multiply(_average(node, _power(node.expr(), p, dtype), True), const(size, dtype))
    return _root(total, p, dtype)


def _global(over_2d: Callable[[Any], Call], over_any: Callable[..., Call]) -> Callable[[OnnxNode], Result]:
    """All spatial axes to extent 1."""

    def convert(node: OnnxNode) -> Result:
        rank = node.value(0).rank
        if rank < 3:
            node.unsupported(f"of a tensor with {rank} axes")
        return over_2d(node.expr()) if rank == 4 else over_any(node.expr(), tuple(range(2, rank)), keepdims=True)

    return convert


def _global_lp_pool(node: OnnxNode) -> Result:
    rank, p, dtype = node.value(0).rank, node.int("p"), node.value(0).dtype
    if rank < 3:
        node.unsupported(f"of a tensor with {rank} axes")
    return _root(reduce.sum(_power(node.expr(), p, dtype), tuple(range(2, rank)), keepdims=True), p, dtype)


def _power(x: Expr, p: int, dtype: Any) -> Expr:
    if p == 1:
        return magnitude(x)
    return multiply(x, x) if p == 2 else power(magnitude(x), const(p, dtype))


def _root(x: Expr, p: int, dtype: Any) -> Expr:
    if p == 1:
        return x
    return sqrt(x) if p == 2 else power(x, const(1 / p, dtype))


_WINDOW = ("auto_pad", "dilations", "kernel_shape", "pads", "strides", "ceil_mode")

POOLINGS: tuple[Converter, ...] = (
    converter("MaxPool", _max_pool, *_WINDOW, "storage_order"),
    converter("MaxUnpool", _max_unpool, "kernel_shape", "pads", "strides"),
    converter("Col2Im", _col2im, "dilations", "pads", "strides"),
    converter("AveragePool", _average_pool, *_WINDOW, "count_include_pad"),
    converter("LpPool", _lp_pool, *_WINDOW, "p"),
    converter("GlobalMaxPool", _global(global_max_pool2d, reduce.max)),
    converter("GlobalAveragePool", _global(global_avg_pool2d, reduce.mean)),
    converter("GlobalLpPool", _global_lp_pool, "p"),
)

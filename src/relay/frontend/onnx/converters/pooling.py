"""Poolings.   x[batch, channels, ..] → [batch, channels, ..]"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relay.frontend.onnx.converters.windows import Window, read_window
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.ir.expr import Call, Expr, const
from relay.ops.elementwise.elementwise_binary import multiply, power
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.nn import pool
from relay.ops.nn.pool_adaptive import global_avg_pool2d, global_max_pool2d
from relay.ops.reduction import reduce

_MAXIMA = {1: pool.max_pool1d, 2: pool.max_pool2d, 3: pool.max_pool3d}
_MEANS = {1: pool.avg_pool1d, 2: pool.avg_pool2d, 3: pool.avg_pool3d}
"""By the number of spatial axes."""


def _window(node: OnnxNode) -> Window:
    return read_window(node, node.ints("kernel_shape"))


def _max_pool(node: OnnxNode) -> Result:
    """The indices, the second output, are not computed."""
    window = _window(node)
    result = _MAXIMA[len(window.kernel)](
        node.expr(), pool_size=window.kernel, strides=window.strides, dilation=window.dilations,
        padding=window.padding, ceil_mode=bool(node.int("ceil_mode", 0)),
    )  # fmt: skip
    return (result, None)


def _average(node: OnnxNode, x: Expr, window: Window, count_include_pad: bool) -> Call:
    return _MEANS[len(window.kernel)](
        x, pool_size=window.kernel, strides=window.strides, dilation=window.dilations, padding=window.padding,
        ceil_mode=bool(node.int("ceil_mode", 0)), count_include_pad=count_include_pad,
    )  # fmt: skip


def _average_pool(node: OnnxNode) -> Result:
    return _average(node, node.expr(), _window(node), bool(node.int("count_include_pad")))


def _lp_pool(node: OnnxNode) -> Result:
    """(Σ |x|^p)^(1/p) over each window: a mean, times the size of the window."""
    if node.int("ceil_mode", 0):
        node.unsupported("with ceil_mode")
    window, dtype, p = _window(node), node.value(0).dtype, node.int("p")
    size = 1
    for extent in window.kernel:
        size *= extent
    total = multiply(_average(node, _power(node.expr(), p, dtype), window, True), const(size, dtype))
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
    converter("MaxPool", _max_pool, *_WINDOW),
    converter("AveragePool", _average_pool, *_WINDOW, "count_include_pad"),
    converter("LpPool", _lp_pool, *_WINDOW, "p"),
    converter("GlobalMaxPool", _global(global_max_pool2d, reduce.max)),
    converter("GlobalAveragePool", _global(global_avg_pool2d, reduce.mean)),
    converter("GlobalLpPool", _global_lp_pool, "p"),
)

"""Reductions, scans and orders.   x[..] → [.. without, or with extent 1 at, the axes]"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relay.base.dtypes import DType
from relay.frontend.shared.node import Result
from relay.frontend.torch.node import Converter, TorchNode, converters, in_type
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import not_equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import multiply, power
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.framework.dimensions import product
from relay.ops.indexing.index import take
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax, argmin
from relay.ops.reduction.scan import cumprod, cumsum
from relay.ops.reduction.variance import variance
from relay.ops.sorting.sort import argsort, sort, topk

Reduce = Callable[..., Expr]


def _reduction(function: Reduce) -> Callable[[TorchNode], Result]:
    """Over the axes `dim`, in the type of the result; a scalar is its own reduction."""

    def convert(node: TorchNode) -> Result:
        x, axes = node.operand(), node.axes()
        return function(x, axes, node.flag("keepdim")) if axes else x

    return convert


def _extreme(function: Reduce, place: Callable[..., Expr]) -> Callable[[TorchNode], Result]:
    """Along one axis: the elements, and where the first of them is."""

    def convert(node: TorchNode) -> Result:
        x, axis, keepdims = node.expr(), node.axis("dim"), node.flag("keepdim")
        return function(x, axis, keepdims), cast(place(x, axis, keepdims), DType.INT64)

    return convert


def _place(function: Callable[..., Expr]) -> Callable[[TorchNode], Result]:
    """Along one axis, or among all elements."""

    def convert(node: TorchNode) -> Result:
        value = node.value(0)
        if not node.has("dim"):
            found = reshape(function(reshape(value.expr, (product(value.shape),), allowzero=True), 0), node.shape)
        else:
            found = function(value.expr, node.axis("dim"), node.flag("keepdim"))
        return cast(found, DType.INT64)

    return convert


def _truth(function: Reduce) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        x, axes = in_type(node.value(0), DType.BOOL), node.axes()
        return function(x, axes, node.flag("keepdim")) if axes else x

    return convert


def _variance(node: TorchNode) -> Expr:
    """Σ (x - mean)² / (count - correction)"""
    x, axes, keepdims = node.operand(), node.axes(), node.flag("keepdim")
    correction = node.number(1, 1)
    if correction in (0, 1):
        return variance(x, axes, keepdims, unbiased=correction == 1)
    count = product(node.value(0).shape[axis] for axis in axes)
    if not isinstance(count, int):
        node.unsupported(f"with the correction {correction} over a symbolic extent")
    return multiply(variance(x, axes, keepdims), const(count / (count - correction), node.dtype))


def _mean(node: TorchNode) -> Expr:
    return reduce.mean(node.operand(), node.axes(), node.flag("keepdim"))


def _vector_norm(node: TorchNode) -> Result:
    """(Σ |x|^p)^(1/p) over some axes."""
    x, axes, keepdims, p = node.operand(), node.axes(), node.flag("keepdim"), node.number(1, 2)
    if p == 2:
        return sqrt(reduce.sum(multiply(x, x), axes, keepdims))
    if p == 1:
        return reduce.sum(magnitude(x), axes, keepdims)
    if p in (float("inf"), float("-inf")):
        return (reduce.max if p > 0 else reduce.min)(magnitude(x), axes, keepdims)
    if p == 0:
        return reduce.sum(cast(not_equal(x, const(0, node.dtype)), node.dtype), axes, keepdims)
    total = reduce.sum(power(magnitude(x), const(p, node.dtype)), axes, keepdims)
    return power(total, const(1 / p, node.dtype))


def _scan(function: Callable[..., Expr]) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        return function(node.operand(), node.axis("dim")) if node.value(0).rank else node.operand()

    return convert


def _topk(node: TorchNode) -> Result:
    """In order, whether that is asked for or not: PyTorch leaves the order of the others open."""
    found: Any = topk(
        node.expr(), node.extent("k"), node.axis("dim", default=-1), is_ascend=not node.flag("largest", True),
        dtype=DType.INT64,
    )  # fmt: skip
    return found


def _sort(node: TorchNode) -> Result:
    axis, ascending = node.axis("dim", default=-1), not node.flag("descending")
    return sort(node.expr(), axis, ascending), argsort(node.expr(), axis, ascending, DType.INT64)


def _median(node: TorchNode) -> Result:
    """Along an axis, the lower of the two in the middle, and where it is."""
    value, axis = node.value(0), node.axis("dim", default=-1)
    extent = value.shape[axis]
    if not isinstance(extent, int):
        node.unsupported("along a symbolic extent")
    middle = const((extent - 1) // 2, DType.INT64)
    found = [
        take(sort(value.expr, axis), middle, axis=axis),
        take(argsort(value.expr, axis, dtype=DType.INT64), middle, axis=axis),
    ]
    first, second = (expand_dims(each, axis) for each in found) if node.flag("keepdim") else found
    return first, second


def _argsort(node: TorchNode) -> Result:
    return argsort(node.expr(), node.axis("dim", default=-1), not node.flag("descending"), DType.INT64)


REDUCTIONS: tuple[Converter, ...] = (
    *converters("sum", _reduction(reduce.sum), "dim", "keepdim", "dtype", overloads=("default", "dim_IntList")),
    *converters("mean", _reduction(reduce.mean), "dim", "keepdim", "dtype", overloads=("default", "dim")),
    *converters("prod", _reduction(reduce.prod), "dim", "keepdim", "dtype", overloads=("default", "dim_int")),
    *converters("amax", _reduction(reduce.max), "dim", "keepdim"),
    *converters("amin", _reduction(reduce.min), "dim", "keepdim"),
    *converters("max", _reduction(reduce.max)),
    *converters("min", _reduction(reduce.min)),
    *converters("max", _extreme(reduce.max, argmax), "dim", "keepdim", overloads=("dim",)),
    *converters("min", _extreme(reduce.min, argmin), "dim", "keepdim", overloads=("dim",)),
    *converters("logsumexp", _reduction(reduce.logsumexp), "dim", "keepdim"),
    *converters("any", _truth(reduce.any), "dim", "keepdim", overloads=("default", "dim", "dims")),
    *converters("all", _truth(reduce.all), "dim", "keepdim", overloads=("default", "dim", "dims")),
    *converters("argmax", _place(argmax), "dim", "keepdim"),
    *converters("argmin", _place(argmin), "dim", "keepdim"),
    *converters("var", _variance, "dim", "keepdim", overloads=("correction",)),
    *converters("std", lambda node: sqrt(_variance(node)), "dim", "keepdim", overloads=("correction",)),
    *converters("var_mean", lambda node: (_variance(node), _mean(node)), "dim", "keepdim", overloads=("correction",)),
    *converters("linalg_vector_norm", _vector_norm, "dim", "keepdim", "dtype"),
    *converters("cumsum", _scan(cumsum), "dim", "dtype"),
    *converters("cumprod", _scan(cumprod), "dim", "dtype"),
    *converters("topk", _topk, "k", "dim", "largest", "sorted"),
    *converters("sort", _sort, "dim", "descending", "stable", overloads=("default", "stable")),
    *converters("median", _median, "dim", "keepdim", overloads=("dim",)),
    *converters("argsort", _argsort, "dim", "descending", "stable", overloads=("default", "stable")),
)

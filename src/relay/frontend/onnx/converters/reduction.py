"""Reductions.   x[..] → [.. without, or with extent 1 at, the axes]"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.shaping.computed import is_plain
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import entries, reduced
from relay.ir.expr import Call, Expr
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.elementwise.elementwise_unary import abs as magnitude
from relay.ops.elementwise.elementwise_unary import exp, log, sqrt
from relay.ops.manipulation.shape import squeeze
from relay.ops.reduction import reduce
from relay.ops.reduction.reduce_index import argmax, argmin

Axes = tuple[int, ...]
Reduce = Callable[[Expr, Axes, bool], Expr]


def _axes(node: OnnxNode) -> Axes | None:
    """The axes to reduce: an attribute, or an input since opset 18 (13 for ReduceSum). None: the input as it is."""
    rank = node.value(0).rank
    given_value = node.optional_value(1)
    if given_value is not None:
        given = () if given_value.shape == (0,) else node.integers(1, "axes")
    else:
        given = node.ints("axes", ())
    if given:
        return tuple(sorted({node.wrapped_axis(axis, rank) for axis in given}))
    return None if node.int("noop_with_empty_axes", 0) else tuple(range(rank))


def _reduction(function: Reduce, each: Callable[[Expr], Expr] | None = None) -> Callable[[OnnxNode], Result]:
    """`each` is what a reduction of no axes still does to the elements (`noop_with_empty_axes`)."""

    def convert(node: OnnxNode) -> Result:
        keepdims = bool(node.int("keepdims"))
        if not is_plain(node, 1):
            given, count = entries(node, 1, "axes")
            if count:
                return reduced(node.value(0), given, count, keepdims, f"{node.operator} {node.name}", _among(function))
        axes = _axes(node)
        if axes is None:
            return node.value(0) if each is None else each(node.expr())
        if not axes:  # a scalar: one element to sum over
            return node.value(0) if each is None else each(node.expr())
        return function(node.expr(), axes, keepdims)

    return convert


def _among(function: Reduce) -> Callable[[Expr, Axes], Expr]:
    return lambda x, axes: function(x, axes, False)


def _plain(function: Callable[..., Call], of_bools: Callable[..., Call] | None = None) -> Reduce:
    def apply(x: Expr, axes: Axes, keepdims: bool) -> Expr:
        is_bool = getattr(x.checked_type, "dtype", None) is DType.BOOL
        return (of_bools if is_bool and of_bools is not None else function)(x, axes, keepdims)

    return apply


def _log_sum_exp(x: Expr, axes: Axes, keepdims: bool) -> Expr:
    """log Σ e^x = m + log Σ e^(x - m) with m the largest, so that nothing overflows."""
    largest = reduce.max(x, axes, keepdims=True)
    total = add(log(reduce.sum(exp(subtract(x, largest)), axes, keepdims=True)), largest)
    return total if keepdims else squeeze(total, axes)


def _square(x: Expr) -> Expr:
    return multiply(x, x)


def _arg(function: Callable[..., Call]) -> Callable[[OnnxNode], Result]:
    def convert(node: OnnxNode) -> Result:
        found = function(
            node.expr(), node.axis(), bool(node.int("keepdims")), select_last_index=bool(node.int("select_last_index"))
        )
        return cast(found, DType.INT64)

    return convert


def _composed(inner: Callable[[Expr], Expr], outer: Callable[[Any], Expr] | None = None) -> Reduce:
    """A sum of a function of the elements, and a function of the sum."""

    def apply(x: Expr, axes: Axes, keepdims: bool) -> Expr:
        total = reduce.sum(inner(x), axes, keepdims)
        return total if outer is None else outer(total)

    return apply


_REDUCTIONS: dict[str, tuple[Reduce, Callable[[Expr], Expr] | None]] = {
    "ReduceSum": (_plain(reduce.sum), None),
    "ReduceMean": (_plain(reduce.mean), None),
    "ReduceProd": (_plain(reduce.prod), None),
    "ReduceMax": (_plain(reduce.max, reduce.any), None),
    "ReduceMin": (_plain(reduce.min, reduce.all), None),
    "ReduceL1": (_composed(magnitude), magnitude),
    "ReduceL2": (_composed(_square, sqrt), magnitude),
    "ReduceSumSquare": (_composed(_square), _square),
    "ReduceLogSum": (lambda x, axes, keepdims: log(reduce.sum(x, axes, keepdims)), log),
    "ReduceLogSumExp": (_log_sum_exp, lambda x: x),
}

REDUCTIONS: tuple[Converter, ...] = (
    *(
        converter(name, _reduction(*functions), "axes", "keepdims", "noop_with_empty_axes", changes=(18,))
        for name, functions in _REDUCTIONS.items()
    ),
    converter("ArgMax", _arg(argmax), "axis", "keepdims", "select_last_index"),
    converter("ArgMin", _arg(argmin), "axis", "keepdims", "select_last_index"),
)

"""Elements in order, running totals, what is distinct: TopK, CumSum, CumProd, NonZero, Unique."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from relay.base.dtypes import DType
from relay.frontend.onnx.converters.shaping.computed import is_plain
from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.distinct import distinct
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.places.computed_axes import along, scalar
from relay.ir.expr import Expr
from relay.ops.elementwise.convert import cast
from relay.ops.indexing.argwhere import argwhere
from relay.ops.manipulation.transpose import reverse, transpose
from relay.ops.reduction import scan
from relay.ops.sorting.sort import topk


def _topk(node: OnnxNode) -> Result:
    count = int(node.scalar(1, "k")) if is_plain(node, 1) else scalar(node, 1, "k")
    if isinstance(count, int) and count < 1:
        node.unsupported(f"with k {count}")
    return topk(node.expr(), count, node.axis(), "both", not node.int("largest", 1), DType.INT64)


def _running(function: Callable[..., Expr], node: OnnxNode) -> Result:
    """Along an axis, from its end where `reverse` says so."""
    value, exclusive = node.value(0), bool(node.int("exclusive"))

    def total(x: Expr, axis: int) -> Expr:
        if not node.int("reverse"):
            return function(x, axis, exclusive=exclusive)
        return reverse(function(reverse(x, axis), axis, exclusive=exclusive), axis)

    if not is_plain(node, 1):
        return along(
            value, scalar(node, 1, "an axis"), f"{node.operator} {node.name}", lambda x: total(x, value.rank - 1)
        )
    return total(value.expr, node.wrapped_axis(int(node.scalar(1, "an axis")), value.rank))


def _non_zero(node: OnnxNode) -> Result:
    if node.value(0).rank == 0:
        node.unsupported("of a scalar")
    return cast(transpose(argwhere(node.expr())), DType.INT64)


def _unique(node: OnnxNode) -> Result:
    axis = node.axis() if node.has("axis") else None
    return distinct(node, node.value(0), axis, in_order=bool(node.int("sorted", 1)), dtype=DType.INT64)


ORDERING: tuple[Converter, ...] = (
    converter("TopK", _topk, "axis", "largest", "sorted", changes=(24,)),
    converter("CumSum", partial(_running, scan.cumsum), "exclusive", "reverse"),
    converter("CumProd", partial(_running, scan.cumprod), "exclusive", "reverse"),
    converter("NonZero", _non_zero),
    converter("Unique", _unique, "axis", "sorted"),
)

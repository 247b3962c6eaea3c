"""Sums of rows that belong together: segment_sum, a formula of other operators."""

from __future__ import annotations

from relay.arith.expr import IntExpr
from relay.base.diagnostics import RelayError
from relay.base.span import caller_span
from relay.ir.expr import Call, Expr
from relay.ir.types import TensorType
from relay.ops.creation.create import shape_of, zeros
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.framework.build import Argument, as_expr
from relay.ops.indexing.scatter import scatter_nd
from relay.ops.manipulation.combine import concatenate
from relay.ops.manipulation.shape import expand_dims, reshape
from relay.ops.manipulation.slice import strided_slice
from relay.ops.reduction.reduce import max as greatest


def segment_sum(data: Argument, segment_ids: Argument, num_segments: IntExpr | None = None) -> Call:
    """data[n, rest] × segment_ids[n] → [num_segments, rest]: the sum of the rows of each segment, in their order.
    Without `num_segments`, as many as the largest number tells. Negative numbers count from the end, and what has one
    outside is left out. The type of `data` must be known here.

    Raises `RelayError`: `unknown-type`, and what `scatter_nd` raises.

    >>> from relay.ops.framework.build import var
    >>> print(segment_sum(var("x", shape=("n", 4)), var("ids", shape=("n",), dtype="int32"), 10).checked_type)
    Tensor[(10, 4), float32]
    """
    rows, numbers = as_expr(data), as_expr(segment_ids)
    type_ = rows.checked_type
    if not isinstance(type_, TensorType) or not type_.shape:
        raise RelayError(
            rule="unknown-type", message="`data` must be a tensor whose type is known, with an axis at least",
            found=str(type_), remedy="annotate the variables that it is made of", span=caller_span(),
        )  # fmt: skip
    shape = _as_many(rows, numbers, type_) if num_segments is None else (num_segments, *type_.shape[1:])
    return scatter_nd(zeros(shape, type_.dtype), expand_dims(numbers, 0), rows, "add")


def _as_many(rows: Expr, numbers: Expr, type_: TensorType) -> Expr:
    """The shape of as many segments as there are numbers."""
    count = add(greatest(cast(numbers, "int64")), 1)
    rest = strided_slice(shape_of(rows, "int64"), (1,), (len(type_.shape),))
    return concatenate((reshape(count, (1,)), rest), axis=0)

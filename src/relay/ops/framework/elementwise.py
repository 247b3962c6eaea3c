"""How elementwise operators are typed and computed, whatever their function is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from relay import te
from relay.arith.expr import IntExpr, minimum
from relay.base.dtypes import DType
from relay.ir.types import Dimension, TensorType, Type
from relay.ops.framework.record import Compute, Meaning
from relay.ops.framework.relating import RelationRun, TypeRule
from relay.ops.framework.rounding import Array, same_dtype
from relay.tir.expr import Value

Accepts: TypeAlias = tuple[Callable[[DType], bool], str]
"""Which element types an operator takes, and how a message says so."""

ANY_DTYPE: Accepts = (lambda _: True, "any element type")
FLOATS: Accepts = (lambda dtype: dtype.is_float, "a floating-point type")
INTEGERS: Accepts = (lambda dtype: dtype.is_integer, "an integer type")
BOOLS: Accepts = (lambda dtype: dtype.is_bool, "bool")
NUMBERS: Accepts = (lambda dtype: not dtype.is_bool, "a number type")
INTEGERS_OR_BOOLS: Accepts = (lambda dtype: not dtype.is_float, "an integer type or bool")


def unary_rule(accepts: Accepts, result: DType | None = None) -> TypeRule:
    """data[..] → [..] of the same element type, or of `result`."""

    def rule(run: RelationRun, attributes: Any) -> Type:  # noqa: ARG001
        data = run.tensor(0)
        run.dtype_in(0, *accepts)
        return data if result is None else TensorType(data.shape, result)

    return rule


def unary_meaning(function: Callable[[Array], Array]) -> Meaning:
    return lambda _, data: same_dtype(function, data)


def unary_compute(function: Callable[[Value], Value], name: str) -> Compute:
    return lambda _, inputs, result: map_elements(function, inputs[0], result, name)


def map_elements(function: Callable[[Value], Value], data: te.Tensor, result: TensorType, name: str) -> te.Tensor:
    """`function` of every element."""
    return te.compute(result.shape, lambda *i: function(data[i]), name=name)


def extent_value(extent: IntExpr, dtype: DType) -> Value:
    """An extent as a machine number: a constant where it is known."""
    return te.const(extent, dtype) if isinstance(extent, int) else te.index_value(extent, dtype)


def counted(counts: Sequence[IntExpr], dtype: DType) -> Value:
    """The product of counts as a machine number; constants are multiplied now."""
    constant = math.prod(count for count in counts if isinstance(count, int))
    numbers = [te.index_value(count, dtype) for count in counts if not isinstance(count, int)]
    if constant != 1 or not numbers:
        numbers.append(te.const(constant, dtype))
    return reduce(lambda left, right: left * right, numbers)


def broadcast_rule(accepts: Accepts, result: DType | None = None) -> TypeRule:
    """lhs[..] × rhs[..] → their broadcast shape, of their common element type or of `result`."""

    def rule(run: RelationRun, attributes: Any) -> Type:  # noqa: ARG001
        lhs, rhs = run.tensor(0), run.tensor(1)
        if lhs.dtype is not rhs.dtype:
            run.conflict(
                "dtypes-differ", "both sides must have one element type", lhs.dtype, rhs.dtype, (0, 1),
                f'cast one of them: relay.cast(.., "{lhs.dtype}")',
            )  # fmt: skip
        run.dtype_in(0, *accepts)
        return TensorType(run.broadcast(lhs.shape, rhs.shape), result or lhs.dtype)

    return rule


def broadcast_indices(
    data: te.Tensor, indices: tuple[IntExpr, ...], shape: tuple[Dimension, ...]
) -> tuple[IntExpr, ...]:
    """The element of `data` that stands at `indices` of the shape it is broadcast to."""
    lacking = len(indices) - len(data.shape)
    return tuple(map(broadcast_index, indices[lacking:], data.shape, shape[lacking:]))


def broadcast_index(index: IntExpr, extent: Dimension, wanted: Dimension) -> IntExpr:
    """Where an axis of `extent` is read for `index` of `wanted` elements: at 0 where the extent is 1. What only the run
    knows is 1 or `wanted`, if that is known (`RelationRun.repeats`)."""
    if extent == 1:
        return 0
    known = isinstance(wanted, int) and not isinstance(extent, int)
    return minimum(index, extent - 1) if known else index


def broadcast_compute(function: Callable[[Value, Value], Value], name: str) -> Compute:
    def compute(_: Any, inputs: tuple[te.Tensor, ...], result: TensorType) -> te.Tensor:
        lhs, rhs = inputs
        return te.compute(
            result.shape,
            lambda *i: function(
                lhs[broadcast_indices(lhs, i, result.shape)], rhs[broadcast_indices(rhs, i, result.shape)]
            ),
            name=name,
        )

    return compute

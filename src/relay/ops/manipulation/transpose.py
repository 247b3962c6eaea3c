"""The same elements with axes in another order, or the other way round: transpose, reverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relay import te
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Expr
from relay.ir.operator import Effect
from relay.ir.types import TensorType, Type
from relay.ops import dyn
from relay.ops.framework.batch_rule import ALONG_AXIS, PermutesAxes
from relay.ops.framework.build import Argument, call, items
from relay.ops.framework.layout_rule import AxisAttribute, OwnLayout
from relay.ops.framework.record import FusionKind, OperatorRecord, StaticOf, define
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array
from relay.ops.framework.scale_role import MOVES_ELEMENTS
from relay.ops.framework.symbolic_integer import expr_of


@frozen
class TransposeAttributes(Attributes):
    """`axes`: for each axis of the result, the axis of the data that it is; None reverses them all."""

    axes: tuple[int, ...] | None = None


@frozen
class ReverseAttributes(Attributes):
    axis: int


def permutation(attributes: TransposeAttributes, rank: int) -> tuple[int, ...]:
    if attributes.axes is None:
        return tuple(reversed(range(rank)))
    return tuple(axis % rank for axis in attributes.axes)


def _transpose_rule(run: RelationRun, attributes: TransposeAttributes) -> Type:
    """data[..] → [.. in the order of axes]"""
    data = run.tensor(0)
    rank = len(data.shape)
    if attributes.axes is not None:
        named = [run.axis(axis, rank, "axes") for axis in attributes.axes]
        if sorted(named) != list(range(rank)):
            run.conflict("not-a-permutation", "`axes` must name every axis of `data` once",
                         f"an order of {tuple(range(rank))}", str(attributes.axes), (0,))  # fmt: skip
    return TensorType(tuple(data.shape[axis] for axis in permutation(attributes, rank)), data.dtype)


def _transpose_compute(attributes: TransposeAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    axes = permutation(attributes, len(data.shape))
    back = [axes.index(axis) for axis in range(len(axes))]
    return te.compute(result.shape, lambda *i: data[tuple(i[axis] for axis in back)], name="transpose")


def _reverse_rule(run: RelationRun, attributes: ReverseAttributes) -> Type:
    data = run.tensor(0)
    run.axis(attributes.axis, len(data.shape))
    return data


def _reverse_compute(attributes: ReverseAttributes, inputs: tuple[te.Tensor], result: TensorType) -> te.Tensor:
    (data,) = inputs
    axis = attributes.axis % len(data.shape)

    def element(*i: Any) -> Any:
        return data[(*i[:axis], data.shape[axis] - 1 - i[axis], *i[axis + 1 :])]

    return te.compute(result.shape, element, name="reverse")


def _transpose_meaning(attributes: TransposeAttributes, data: Array) -> Array:
    return data.transpose(permutation(attributes, data.ndim))


def _static_transpose(_: Attributes, axes: Array) -> TransposeAttributes | None:
    order = [expr_of(axis) for axis in axes]
    named = tuple(axis for axis in order if isinstance(axis, int))
    return TransposeAttributes(named) if len(named) == len(order) else None


def _reverse_gradient(call: Call, given: Expr) -> tuple[Expr]:
    assert isinstance(call.attrs, ReverseAttributes)
    return (reverse(given, call.attrs.axis),)


def _inverse(call: Call) -> tuple[int, ...]:
    """The order of axes that undoes a transposition."""
    attributes, type_ = call.attrs, call.checked_type
    assert isinstance(attributes, TransposeAttributes)
    assert isinstance(type_, TensorType)
    axes = permutation(attributes, len(type_.shape))
    return tuple(axes.index(axis) for axis in range(len(axes)))


TRANSPOSE = define(
    "transpose",
    "The axes in another order.",
    inputs={"data": "[..]"},
    attributes=TransposeAttributes,
    type_rule=_transpose_rule,
    meaning=_transpose_meaning,
    compute=_transpose_compute,
    fusion=FusionKind.INJECTIVE,
    layout=OwnLayout("it puts its axes in an order of its own"),
    effect=Effect.PURE,
    gradient=lambda call, given: (transpose(given, _inverse(call)),),
    batch=PermutesAxes(),
    scale=MOVES_ELEMENTS,
    support_level=3,
    static_of=StaticOf(dyn.TRANSPOSE, _static_transpose),
)
REVERSE = define(
    "reverse",
    "The elements in opposite order along an axis.",
    inputs={"data": "[..]"},
    attributes=ReverseAttributes,
    type_rule=_reverse_rule,
    meaning=lambda attributes, data: np.flip(data, attributes.axis),
    compute=_reverse_compute,
    fusion=FusionKind.INJECTIVE,
    layout=AxisAttribute("axis"),
    effect=Effect.PURE,
    gradient=_reverse_gradient,
    batch=ALONG_AXIS,
    scale=MOVES_ELEMENTS,
    support_level=3,
)

TRANSPOSES: tuple[OperatorRecord, ...] = (TRANSPOSE, REVERSE)


def transpose(data: Argument, axes: Sequence[int] | None = None) -> Call:
    """data[..] with its axes in the order `axes`; None reverses them.

    Raises `RelayError`: `not-a-permutation`, `axis-out-of-range`.

    >>> from relay.ops.framework.build import var
    >>> print(transpose(var("x", shape=("n", 3, 8)), (0, 2, 1)).checked_type)
    Tensor[(n, 8, 3), float32]
    """
    return call(TRANSPOSE, (data,), TransposeAttributes(items(axes)))


def reverse(data: Argument, axis: int) -> Call:
    """data[..] with the elements in opposite order along `axis`. Raises `axis-out-of-range`."""
    return call(REVERSE, (data,), ReverseAttributes(axis))

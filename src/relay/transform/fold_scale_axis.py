"""Multiply a channel's scale into the weight that makes the channel: FoldScaleAxis (backward).

    before: multiply(nn.conv2d(%x, W), S)              S has one entry an output channel
    after:  nn.conv2d(%x, multiply(W, S along O))

    before: multiply(add(nn.conv2d(%x, W), B), S)      after: add(nn.conv2d(%x, W'), multiply(B, S))

W, S and B are constants, and nothing else uses the convolution. Does not pass through other operators.
Floating point: ROUNDING.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.ops.build import call
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.ops.elementwise_binary import add
from relay.ops.layouts import parse_layout
from relay.ops.record import OperatorRecord
from relay.transform.context import PassContext
from relay.transform.framework import function_pass
from relay.transform.rewriting import Uses, rewrite_typed

Array: TypeAlias = NDArray[Any]


@function_pass("FoldScaleAxis", level=2)
def fold_scale_axis(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Fold constant scales behind convolutions and dense layers into their weights."""
    return rewrite_typed(function, _folded)


def _folded(expr: Expr, uses: Uses) -> Expr:
    match expr:
        case Call(op=Op(operator=operator), args=(left, right)) if operator.name == "multiply":
            for operand, scale in ((left, right), (right, left)):
                if isinstance(scale, Constant) and uses.of(operand) == 1:
                    folded = _scaled(operand, scale.data, uses)
                    if folded is not None:
                        return folded
            return expr
        case _:
            return expr


def _scaled(expr: Expr, scale: Array, uses: Uses) -> Expr | None:
    """`expr * scale` with the scale inside, or None where that cannot be."""
    type_ = expr.checked_type
    if not isinstance(expr, Call) or not isinstance(expr.op, Op) or not isinstance(type_, TensorType):
        return None
    record = expr.op.operator
    if not isinstance(record, OperatorRecord):
        return None
    match expr.args:
        case (producer, Constant(data=bias)) if record.name == "add" and uses.of(producer) == 1:
            inner = _scaled(producer, scale, uses)
            return None if inner is None else add(inner, Constant(np.multiply(bias, scale.astype(bias.dtype))))
        case (data, Constant(data=weight)):
            axis = _output_axis(expr, len(type_.shape))
            vector = None if axis is None else _along(scale, len(type_.shape), axis, type_.shape[axis])
            if vector is None:
                return None
            per_row = vector.reshape(-1, *[1] * (weight.ndim - 1)).astype(weight.dtype)
            return call(record, (data, Constant(np.multiply(weight, per_row))), expr.attrs)
        case _:
            return None


def _output_axis(producer: Call, rank: int) -> int | None:
    """The axis of the result whose entries are made by one row (axis 0) of the weight each."""
    match producer.attrs:
        case Conv1DAttributes() | Conv2DAttributes() as attributes:
            if not attributes.kernel_layout.startswith("O") or parse_layout(attributes.kernel_layout).blocks:
                return None
            return (attributes.out_layout or attributes.data_layout).index("C")
        case _:
            return rank - 1 if isinstance(producer.op, Op) and producer.op.name == "nn.dense" else None


def _along(scale: Array, rank: int, axis: int, extent: object) -> Array | None:
    """The entries of a scale that varies along `axis` only."""
    if scale.ndim > rank:
        return None
    shape = (1,) * (rank - scale.ndim) + scale.shape
    if any(size != 1 for position, size in enumerate(shape) if position != axis):
        return None
    if shape[axis] == 1:
        return np.broadcast_to(scale.reshape(1), (extent,)) if isinstance(extent, int) else None
    return scale.reshape(-1)

"""Multiply a channel's scale into the weight that makes the channel: BackwardFoldScaleAxis.

    before: multiply(nn.conv2d(%x, W), S)              S has one entry an output channel
    after:  nn.conv2d(%x, multiply(W, S along O))

    before: multiply(nn.relu(add(nn.conv2d(%x, W), B)), S)           every entry of S is above 0
    after:  nn.relu(add(nn.conv2d(%x, W'), multiply(B, S)))

W, S and B are floating-point constants, and nothing else uses what the scale passes: biases, sums of two such values,
poolings, and, for positive scales, relu. Packed kernels stay. Floating point: ROUNDING.
"""

from __future__ import annotations

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import Uses, rewrite_with_uses
from relay.ops.activation import BiasAddAttributes
from relay.ops.build import call
from relay.ops.conv import Conv1DAttributes, Conv2DAttributes
from relay.ops.elementwise_binary import add
from relay.ops.layouts import parse_layout
from relay.ops.record import OperatorRecord
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.scale_axis import Array, along, is_float, passes_scale, shape_of, takes_scale

_LONGEST_PATH = 16  # operators between a scale and the weight


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def BackwardFoldScaleAxis(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Fold constant scales behind convolutions and dense layers into their weights."""
    return fold_backward(function)


def fold_backward(function: Function) -> Function:
    return rewrite_with_uses(function, _folded)


def _folded(expr: Expr, uses: Uses) -> Expr:
    match expr:
        case Call(op=Op(name="multiply"), args=(left, right)):
            for operand, scale in ((left, right), (right, left)):
                if isinstance(scale, Constant) and is_float(scale.data) and shape_of(operand) == shape_of(expr):
                    folded = _scaled(operand, scale.data, uses, _LONGEST_PATH)
                    if folded is not None:
                        return folded
            return expr
        case _:
            return expr


def _scaled(expr: Expr, scale: Array, uses: Uses, longest_path: int) -> Expr | None:
    """`expr * scale` with the scale inside, or None where that cannot be."""
    shape = shape_of(expr)
    if uses.of(expr) != 1 or shape is None or longest_path == 0:
        return None
    match expr:
        case Call(op=Op(operator=OperatorRecord(name="add")), args=(left, right)):
            return _scaled_sum(expr, (left, right), scale, uses, longest_path)
        case Call(
            op=Op(operator=OperatorRecord() as record), args=(data, Constant(data=bias)), attrs=BiasAddAttributes(axis)
        ):
            vector = along(scale, len(shape), axis % len(shape), shape[axis])
            inner = None if vector is None else _scaled(data, scale, uses, longest_path - 1)
            if vector is None or inner is None:
                return None
            return call(record, (inner, Constant(np.multiply(bias, vector.astype(bias.dtype)))), expr.attrs)
        case Call(op=Op(operator=OperatorRecord() as record), args=(data, Constant(data=weight))):
            axis = _output_axis(expr, len(shape))
            vector = None if axis is None else along(scale, len(shape), axis, shape[axis])
            if vector is None or not takes_scale(weight, scale):
                return None
            per_row = vector.reshape(-1, *[1] * (weight.ndim - 1)).astype(weight.dtype)
            kernel = np.multiply(np.moveaxis(weight, _rows_axis(expr), 0), per_row)
            scaled = np.ascontiguousarray(np.moveaxis(kernel, 0, _rows_axis(expr)))
            return call(record, (data, Constant(scaled)), expr.attrs)
        case Call(op=Op(operator=OperatorRecord() as record), args=(data,)) if passes_scale(expr, scale):
            inner = _scaled(data, scale, uses, longest_path - 1)
            return None if inner is None else call(record, (inner,), expr.attrs)
        case _:
            return None


def _scaled_sum(
    expr: Call, operands: tuple[Expr, Expr], scale: Array, uses: Uses, longest_path: int
) -> Expr | None:  # fmt: skip
    """Both sides of a sum scaled; constants as they are broadcast."""
    parts: list[Expr] = []
    for operand in operands:
        if isinstance(operand, Constant):
            parts.append(Constant(np.multiply(operand.data, scale.astype(operand.data.dtype))))
            continue
        part = _scaled(operand, scale, uses, longest_path - 1) if shape_of(operand) == shape_of(expr) else None
        if part is None:
            return None
        parts.append(part)
    return add(*parts)


def _output_axis(producer: Call, rank: int) -> int | None:
    """The axis of the result whose entries are made by one row of the weight each."""
    match producer.attrs:
        case Conv1DAttributes() | Conv2DAttributes() as attributes:
            if parse_layout(attributes.kernel_layout).blocks:
                return None
            return (attributes.out_layout or attributes.data_layout).index("C")
        case _:
            return rank - 1 if isinstance(producer.op, Op) and producer.op.name == "nn.dense" else None


def _rows_axis(producer: Call) -> int:
    """The axis of the weight along which its rows are: output channels, or units."""
    match producer.attrs:
        case Conv1DAttributes() | Conv2DAttributes() as attributes:
            return parse_layout(attributes.kernel_layout).position("O")
        case _:
            return 0

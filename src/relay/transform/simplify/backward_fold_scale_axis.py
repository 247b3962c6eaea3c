"""Multiply a channel's scale into the weight that makes the channel: BackwardFoldScaleAxis.

    before: multiply(nn.conv2d(%x, W), S)              S has one entry an output channel
    after:  nn.conv2d(%x, multiply(W, S along O))

    before: multiply(nn.relu(add(nn.conv2d(%x, W), B)), S)           every entry of S is above 0
    after:  nn.relu(add(nn.conv2d(%x, W'), multiply(B, S)))

W, S and B are floating-point constants, and nothing else uses what the scale passes: biases, sums of two such values,
poolings, and, for positive scales, relu. Packed kernels stay. Floating point: ROUNDING.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import Uses, rewrite_with_uses
from relay.ops.framework.build import call
from relay.ops.framework.record import OperatorRecord
from relay.ops.framework.scale_role import Adds, AddsBias, PassesScale, Scales, WeightedSum
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.scale_axis import (
    Array,
    along_axis,
    channels_of,
    is_float,
    passes_scale,
    placed,
    role_of,
    shape_of,
    takes_scale,
)

_LONGEST_PATH = 16  # operators between a scale and the weight


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def BackwardFoldScaleAxis(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Fold constant scales behind convolutions and dense layers into their weights."""
    return fold_backward(function)


def fold_backward(function: Function) -> Function:
    return rewrite_with_uses(function, _folded)


def _folded(expr: Expr, uses: Uses) -> Expr:
    match expr, role_of(expr):
        case Call(args=(left, right)), Scales():
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
    if uses.of(expr) != 1 or shape_of(expr) is None or longest_path == 0:
        return None
    match expr, role_of(expr):
        case Call(args=(left, right)), Adds():
            parts = [_scaled_term(expr, each, scale, uses, longest_path - 1) for each in (left, right)]
            return _again(expr, parts)
        case Call(args=(data, Constant(data=bias))), AddsBias(axis):
            vector = along_axis(expr, scale, getattr(expr.attrs, axis))
            inner = None if vector is None else _scaled(data, scale, uses, longest_path - 1)
            return None if vector is None else _again(expr, [inner, _product(bias, vector)])
        case Call(args=(data, Constant(data=weight))), WeightedSum():
            channels = channels_of(expr)
            vector = None if channels is None else along_axis(expr, scale, channels.result)
            if channels is None or vector is None or not takes_scale(weight, scale):
                return None
            return _again(expr, [data, _product(weight, placed(vector, weight, channels.weight_result))])
        case Call(args=(data, *others)), PassesScale() if passes_scale(expr, scale):
            return _again(expr, [_scaled(data, scale, uses, longest_path - 1), *others])
        case _:
            return None


def _scaled_term(total: Call, term: Expr, scale: Array, uses: Uses, longest_path: int) -> Expr | None:
    """One side of a sum, scaled; constants as they are broadcast."""
    if isinstance(term, Constant):
        return _product(term.data, scale)
    return _scaled(term, scale, uses, longest_path) if shape_of(term) == shape_of(total) else None


def _again(expr: Call, args: Sequence[Expr | None]) -> Call | None:
    """The operator on other arguments, if there are all."""
    given = [arg for arg in args if arg is not None]
    match expr.op:
        case Op(operator=OperatorRecord() as record) if len(given) == len(args):
            return call(record, given, expr.attrs)
        case _:
            return None


def _product(array: Array, factors: Array) -> Constant:
    return Constant(np.multiply(array, factors.astype(array.dtype)))

"""Cheaper arithmetic whose results differ in the last digits, or for infinities and zeros: FastMath.

    before: divide(%x, 3f)              after: multiply(%x, 0.333333f)
    before: divide(%x, sqrt(%y))        after: multiply(%x, rsqrt(%y))
    before: divide(%x, %s)              after: multiply(%x, divide(1f, %s))      %s is repeated along axes of %x
    before: power(%x, 2f)               after: multiply(%x, %x)                  also 1, 3, 0.5, -0.5, -1 and -2

Of floating-point numbers only. exp, tanh, erf and softmax are polynomials on vectors already, exact to a few units in
the last place, and stay. Floating point: FAST_MATH.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Constant, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.elementwise.elementwise_binary import divide, multiply
from relay.ops.elementwise.elementwise_unary import rsqrt, sqrt
from relay.ops.framework.rounding import rounded_once
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=4, floating_point=FloatingPointClass.FAST_MATH)
def FastMath(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace divisions and powers by multiplications."""
    return rewrite_nodes(function, lambda _, expr: _faster(expr))


_POWERS: dict[float, Callable[[Expr], Expr]] = {
    1.0: lambda x: x,
    2.0: lambda x: multiply(x, x),
    3.0: lambda x: multiply(multiply(x, x), x),
    0.5: sqrt,
    -0.5: rsqrt,
    -1.0: lambda x: divide(1.0, x),
    -2.0: lambda x: divide(1.0, multiply(x, x)),
}


def _faster(expr: Expr) -> Expr:
    match expr:
        case Call(op=Op(name="divide"), args=(lhs, rhs)) if _is_float(expr):
            return _product(lhs, rhs) or expr
        case Call(op=Op(name="power"), args=(base, Constant(data=exponent))) if _is_float(expr) and exponent.size == 1:
            simple = _POWERS.get(float(exponent.item()))
            return simple(base) if simple is not None and base.checked_type == expr.checked_type else expr
        case _:
            return expr


def _product(lhs: Expr, rhs: Expr) -> Expr | None:
    """A quotient as a product, or None where that would not be cheaper."""
    match rhs:
        case Constant(data=data):
            inverse = rounded_once(np.reciprocal, rhs.dtype, data)
            return multiply(lhs, Constant(inverse)) if np.isfinite(inverse.astype(np.float64)).all() else None
        case Call(op=Op(name="sqrt"), args=(radicand,)):
            root = rsqrt(radicand)
            return root if _is_one(lhs) else multiply(lhs, root)
        case _ if not _is_one(lhs) and _is_smaller(rhs, lhs):
            return multiply(lhs, divide(1.0, rhs))
        case _:
            return None


def _is_float(expr: Expr) -> bool:
    return isinstance(expr.checked_type, TensorType) and expr.checked_type.dtype.is_float


def _is_one(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.data.size == 1 and float(expr.data.item()) == 1.0


def _is_smaller(one: Expr, other: Expr) -> bool:
    """Whether a tensor is known to have fewer elements than another, so that each of its elements is used often."""
    if not isinstance(one.checked_type, TensorType) or not isinstance(other.checked_type, TensorType):
        return False
    few, many = one.checked_type.shape, other.checked_type.shape
    if len(few) > len(many):
        return False
    known = [extent for extent in few if isinstance(extent, int)]
    if len(known) < len(few):
        return False
    return math.prod(known) < math.prod(extent for extent in many if isinstance(extent, int))

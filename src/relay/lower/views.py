"""Groups that change only the shape: their result is the same memory, so nothing needs to run."""

from __future__ import annotations

from relay.ir.expr import Call, Function, Op, Var
from relay.lower.external import is_external
from relay.ops.record import OperatorRecord


def is_view(function: Function) -> bool:
    """Whether a primitive function only reshapes its first parameter; others say nothing but the shape. What another
    compiler has taken is computed by its code."""
    if is_external(function):
        return False
    expr = function.body
    while isinstance(expr, Call) and _reshapes(expr.op):
        expr = expr.args[0]
    return isinstance(expr, Var) and expr is not function.body and expr is function.params[0]


def _reshapes(op: object) -> bool:
    return isinstance(op, Op) and isinstance(op.operator, OperatorRecord) and op.operator.is_view

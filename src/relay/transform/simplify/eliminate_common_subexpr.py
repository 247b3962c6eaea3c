"""Compute once what is written twice: EliminateCommonSubexpr.

    before: add(exp(%x), exp(%x))            (two nodes)
    after:  %0 = exp(%x); add(%0, %0)        (one node)

Only calls of pure operators, tuples, projections and equal small constants are merged: never what may fail or has
state.
"""

from __future__ import annotations

from collections.abc import Hashable

from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem
from relay.ir.module import IRModule
from relay.ir.operator import Effect
from relay.ir.rewriting import Uses, rewrite_with_uses
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass

_LARGEST_COMPARED_CONSTANT_BYTES = 4096


@function_pass(level=3)
def EliminateCommonSubexpr(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Merge equal pure calls of one function."""
    first: dict[Hashable, Expr] = {}

    def merge(expr: Expr, _: Uses) -> Expr:
        key = _key(expr)
        return expr if key is None else first.setdefault(key, expr)

    return rewrite_with_uses(function, merge)


def _key(expr: Expr) -> Hashable | None:
    """Equal for expressions that have one value; parts are compared by identity, since they are merged already."""
    match expr:
        case Call(op=Op(operator=operator), args=args, attrs=attrs):
            if operator.effect is not Effect.PURE:
                return None
            # Two results of unknown extents have symbols of their own, of which others' types speak.
            return (operator, attrs, expr.checked_type, *args)
        case Tuple(fields=fields):
            return ("tuple", *fields)
        case TupleGetItem(tuple_value=value, index=index):
            return ("field", value, index)
        case Constant(data=data):
            if data.nbytes > _LARGEST_COMPARED_CONSTANT_BYTES:
                return None
            return ("constant", expr.dtype, data.shape, data.tobytes())
        case _:
            return None

"""Write special forms by general operators: CanonicalizeOps.

before: nn.bias_add(%x, %b, axis=1)                    (%x of rank 4)
after:  add(%x, expand_dims(%b, axis=1, num_newaxis=2))
"""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Function, Op
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.ops.elementwise_binary import add
from relay.ops.shape import expand_dims
from relay.transform.context import PassContext
from relay.transform.framework import function_pass
from relay.transform.rewriting import rewrite_typed


@function_pass("CanonicalizeOps", level=3)
def canonicalize_ops(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace bias_add by a broadcast addition, which fuses and folds like any other."""
    return rewrite_typed(function, lambda expr, _: _canonical(expr))


def _canonical(expr: Expr) -> Expr:
    match expr:
        case Call(op=Op(operator=operator), args=(data, bias), attrs=attrs) if operator.name == "nn.bias_add":
            type_ = data.checked_type
            if not isinstance(type_, TensorType):
                return expr
            rank = len(type_.shape)
            trailing = rank - 1 - getattr(attrs, "axis", 1) % rank
            return add(data, expand_dims(bias, axis=1, num_newaxis=trailing) if trailing else bias)
        case _:
            return expr

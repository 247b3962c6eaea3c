"""Write operators that only training needs as arithmetic: SimplifyInference.

    before: %0 = nn.batch_norm(%x, %gamma, %beta, %mean, %var); %0.0
    after:  %s = multiply(rsqrt(add(%var, epsilon)), %gamma)
            add(multiply(%x, expand_dims(%s)), expand_dims(subtract(%beta, multiply(%mean, %s))))

    before: %0 = nn.dropout(%x); %0.0        after: %x

Field 1 and 2 of batch_norm (the running mean and variance) are its inputs, unchanged. Floating point: ROUNDING.
"""

from __future__ import annotations

from relay.analysis.effects import ModuleEffects
from relay.base.floating_point import FloatingPointClass
from relay.dataflow.effects import field_taken
from relay.ir.expr import Call, Expr, Function, Op, Tuple, TupleGetItem
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import TensorType
from relay.ops.creation.create import ones_like
from relay.ops.elementwise.elementwise_binary import add, multiply, subtract
from relay.ops.elementwise.elementwise_unary import rsqrt
from relay.ops.manipulation.shape import expand_dims
from relay.ops.nn.norm import BatchNormAttributes
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass


@function_pass(level=0, floating_point=FloatingPointClass.ROUNDING)
def SimplifyInference(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace batch_norm and dropout by what they are at inference."""
    effects = ModuleEffects(IRModule())
    return rewrite_nodes(function, lambda _, expr: _simplified(expr, effects))


def _simplified(expr: Expr, effects: ModuleEffects) -> Expr:
    match expr:
        case Call(op=Op() as op, args=args, attrs=attrs):
            if op.name == "nn.batch_norm" and isinstance(attrs, BatchNormAttributes):
                return _batch_norm(expr, attrs)
            if op.name == "nn.dropout":
                return Tuple((args[0], ones_like(args[0])), span=expr.span)
            return expr
        case TupleGetItem():
            return field_taken(effects, expr)
        case _:
            return expr


def _batch_norm(call: Call, attributes: BatchNormAttributes) -> Expr:
    data, gamma, beta, mean, variance = call.args
    type_ = data.checked_type
    if not isinstance(type_, TensorType):
        return call
    rank = len(type_.shape)
    axis = attributes.axis % rank

    def along_axis(vector: Expr) -> Expr:
        trailing = rank - axis - 1
        return expand_dims(vector, axis=1, num_newaxis=trailing) if trailing else vector

    scale = rsqrt(add(variance, attributes.epsilon))
    if attributes.scale:
        scale = multiply(scale, gamma)
    shift = multiply(mean, scale)
    shift = subtract(beta, shift) if attributes.center else multiply(shift, -1.0)
    result = add(multiply(data, along_axis(scale)), along_axis(shift))
    return Tuple((result, mean, variance), span=call.span)

"""Take away what computes nothing, and write chains as one: SimplifyExpr.

    before: transpose(transpose(%x, axes=[0, 2, 1]), axes=[0, 2, 1])          after: %x
    before: reshape(reshape(%x, newshape=[6]), newshape=[3, 2])               after: reshape(%x, newshape=[3, 2])
    before: cast(cast(%x, dtype="float32"), dtype="float64")                  (%x of float16)
    after:  cast(%x, dtype="float64")

The rules are data (`simplify_shapes`, `simplify_algebra`); each states its floating-point class, and the context's
level says which classes are allowed. Nothing is dropped whose evaluation could be noticed.
"""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.dataflow import RuleSet
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.ir.rewriting import with_body
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.simplify_algebra import ALGEBRA
from relay.transform.simplify.simplify_shapes import SHAPES

SIMPLIFICATIONS = RuleSet((*SHAPES, *ALGEBRA))


@function_pass(level=1, floating_point=FloatingPointClass.FAST_MATH)
def SimplifyExpr(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Apply the rules of shapes and algebra until none fits."""
    return with_body(function, SIMPLIFICATIONS.apply(function.body, context.opt_level))

"""Multiply constant scales of channels into weights: FoldScaleAxis.

First into the weights that make the channels (BackwardFoldScaleAxis), then into those that read them
(ForwardFoldScaleAxis).

    before: nn.conv2d(nn.max_pool2d(multiply(nn.conv2d(%x, V), S)), W)
    after:  nn.conv2d(nn.max_pool2d(nn.conv2d(%x, multiply(V, S along O))), W)

Floating point: ROUNDING.
"""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.simplify.backward_fold_scale_axis import fold_backward
from relay.transform.simplify.forward_fold_scale_axis import fold_forward


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def FoldScaleAxis(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Fold constant scales behind and in front of convolutions and dense layers into their weights."""
    return fold_forward(fold_backward(function))

"""The order of the passes, as tuples."""

from __future__ import annotations

from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.normalize.a_normal_form import to_a_normal_form
from relay.normalize.graph_normal_form import to_graph_normal_form
from relay.transform.alter_op_layout import alter_op_layout
from relay.transform.auto_batch import auto_batch
from relay.transform.canonicalize_ops import canonicalize_ops
from relay.transform.constant_arguments import constant_arguments
from relay.transform.context import PassContext
from relay.transform.eliminate_common_subexpr import eliminate_common_subexpr
from relay.transform.fold_constant import fold_constant
from relay.transform.fold_scale_axis import fold_scale_axis
from relay.transform.framework import Sequential, function_pass
from relay.transform.fuse_ops import fuse_ops
from relay.transform.inline import inline
from relay.transform.simplify_inference import simplify_inference


@function_pass("ToANormalForm", level=0)
def a_normal_form(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Name every intermediate value."""
    return to_a_normal_form(function)


@function_pass("ToGraphNormalForm", level=1)
def graph_normal_form(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace pure bindings by sharing, so that what follows sees the data flow."""
    return to_graph_normal_form(function)


OPTIMIZATIONS = (
    inline,
    constant_arguments,
    auto_batch,
    graph_normal_form,
    simplify_inference,
    canonicalize_ops,
    eliminate_common_subexpr,
    fold_constant,
    fold_scale_axis,
    alter_op_layout,
    fold_constant,
)
"""What makes a program smaller and better laid out; its result is still plain operator calls."""

FOR_NATIVE_CODE = (fuse_ops, a_normal_form)
"""What lowering needs."""


def optimization_pipeline(module: IRModule) -> IRModule:
    """All of it, under the current `PassContext`."""
    return Sequential((*OPTIMIZATIONS, *FOR_NATIVE_CODE))(module)

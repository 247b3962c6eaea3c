"""The order of the passes, as tuples."""

from __future__ import annotations

from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.normalize.a_normal_form import to_a_normal_form
from relay.normalize.graph_normal_form import to_graph_normal_form
from relay.transform.accumulate_recursion import accumulate_recursion
from relay.transform.alter_op_layout import alter_op_layout
from relay.transform.auto_batch import auto_batch
from relay.transform.canonicalize_cast import canonicalize_cast
from relay.transform.canonicalize_ops import canonicalize_ops
from relay.transform.combine_parallel_dense import combine_parallel_dense
from relay.transform.constant_arguments import constant_arguments
from relay.transform.context import PassContext
from relay.transform.conv2d_to_winograd import conv2d_to_winograd
from relay.transform.dynamic_to_static import dynamic_to_static
from relay.transform.eliminate_common_subexpr import eliminate_common_subexpr
from relay.transform.fast_math import fast_math
from relay.transform.fold_constant import fold_constant
from relay.transform.fold_explicit_padding import fold_explicit_padding
from relay.transform.fold_scale_axis import fold_scale_axis
from relay.transform.framework import Sequential, function_pass
from relay.transform.fuse_ops import fuse_ops
from relay.transform.given_kernels import with_possible_kernels
from relay.transform.inline_small_functions import inline_small_functions
from relay.transform.lift_called_functions import lift_called_functions
from relay.transform.loop_invariant_code_motion import loop_invariant_code_motion
from relay.transform.recognize_attention import recognize_attention
from relay.transform.simplify_expr import simplify_expr
from relay.transform.simplify_inference import simplify_inference
from relay.transform.simplify_known_cases import simplify_known_cases
from relay.transform.specialize_functions import specialize_functions


@function_pass("ToANormalForm", level=0)
def a_normal_form(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Name every intermediate value."""
    return to_a_normal_form(function)


@function_pass("ToGraphNormalForm", level=1)
def graph_normal_form(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace pure bindings by sharing, so that what follows sees the data flow."""
    return to_graph_normal_form(function)


OPTIMIZATIONS = (
    inline_small_functions,
    constant_arguments,
    auto_batch,
    specialize_functions,
    inline_small_functions,
    simplify_known_cases,
    accumulate_recursion,
    loop_invariant_code_motion,
    lift_called_functions,
    graph_normal_form,
    dynamic_to_static,
    simplify_inference,
    canonicalize_ops,
    simplify_expr,
    fast_math,
    eliminate_common_subexpr,
    fold_constant,
    fold_explicit_padding,
    fold_scale_axis,
    recognize_attention,
    simplify_expr,
    combine_parallel_dense(to_batch=False),
    canonicalize_cast,
    alter_op_layout,
    conv2d_to_winograd,
    fold_constant,
)
"""What makes a program smaller and better laid out; its result is still plain operator calls.

SpecializeFunctions comes after AutoBatch, which knows `@map` by its name. SimplifyKnownCases finds what is known when
functions are in place, and AccumulateRecursion the branches that it leaves; LiftCalledFunctions comes behind both loop
passes, which look at functions inside functions too. SimplifyExpr runs again behind
RecognizeAttention, which leaves reshapes of reshapes. CombineParallelDense saves two kernels a layer of an encoder, its
slices fuse into what splits heads. CombineParallelConv2D is left to users: in the blocks of Inception v3 the copies of
the slices cost more than the wider convolution saves.
"""

FOR_NATIVE_CODE = (fuse_ops, a_normal_form)
"""What lowering needs."""


def level(number: int) -> Sequential:
    """What `-O{number}` runs, as a value that prints and can be called; `required_pass` and `disabled_pass` hold.

    Raises `RelayError` (rule `opt-level`).

    >>> [each.name for each in level(0).passes]
    ['SimplifyInference', 'FuseOps', 'ToANormalForm']
    """
    context = PassContext(opt_level=number)
    passes = tuple(each for each in (*OPTIMIZATIONS, *FOR_NATIVE_CODE) if context.runs(each.name, each.level))
    return Sequential(passes, number, f"-O{number}")


def optimization_pipeline(module: IRModule) -> IRModule:
    """All of it, under the current `PassContext`; functions that cannot be kernels are marked as none."""
    opt_level = PassContext.current().opt_level
    return Sequential((*OPTIMIZATIONS, *FOR_NATIVE_CODE), opt_level, f"-O{opt_level}")(with_possible_kernels(module))

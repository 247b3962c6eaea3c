"""Every pass that comes with relay, by the name of its golden file, in the form in which tests run it."""

from __future__ import annotations

from relay.base.floating_point import FloatingPointClass
from relay.dataflow_pattern import is_constant, is_op, wildcard
from relay.ir.expr import Constant, Expr
from relay.transform.accumulate_recursion import accumulate_recursion
from relay.transform.alter_op_layout import alter_op_layout
from relay.transform.annotate_target import annotate_target
from relay.transform.auto_batch import auto_batch
from relay.transform.backward_fold_scale_axis import backward_fold_scale_axis
from relay.transform.canonicalize_cast import canonicalize_cast
from relay.transform.canonicalize_ops import canonicalize_ops
from relay.transform.combine_parallel_batch_matmul import combine_parallel_batch_matmul
from relay.transform.combine_parallel_conv2d import combine_parallel_conv2d
from relay.transform.combine_parallel_dense import combine_parallel_dense
from relay.transform.constant_arguments import constant_arguments
from relay.transform.context import ConvolutionExtents, LayoutPreferences, PassContext
from relay.transform.conv2d_to_winograd import conv2d_to_winograd
from relay.transform.convert_layout import convert_layout
from relay.transform.dead_code_elimination import dead_code_elimination
from relay.transform.defunctionalize import defunctionalize
from relay.transform.defuse_ops import defuse_ops
from relay.transform.dynamic_to_static import dynamic_to_static
from relay.transform.eliminate_common_subexpr import eliminate_common_subexpr
from relay.transform.eta_expand import eta_expand
from relay.transform.fast_math import fast_math
from relay.transform.fold_constant import fold_constant
from relay.transform.fold_explicit_padding import fold_explicit_padding
from relay.transform.fold_scale_axis import fold_scale_axis
from relay.transform.forward_fold_scale_axis import forward_fold_scale_axis
from relay.transform.framework import AnyPass, Pass, Sequential
from relay.transform.fuse_ops import fuse_ops
from relay.transform.inline import inline
from relay.transform.inline_small_functions import inline_small_functions
from relay.transform.lambda_lift import lambda_lift
from relay.transform.legalize import legalize
from relay.transform.lift_called_functions import lift_called_functions
from relay.transform.loop_invariant_code_motion import loop_invariant_code_motion
from relay.transform.merge_compiler_regions import merge_compiler_regions
from relay.transform.merge_composite import merge_composite
from relay.transform.monomorphize import monomorphize
from relay.transform.normal_forms import basic_block_normal_form, continuation_passing, direct_style
from relay.transform.partial_evaluate import partial_evaluate
from relay.transform.partition_graph import partition_graph
from relay.transform.pipelines import a_normal_form, graph_normal_form
from relay.transform.plan_devices import plan_devices
from relay.transform.recognize_attention import recognize_attention
from relay.transform.remove_unused_functions import remove_unused_functions
from relay.transform.simplify_expr import simplify_expr
from relay.transform.simplify_inference import simplify_inference
from relay.transform.simplify_known_cases import simplify_known_cases
from relay.transform.specialize_functions import specialize_functions
from relay.transform.to_mixed_precision import to_mixed_precision


def _is_one(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.data.size == 1 and expr.data.item() == 1


DENSE = is_op("nn.dense")(wildcard(), wildcard())
TABLE = [
    ("mine.dense_relu", is_op("nn.relu")(DENSE)),
    ("mine.add_one", is_op("add")(wildcard(), is_constant()), lambda match: any(map(_is_one, match.args))),
]
ANNOTATE = annotate_target(
    {
        "mine": {
            **dict.fromkeys(("nn.dense", "nn.relu", "add", "concatenate", "split"), lambda call: True),
            "mine.dense_relu": lambda call: True,
            "tanh": lambda call: len(call.checked_type.shape) == 2,
        },
        "other": ["sqrt", "add"],
    }
)
MERGE = Sequential((ANNOTATE, merge_compiler_regions))
PASSES: dict[str, AnyPass] = {
    "accumulate_recursion": accumulate_recursion,
    "alter_op_layout": alter_op_layout,
    "annotate_target": ANNOTATE,
    "auto_batch": auto_batch,
    "backward_fold_scale_axis": backward_fold_scale_axis,
    "canonicalize_cast": canonicalize_cast,
    "canonicalize_ops": canonicalize_ops,
    "combine_parallel_batch_matmul": combine_parallel_batch_matmul(min_num_branches=2),
    "combine_parallel_conv2d": combine_parallel_conv2d(min_num_branches=2),
    "combine_parallel_dense": combine_parallel_dense(min_num_branches=2, to_batch=False),
    "combine_parallel_dense_to_batch": combine_parallel_dense(min_num_branches=2),
    "constant_arguments": constant_arguments,
    "conv2d_to_winograd": conv2d_to_winograd,
    "convert_layout": convert_layout({"nn.conv2d": ("NCHW", "default")}),
    "dead_code_elimination": dead_code_elimination,
    "defunctionalization": defunctionalize,
    "defuse_ops": defuse_ops,
    "dynamic_to_static": dynamic_to_static,
    "eliminate_common_subexpr": eliminate_common_subexpr,
    "eta_expand": eta_expand(),
    "fast_math": fast_math,
    "fold_constant": fold_constant,
    "fold_explicit_padding": fold_explicit_padding,
    "fold_scale_axis": fold_scale_axis,
    "forward_fold_scale_axis": forward_fold_scale_axis,
    "fuse_ops": fuse_ops,
    "inline": inline,
    "inline_small_functions": inline_small_functions,
    "lambda_lift": lambda_lift,
    "legalize": legalize(
        ("nn.bias_add", "nn.dense", "nn.leaky_relu", "nn.log_softmax", "nn.softmax", "rsqrt", "sigmoid")
    ),
    "lift_called_functions": lift_called_functions,
    "loop_invariant_code_motion": loop_invariant_code_motion,
    "merge_compiler_regions": MERGE,
    "merge_composite": merge_composite(TABLE),
    "monomorphize": monomorphize,
    "partial_evaluate": Sequential((partial_evaluate, dead_code_elimination, remove_unused_functions)),
    "partition_graph": Sequential((merge_composite(TABLE), MERGE, partition_graph)),
    "plan_devices": plan_devices(),
    "recognize_attention": recognize_attention,
    "remove_unused_functions": remove_unused_functions,
    "simplify_expr": simplify_expr,
    "simplify_inference": simplify_inference,
    "simplify_known_cases": simplify_known_cases,
    "specialize_functions": Sequential((specialize_functions, remove_unused_functions)),
    "to_a_normal_form": a_normal_form,
    "to_basic_block_normal_form": basic_block_normal_form,
    "to_cps": continuation_passing,
    "un_cps": direct_style,
    "to_graph_normal_form": graph_normal_form,
    "to_mixed_precision": to_mixed_precision("bfloat16"),
}


def tile_of(convolution: ConvolutionExtents) -> int:
    """Tiles of 4 where they fill an image, of 2 in smaller ones, none in the smallest."""
    return 4 if convolution.rows >= 4 else convolution.rows // 2 * 2


CONTEXT = PassContext(
    opt_level=4, layouts=LayoutPreferences("NHWC", (16,), (16,), planar_window=9, winograd_tile=tile_of)
)
CHANGES_TYPES = {"to_mixed_precision"}
"""What computes with narrower numbers than the program says."""

NOT_IDEMPOTENT = {"partial_evaluate": "what it may unroll depends on the size of the program, and it makes another one"}
"""Why a second run may change something."""


def floating_point_of(each: AnyPass) -> FloatingPointClass:
    """How far a pass, or the passes of a sequence, may change results."""
    if isinstance(each, Pass):
        return each.info.floating_point
    return max(map(floating_point_of, each.passes))

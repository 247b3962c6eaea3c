"""Passes under the names that users of Relay know, and what they run under."""

from relay.infer.infer_type import infer_type
from relay.transform.alter_op_layout import alter_op_layout as AlterOpLayout
from relay.transform.canonicalize_ops import canonicalize_ops as CanonicalizeOps
from relay.transform.constant_arguments import constant_arguments as ConstantArguments
from relay.transform.context import FusionLimits, LayoutPreferences, PassContext
from relay.transform.defunctionalize import defunctionalize as Defunctionalization
from relay.transform.eliminate_common_subexpr import eliminate_common_subexpr as EliminateCommonSubexpr
from relay.transform.eta_expand import eta_expand as EtaExpand
from relay.transform.fold_constant import fold_constant as FoldConstant
from relay.transform.fold_scale_axis import fold_scale_axis as FoldScaleAxis
from relay.transform.framework import Pass, Sequential, function_pass, module_pass
from relay.transform.fuse_ops import fuse_ops as FuseOps
from relay.transform.inline import inline as Inline
from relay.transform.lambda_lift import lambda_lift as LambdaLift
from relay.transform.monomorphize import monomorphize as Monomorphize
from relay.transform.normal_forms import basic_block_normal_form as ToBasicBlockNormalForm
from relay.transform.normal_forms import continuation_passing as ToCPS
from relay.transform.pipelines import a_normal_form as ToANormalForm
from relay.transform.pipelines import graph_normal_form as ToGraphNormalForm
from relay.transform.pipelines import optimization_pipeline
from relay.transform.remove_unused_functions import remove_unused_functions as RemoveUnusedFunctions
from relay.transform.simplify_inference import simplify_inference as SimplifyInference

__all__ = [
    "AlterOpLayout",
    "CanonicalizeOps",
    "ConstantArguments",
    "Defunctionalization",
    "EliminateCommonSubexpr",
    "EtaExpand",
    "FoldConstant",
    "FoldScaleAxis",
    "FuseOps",
    "FusionLimits",
    "Inline",
    "LambdaLift",
    "LayoutPreferences",
    "Monomorphize",
    "Pass",
    "PassContext",
    "RemoveUnusedFunctions",
    "Sequential",
    "SimplifyInference",
    "ToANormalForm",
    "ToBasicBlockNormalForm",
    "ToCPS",
    "ToGraphNormalForm",
    "function_pass",
    "infer_type",
    "module_pass",
    "optimization_pipeline",
]

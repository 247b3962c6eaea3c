"""Passes under the names that users of Relay know, and what they run under."""

from relay.infer.infer_type import infer_type
from relay.transform.accumulate_recursion import accumulate_recursion as AccumulateRecursion
from relay.transform.alter_op_layout import alter_op_layout as AlterOpLayout
from relay.transform.annotate_target import annotate_target as AnnotateTarget
from relay.transform.auto_batch import auto_batch as AutoBatch
from relay.transform.backward_fold_scale_axis import backward_fold_scale_axis as BackwardFoldScaleAxis
from relay.transform.canonicalize_cast import canonicalize_cast as CanonicalizeCast
from relay.transform.canonicalize_ops import canonicalize_ops as CanonicalizeOps
from relay.transform.combine_parallel_batch_matmul import combine_parallel_batch_matmul as CombineParallelBatchMatmul
from relay.transform.combine_parallel_conv2d import combine_parallel_conv2d as CombineParallelConv2D
from relay.transform.combine_parallel_dense import combine_parallel_dense as CombineParallelDense
from relay.transform.constant_arguments import constant_arguments as ConstantArguments
from relay.transform.context import ConvolutionExtents, FusionLimits, LayoutPreferences, PassContext
from relay.transform.conv2d_to_winograd import conv2d_to_winograd as Conv2DToWinograd
from relay.transform.convert_layout import convert_layout as ConvertLayout
from relay.transform.dead_code_elimination import dead_code_elimination as DeadCodeElimination
from relay.transform.defunctionalize import defunctionalize as Defunctionalization
from relay.transform.defuse_ops import defuse_ops as DefuseOps
from relay.transform.dynamic_to_static import dynamic_to_static as DynamicToStatic
from relay.transform.eliminate_common_subexpr import eliminate_common_subexpr as EliminateCommonSubexpr
from relay.transform.eta_expand import eta_expand as EtaExpand
from relay.transform.external import ExternalCompiler, ExternalFunction
from relay.transform.fast_math import fast_math as FastMath
from relay.transform.fold_constant import fold_constant as FoldConstant
from relay.transform.fold_explicit_padding import fold_explicit_padding as FoldExplicitPadding
from relay.transform.fold_scale_axis import fold_scale_axis as FoldScaleAxis
from relay.transform.forward_fold_scale_axis import forward_fold_scale_axis as ForwardFoldScaleAxis
from relay.transform.framework import Pass, Sequential, function_pass, module_pass
from relay.transform.fuse_ops import fuse_ops as FuseOps
from relay.transform.inline import inline as Inline
from relay.transform.inline_small_functions import inline_small_functions as InlineSmallFunctions
from relay.transform.instruments import (
    DumpChanges,
    Instrument,
    NodeCounts,
    PrintChanges,
    Timing,
    Validation,
)
from relay.transform.lambda_lift import lambda_lift as LambdaLift
from relay.transform.legalize import legalize as Legalize
from relay.transform.lift_called_functions import lift_called_functions as LiftCalledFunctions
from relay.transform.loop_invariant_code_motion import loop_invariant_code_motion as LoopInvariantCodeMotion
from relay.transform.merge_compiler_regions import merge_compiler_regions as MergeCompilerRegions
from relay.transform.merge_composite import merge_composite as MergeComposite
from relay.transform.monomorphize import monomorphize as Monomorphize
from relay.transform.normal_forms import basic_block_normal_form as ToBasicBlockNormalForm
from relay.transform.normal_forms import continuation_passing as ToCPS
from relay.transform.normal_forms import direct_style as UnCPS
from relay.transform.partial_evaluate import PartialEvaluationLimits, partially_evaluated
from relay.transform.partial_evaluate import partial_evaluate as PartialEvaluate
from relay.transform.partition_graph import partition_graph as PartitionGraph
from relay.transform.pass_info import PassInfo
from relay.transform.pipelines import a_normal_form as ToANormalForm
from relay.transform.pipelines import graph_normal_form as ToGraphNormalForm
from relay.transform.pipelines import level, optimization_pipeline
from relay.transform.plan_devices import plan_devices as PlanDevices
from relay.transform.properties import A_NORMAL_FORM, FUSED, Property
from relay.transform.recognize_attention import recognize_attention as RecognizeAttention
from relay.transform.remove_unused_functions import remove_unused_functions as RemoveUnusedFunctions
from relay.transform.simplify_expr import simplify_expr as SimplifyExpr
from relay.transform.simplify_inference import simplify_inference as SimplifyInference
from relay.transform.simplify_known_cases import simplify_known_cases as SimplifyKnownCases
from relay.transform.specialize_functions import specialize_functions as SpecializeFunctions
from relay.transform.to_mixed_precision import to_mixed_precision as ToMixedPrecision
from relay.transform.type_inference import type_inference as InferType

__all__ = [
    "A_NORMAL_FORM",
    "AccumulateRecursion",
    "AlterOpLayout",
    "AutoBatch",
    "AnnotateTarget",
    "BackwardFoldScaleAxis",
    "CanonicalizeCast",
    "CanonicalizeOps",
    "CombineParallelBatchMatmul",
    "CombineParallelConv2D",
    "CombineParallelDense",
    "ConstantArguments",
    "Conv2DToWinograd",
    "DeadCodeElimination",
    "Defunctionalization",
    "DefuseOps",
    "DumpChanges",
    "DynamicToStatic",
    "EliminateCommonSubexpr",
    "EtaExpand",
    "ExternalCompiler",
    "ExternalFunction",
    "FUSED",
    "ConvertLayout",
    "ConvolutionExtents",
    "FastMath",
    "FoldConstant",
    "FoldExplicitPadding",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "FuseOps",
    "FusionLimits",
    "InferType",
    "Inline",
    "InlineSmallFunctions",
    "Instrument",
    "LambdaLift",
    "LayoutPreferences",
    "Legalize",
    "LiftCalledFunctions",
    "LoopInvariantCodeMotion",
    "MergeCompilerRegions",
    "MergeComposite",
    "Monomorphize",
    "NodeCounts",
    "PartialEvaluate",
    "PartialEvaluationLimits",
    "PartitionGraph",
    "Pass",
    "PassContext",
    "PassInfo",
    "PlanDevices",
    "PrintChanges",
    "Property",
    "RecognizeAttention",
    "RemoveUnusedFunctions",
    "Sequential",
    "SimplifyExpr",
    "SimplifyInference",
    "SimplifyKnownCases",
    "SpecializeFunctions",
    "Timing",
    "ToANormalForm",
    "ToBasicBlockNormalForm",
    "ToCPS",
    "ToGraphNormalForm",
    "Validation",
    "ToMixedPrecision",
    "UnCPS",
    "function_pass",
    "infer_type",
    "level",
    "module_pass",
    "optimization_pipeline",
    "partially_evaluated",
]

"""Passes under the names that users of Relay know, and what they run under.

This is the list of the passes that come with relay, and the only one: what is imported here may be named in
`required_pass` and `disabled_pass`, and the tests run it on the cases of its golden file, on generated programs, and
against its row in `docs/passes.md`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from relay.infer.infer_type import infer_type as infer_type
from relay.transform.algorithms.accumulate_in_float32 import AccumulateInFloat32 as AccumulateInFloat32
from relay.transform.algorithms.combine_parallel_batch_matmul import (
    CombineParallelBatchMatmul as CombineParallelBatchMatmul,
)
from relay.transform.algorithms.combine_parallel_conv2d import CombineParallelConv2D as CombineParallelConv2D
from relay.transform.algorithms.combine_parallel_dense import CombineParallelDense as CombineParallelDense
from relay.transform.algorithms.conv2d_to_winograd import Conv2DToWinograd as Conv2DToWinograd
from relay.transform.algorithms.decompose_conv_transpose import DecomposeConvTranspose as DecomposeConvTranspose
from relay.transform.algorithms.join_sums import JoinSums as JoinSums
from relay.transform.algorithms.legalize import Legalize as Legalize
from relay.transform.algorithms.pack_dot_products import PackDotProducts as PackDotProducts
from relay.transform.algorithms.pack_dot_products import PackedDotProducts as PackedDotProducts
from relay.transform.algorithms.recognize_attention import RecognizeAttention as RecognizeAttention
from relay.transform.algorithms.to_mixed_precision import ToMixedPrecision as ToMixedPrecision
from relay.transform.batching.auto_batch import AutoBatch as AutoBatch
from relay.transform.devices.plan_devices import PlanDevices as PlanDevices
from relay.transform.framework.context import ConvolutionExtents as ConvolutionExtents
from relay.transform.framework.context import ConvolutionWeights as ConvolutionWeights
from relay.transform.framework.context import FusionLimits as FusionLimits
from relay.transform.framework.context import LayoutPreferences as LayoutPreferences
from relay.transform.framework.context import PassContext as PassContext
from relay.transform.framework.external import ExternalCompiler as ExternalCompiler
from relay.transform.framework.external import ExternalFunction as ExternalFunction
from relay.transform.framework.external import Refused as Refused
from relay.transform.framework.external import Supported as Supported
from relay.transform.framework.external import callee as callee
from relay.transform.framework.instruments.changes import PrintChanges as PrintChanges
from relay.transform.framework.instruments.dump import DumpChanges as DumpChanges
from relay.transform.framework.instruments.instrument import Instrument as Instrument
from relay.transform.framework.instruments.node_counts import NodeCounts as NodeCounts
from relay.transform.framework.instruments.timing import Timing as Timing
from relay.transform.framework.instruments.validation import Validation as Validation
from relay.transform.framework.pass_info import PassInfo as PassInfo
from relay.transform.framework.passes import Pass as Pass
from relay.transform.framework.passes import PassFactory as PassFactory
from relay.transform.framework.passes import Sequential as Sequential
from relay.transform.framework.passes import function_pass as function_pass
from relay.transform.framework.passes import module_pass as module_pass
from relay.transform.framework.passes import pass_factory as pass_factory
from relay.transform.framework.properties import A_NORMAL_FORM as A_NORMAL_FORM
from relay.transform.framework.properties import FUSED as FUSED
from relay.transform.framework.properties import Property as Property
from relay.transform.framework.type_inference import InferType as InferType
from relay.transform.functions.case_of_known_constructor import CaseOfKnownConstructor as CaseOfKnownConstructor
from relay.transform.functions.defunctionalize import Defunctionalization as Defunctionalization
from relay.transform.functions.dynamic_to_static import DynamicToStatic as DynamicToStatic
from relay.transform.functions.eta_expand import EtaExpand as EtaExpand
from relay.transform.functions.inline import Inline as Inline
from relay.transform.functions.inline_small_functions import InlineSmallFunctions as InlineSmallFunctions
from relay.transform.functions.lambda_lift import LambdaLift as LambdaLift
from relay.transform.functions.lift_called_functions import LiftCalledFunctions as LiftCalledFunctions
from relay.transform.functions.monomorphize import Monomorphize as Monomorphize
from relay.transform.functions.normal_forms import ToANormalForm as ToANormalForm
from relay.transform.functions.normal_forms import ToBasicBlockNormalForm as ToBasicBlockNormalForm
from relay.transform.functions.normal_forms import ToCPS as ToCPS
from relay.transform.functions.normal_forms import ToGraphNormalForm as ToGraphNormalForm
from relay.transform.functions.normal_forms import UnCPS as UnCPS
from relay.transform.functions.partial_evaluate import PartialEvaluate as PartialEvaluate
from relay.transform.functions.partial_evaluate import PartialEvaluationLimits as PartialEvaluationLimits
from relay.transform.functions.partial_evaluate import partially_evaluated as partially_evaluated
from relay.transform.functions.propagate_constant_arguments import (
    PropagateConstantArguments as PropagateConstantArguments,
)
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions as RemoveUnusedFunctions
from relay.transform.functions.specialize_functions import SpecializeFunctions as SpecializeFunctions
from relay.transform.fusion import FuseOps as FuseOps
from relay.transform.fusion.defuse_ops import DefuseOps as DefuseOps
from relay.transform.gradients.apply_transformations import ApplyTransformations as ApplyTransformations
from relay.transform.gradients.gradient import FirstOrderGradient as FirstOrderGradient
from relay.transform.gradients.gradient import LazyGradientInit as LazyGradientInit
from relay.transform.gradients.gradient import gradient as gradient
from relay.transform.layout.alter_op_layout import AlterOpLayout as AlterOpLayout
from relay.transform.layout.convert_layout import ConvertLayout as ConvertLayout
from relay.transform.loops.introduce_accumulators import IntroduceAccumulators as IntroduceAccumulators
from relay.transform.loops.loop_invariant_code_motion import LoopInvariantCodeMotion as LoopInvariantCodeMotion
from relay.transform.pipelines import level as level
from relay.transform.pipelines import optimization_pipeline as optimization_pipeline
from relay.transform.regions.annotate_target import AnnotateTarget as AnnotateTarget
from relay.transform.regions.annotate_target import refusals as refusals
from relay.transform.regions.merge_compiler_regions import MergeCompilerRegions as MergeCompilerRegions
from relay.transform.regions.merge_composite import MergeComposite as MergeComposite
from relay.transform.regions.partition_graph import PartitionGraph as PartitionGraph
from relay.transform.simplify.backward_fold_scale_axis import BackwardFoldScaleAxis as BackwardFoldScaleAxis
from relay.transform.simplify.canonicalize_cast import CanonicalizeCast as CanonicalizeCast
from relay.transform.simplify.canonicalize_ops import CanonicalizeOps as CanonicalizeOps
from relay.transform.simplify.dead_code_elimination import DeadCodeElimination as DeadCodeElimination
from relay.transform.simplify.eliminate_common_subexpr import EliminateCommonSubexpr as EliminateCommonSubexpr
from relay.transform.simplify.fast_math import FastMath as FastMath
from relay.transform.simplify.fold_constant import FoldConstant as FoldConstant
from relay.transform.simplify.fold_explicit_padding import FoldExplicitPadding as FoldExplicitPadding
from relay.transform.simplify.fold_scale_axis import FoldScaleAxis as FoldScaleAxis
from relay.transform.simplify.forward_fold_scale_axis import ForwardFoldScaleAxis as ForwardFoldScaleAxis
from relay.transform.simplify.promote_refs import PromoteRefs as PromoteRefs
from relay.transform.simplify.remove_unused_results import RemoveUnusedResults as RemoveUnusedResults
from relay.transform.simplify.simplify_expr import SimplifyExpr as SimplifyExpr
from relay.transform.simplify.simplify_inference import SimplifyInference as SimplifyInference

PASSES: Mapping[str, Pass | PassFactory[...]] = MappingProxyType(
    {name: each for name, each in globals().copy().items() if isinstance(each, Pass | PassFactory)}
)
"""By its name every pass that is handed on here, or what makes it of its options."""

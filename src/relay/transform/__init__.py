"""Passes under the names that users of Relay know, and what they run under.

This is the list of the passes that come with relay, and the only one: what is imported here may be named in
`required_pass` and `disabled_pass`, and the tests run it on the cases of its golden file, on generated programs, and
against its row in `docs/passes.md`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from relay.infer.infer_type import infer_type as infer_type
from relay.transform.accumulate_recursion import AccumulateRecursion as AccumulateRecursion
from relay.transform.alter_op_layout import AlterOpLayout as AlterOpLayout
from relay.transform.annotate_target import AnnotateTarget as AnnotateTarget
from relay.transform.auto_batch import AutoBatch as AutoBatch
from relay.transform.backward_fold_scale_axis import BackwardFoldScaleAxis as BackwardFoldScaleAxis
from relay.transform.canonicalize_cast import CanonicalizeCast as CanonicalizeCast
from relay.transform.canonicalize_ops import CanonicalizeOps as CanonicalizeOps
from relay.transform.combine_parallel_batch_matmul import CombineParallelBatchMatmul as CombineParallelBatchMatmul
from relay.transform.combine_parallel_conv2d import CombineParallelConv2D as CombineParallelConv2D
from relay.transform.combine_parallel_dense import CombineParallelDense as CombineParallelDense
from relay.transform.constant_arguments import ConstantArguments as ConstantArguments
from relay.transform.context import ConvolutionExtents as ConvolutionExtents
from relay.transform.context import FusionLimits as FusionLimits
from relay.transform.context import LayoutPreferences as LayoutPreferences
from relay.transform.context import PassContext as PassContext
from relay.transform.conv2d_to_winograd import Conv2DToWinograd as Conv2DToWinograd
from relay.transform.convert_layout import ConvertLayout as ConvertLayout
from relay.transform.dead_code_elimination import DeadCodeElimination as DeadCodeElimination
from relay.transform.defunctionalize import Defunctionalization as Defunctionalization
from relay.transform.defuse_ops import DefuseOps as DefuseOps
from relay.transform.dynamic_to_static import DynamicToStatic as DynamicToStatic
from relay.transform.eliminate_common_subexpr import EliminateCommonSubexpr as EliminateCommonSubexpr
from relay.transform.eta_expand import EtaExpand as EtaExpand
from relay.transform.external import ExternalCompiler as ExternalCompiler
from relay.transform.external import ExternalFunction as ExternalFunction
from relay.transform.fast_math import FastMath as FastMath
from relay.transform.fold_constant import FoldConstant as FoldConstant
from relay.transform.fold_explicit_padding import FoldExplicitPadding as FoldExplicitPadding
from relay.transform.fold_scale_axis import FoldScaleAxis as FoldScaleAxis
from relay.transform.forward_fold_scale_axis import ForwardFoldScaleAxis as ForwardFoldScaleAxis
from relay.transform.framework import Pass as Pass
from relay.transform.framework import PassFactory as PassFactory
from relay.transform.framework import Sequential as Sequential
from relay.transform.framework import function_pass as function_pass
from relay.transform.framework import module_pass as module_pass
from relay.transform.framework import pass_factory as pass_factory
from relay.transform.fuse_ops import FuseOps as FuseOps
from relay.transform.inline import Inline as Inline
from relay.transform.inline_small_functions import InlineSmallFunctions as InlineSmallFunctions
from relay.transform.instruments import DumpChanges as DumpChanges
from relay.transform.instruments import Instrument as Instrument
from relay.transform.instruments import NodeCounts as NodeCounts
from relay.transform.instruments import PrintChanges as PrintChanges
from relay.transform.instruments import Timing as Timing
from relay.transform.instruments import Validation as Validation
from relay.transform.lambda_lift import LambdaLift as LambdaLift
from relay.transform.legalize import Legalize as Legalize
from relay.transform.lift_called_functions import LiftCalledFunctions as LiftCalledFunctions
from relay.transform.loop_invariant_code_motion import LoopInvariantCodeMotion as LoopInvariantCodeMotion
from relay.transform.merge_compiler_regions import MergeCompilerRegions as MergeCompilerRegions
from relay.transform.merge_composite import MergeComposite as MergeComposite
from relay.transform.monomorphize import Monomorphize as Monomorphize
from relay.transform.normal_forms import ToANormalForm as ToANormalForm
from relay.transform.normal_forms import ToBasicBlockNormalForm as ToBasicBlockNormalForm
from relay.transform.normal_forms import ToCPS as ToCPS
from relay.transform.normal_forms import ToGraphNormalForm as ToGraphNormalForm
from relay.transform.normal_forms import UnCPS as UnCPS
from relay.transform.partial_evaluate import PartialEvaluate as PartialEvaluate
from relay.transform.partial_evaluate import PartialEvaluationLimits as PartialEvaluationLimits
from relay.transform.partial_evaluate import partially_evaluated as partially_evaluated
from relay.transform.partition_graph import PartitionGraph as PartitionGraph
from relay.transform.pass_info import PassInfo as PassInfo
from relay.transform.pipelines import level as level
from relay.transform.pipelines import optimization_pipeline as optimization_pipeline
from relay.transform.plan_devices import PlanDevices as PlanDevices
from relay.transform.properties import A_NORMAL_FORM as A_NORMAL_FORM
from relay.transform.properties import FUSED as FUSED
from relay.transform.properties import Property as Property
from relay.transform.recognize_attention import RecognizeAttention as RecognizeAttention
from relay.transform.remove_unused_functions import RemoveUnusedFunctions as RemoveUnusedFunctions
from relay.transform.simplify_expr import SimplifyExpr as SimplifyExpr
from relay.transform.simplify_inference import SimplifyInference as SimplifyInference
from relay.transform.simplify_known_cases import SimplifyKnownCases as SimplifyKnownCases
from relay.transform.specialize_functions import SpecializeFunctions as SpecializeFunctions
from relay.transform.to_mixed_precision import ToMixedPrecision as ToMixedPrecision
from relay.transform.type_inference import InferType as InferType

PASSES: Mapping[str, Pass | PassFactory[...]] = MappingProxyType(
    {name: each for name, each in globals().copy().items() if isinstance(each, Pass | PassFactory)}
)
"""By its name every pass that is handed on here, or what makes it of its options."""

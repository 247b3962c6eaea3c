"""The order of the passes, as tuples."""

from __future__ import annotations

from collections.abc import Sequence

from relay.analysis.call_graph import call_graph
from relay.ir.module import IRModule
from relay.transform.algorithms.combine_parallel_dense import CombineParallelDense
from relay.transform.algorithms.join_sums import JoinSums
from relay.transform.algorithms.recognize_attention import RecognizeAttention
from relay.transform.batching.auto_batch import AutoBatch
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, Sequential
from relay.transform.functions.case_of_known_constructor import CaseOfKnownConstructor
from relay.transform.functions.dynamic_to_static import DynamicToStatic
from relay.transform.functions.eta_expand import EtaExpand
from relay.transform.functions.inline_small_functions import InlineSmallFunctions
from relay.transform.functions.lift_called_functions import LiftCalledFunctions
from relay.transform.functions.normal_forms import ToANormalForm, ToGraphNormalForm
from relay.transform.functions.propagate_constant_arguments import PropagateConstantArguments
from relay.transform.functions.specialize_functions import SpecializeFunctions
from relay.transform.fusion import FuseOps
from relay.transform.gradients.apply_transformations import ApplyTransformations
from relay.transform.layout.alter_op_layout import AlterOpLayout
from relay.transform.loops.introduce_accumulators import IntroduceAccumulators
from relay.transform.loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from relay.transform.regions.given_kernels import with_possible_kernels
from relay.transform.simplify.canonicalize_cast import CanonicalizeCast
from relay.transform.simplify.canonicalize_ops import CanonicalizeOps
from relay.transform.simplify.eliminate_common_subexpr import EliminateCommonSubexpr
from relay.transform.simplify.fast_math import FastMath
from relay.transform.simplify.fold_constant import FoldConstant
from relay.transform.simplify.fold_explicit_padding import FoldExplicitPadding
from relay.transform.simplify.fold_scale_axis import FoldScaleAxis
from relay.transform.simplify.promote_refs import PromoteRefs
from relay.transform.simplify.remove_unused_results import RemoveUnusedResults
from relay.transform.simplify.simplify_expr import SimplifyExpr
from relay.transform.simplify.simplify_inference import SimplifyInference

BEFORE_RULES = (
    ApplyTransformations,
    InlineSmallFunctions,
    PropagateConstantArguments,
    AutoBatch,
    SpecializeFunctions,
    InlineSmallFunctions,
    CaseOfKnownConstructor,
    IntroduceAccumulators,
    LoopInvariantCodeMotion,
    LiftCalledFunctions,
    PromoteRefs,
    RemoveUnusedResults,
    ToGraphNormalForm,
    DynamicToStatic,
    SimplifyInference,
    CanonicalizeOps,
    SimplifyExpr,
    FastMath,
    EliminateCommonSubexpr,
    FoldConstant,
    FoldExplicitPadding,
    FoldScaleAxis,
    RecognizeAttention,
    JoinSums,
    SimplifyExpr,
    CombineParallelDense(to_batch=False),
    CanonicalizeCast,
)
"""What makes a program smaller; its result is still plain operator calls.

SpecializeFunctions comes after AutoBatch, which knows `@map` by its name. CaseOfKnownConstructor finds what is known
when functions are in place, and IntroduceAccumulators the branches that it leaves; LiftCalledFunctions comes behind
both loop passes, which look at functions inside functions too. SimplifyExpr runs again behind RecognizeAttention, which
leaves reshapes of reshapes. CombineParallelDense saves two kernels a layer of an encoder, its slices fuse into what
splits heads. CombineParallelConv2D is left to users: in the blocks of Inception v3 the copies of the slices cost more
than the wider convolution saves.
"""

RULES = (AlterOpLayout,)
"""What makes it what the target has kernels for, where a target has no rules of its own."""

FOR_NATIVE_CODE = (
    EliminateCommonSubexpr,
    EtaExpand(expand_constructor=False, expand_global_var=False, expand_operator=True),
    FoldConstant,
    FuseOps,
    ToANormalForm,
)
"""What lowering needs; what several operators want in one layout is laid out once. An operator that is still a value is
made a function: kernels are made of calls."""


def level(number: int, rules: Sequence[Pass] = RULES) -> Sequential:
    """What `-O{number}` runs, as a value that prints and can be called; `required_pass` and `disabled_pass` hold.
    `rules` are the target's.

    Raises `RelayError` (rule `opt-level`).

    >>> [each.name for each in level(0).passes]
    ['ApplyTransformations', 'SimplifyInference', 'EtaExpand', 'FuseOps', 'ToANormalForm']
    """
    context = PassContext(opt_level=number)
    passes = tuple(each for each in _passes(rules) if context.runs(each.name, each.level))
    return Sequential(passes, number, f"-O{number}")


def optimization_pipeline(module: IRModule, rules: Sequence[Pass] = RULES) -> IRModule:
    """All of it, under the current `PassContext`; functions that cannot be kernels are marked as none. `rules` are the
    target's, which rewrite operators and lay them out. Every function of the module stays, for it may be called from
    outside, and those that passes made where one of these needs them."""
    opt_level = PassContext.current().opt_level
    made = Sequential(_passes(rules), opt_level, f"-O{opt_level}")(with_possible_kernels(module))
    reached = set(call_graph(made).reachable([name for name in made if name in module]))
    return made.with_functions({name: each for name, each in made.functions.items() if name in reached})


def _passes(rules: Sequence[Pass]) -> tuple[Pass, ...]:
    return (*BEFORE_RULES, *rules, *FOR_NATIVE_CODE)

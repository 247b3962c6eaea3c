"""Every pass that comes with relay, by its name, in the form in which tests run it."""

from __future__ import annotations

import relay
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.dataflow_pattern import is_constant, is_op, wildcard
from relay.ir.expr import Constant, Expr
from relay.transform import (
    AccumulateInFloat32,
    AnnotateTarget,
    CombineParallelBatchMatmul,
    CombineParallelConv2D,
    CombineParallelDense,
    Conv2DToWinograd,
    ConvertLayout,
    ConvolutionExtents,
    ConvolutionWeights,
    DeadCodeElimination,
    EtaExpand,
    LayoutPreferences,
    Legalize,
    MergeCompilerRegions,
    MergeComposite,
    PackDotProducts,
    PackedDotProducts,
    PartialEvaluate,
    PartitionGraph,
    Pass,
    PassContext,
    PlanDevices,
    RemoveUnusedFunctions,
    Sequential,
    SpecializeFunctions,
    ToMixedPrecision,
)
from relay.transform.framework.passes import AnyPass
from tests.transform.takers import Takes


def _is_one(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.data.size == 1 and expr.data.item() == 1


def tile_of(convolution: ConvolutionExtents) -> int:
    """Tiles of 4 where they fill an image, of 2 in smaller ones, none in the smallest."""
    return 4 if convolution.rows >= 4 else convolution.rows // 2 * 2


DENSE = is_op("nn.dense")(wildcard(), wildcard())
TABLE = [
    ("mine.dense_relu", is_op("nn.relu")(DENSE)),
    ("mine.add_one", is_op("add")(wildcard(), is_constant()), lambda match: any(map(_is_one, match.args))),
]
COMPILERS = {
    "mine": Takes(
        {
            **dict.fromkeys(("nn.dense", "nn.relu", "add", "concatenate", "split"), lambda call: True),
            "mine.dense_relu": lambda call: True,
            "tanh": lambda call: len(call.checked_type.shape) == 2,
        }
    ),
    "other": Takes.always("sqrt", "add"),
}
ANNOTATE = AnnotateTarget(["mine", "other"])
MERGE = Sequential((ANNOTATE, MergeCompilerRegions))
FORMS: dict[str, AnyPass] = {
    "AccumulateInFloat32": AccumulateInFloat32(),
    "AccumulateInFloat32.few_rows": AccumulateInFloat32(few_rows=2),
    "AnnotateTarget": ANNOTATE,
    "CombineParallelBatchMatmul": CombineParallelBatchMatmul(min_num_branches=2),
    "CombineParallelConv2D": CombineParallelConv2D(min_num_branches=2),
    "CombineParallelDense": CombineParallelDense(min_num_branches=2, to_batch=False),
    "CombineParallelDense.to_batch": CombineParallelDense(min_num_branches=2),
    "Conv2DToWinograd": Conv2DToWinograd,
    "ConvertLayout": ConvertLayout({"nn.conv2d": ("NCHW", "default")}),
    "EtaExpand": EtaExpand(),
    "Legalize": Legalize(
        ("nn.bias_add", "nn.dense", "nn.leaky_relu", "nn.log_softmax", "nn.softmax", "rsqrt", "sigmoid")
    ),
    "MergeCompilerRegions": MERGE,
    "MergeComposite": MergeComposite(TABLE),
    "PackDotProducts": PackDotProducts(
        PackedDotProducts((DType.INT8, DType.UINT8, DType.BFLOAT16), conv2d_kernel_blocks=(16,), dense_blocks=(16,))
    ),
    "PartialEvaluate": Sequential((PartialEvaluate, DeadCodeElimination, RemoveUnusedFunctions)),
    "PartitionGraph": Sequential((MergeComposite(TABLE), MERGE, PartitionGraph)),
    "PlanDevices": PlanDevices(),
    "SpecializeFunctions": Sequential((SpecializeFunctions, RemoveUnusedFunctions)),
    "ToMixedPrecision": ToMixedPrecision("bfloat16"),
}
"""Passes with options, and those that tests run with others around them."""

PASSES: dict[str, AnyPass] = {
    **{name: each for name, each in relay.transform.PASSES.items() if isinstance(each, Pass)},
    **FORMS,
}


def is_small(weights: ConvolutionWeights) -> bool:
    """Windows of 3 × 3 of one channel, and 1×1 convolutions to three channels at most."""
    if weights.is_depthwise:
        return weights.taps <= 9
    return weights.groups == 1 and weights.outputs**2 * weights.taps <= 9


CONTEXT = PassContext(
    opt_level=4,
    layouts=LayoutPreferences("NHWC", (16,), (16,), keeps_channels_first=is_small, winograd_tile=tile_of),
    external_compilers=COMPILERS,
)
CHANGES_TYPES = {"ToMixedPrecision"}
"""What computes with narrower numbers than the program says."""

NOT_IDEMPOTENT = {
    "PartialEvaluate": "what it may unroll depends on the size of the program, and it makes another one",
    "SpecializeFunctions": "what it removes may be all that kept a function from being copied, such as open extents",
}
"""Why a second run may change something."""


def floating_point_of(each: AnyPass) -> FloatingPointClass:
    """How far a pass, or the passes of a sequence, may change results."""
    if isinstance(each, Pass):
        return each.info.floating_point
    return max(map(floating_point_of, each.passes))

"""The names of the passes that come with relay: what `required_pass` and `disabled_pass` may name."""

from __future__ import annotations

PASS_NAMES: tuple[str, ...] = (
    "AlterOpLayout",
    "CanonicalizeOps",
    "ConstantArguments",
    "Defunctionalization",
    "EliminateCommonSubexpr",
    "EtaExpand",
    "FoldConstant",
    "FoldScaleAxis",
    "FuseOps",
    "Inline",
    "LambdaLift",
    "Monomorphize",
    "RecognizeAttention",
    "RemoveUnusedFunctions",
    "SimplifyExpr",
    "SimplifyInference",
    "ToANormalForm",
    "ToBasicBlockNormalForm",
    "ToCPS",
    "ToGraphNormalForm",
)
"""A test holds them against what `relay.transform` hands on."""

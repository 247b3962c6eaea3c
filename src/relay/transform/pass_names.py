"""The names of the passes that come with relay: what `required_pass` and `disabled_pass` may name."""

from __future__ import annotations

PASS_NAMES: tuple[str, ...] = (
    "AlterOpLayout",
    "CanonicalizeOps",
    "ConstantArguments",
    "EliminateCommonSubexpr",
    "FoldConstant",
    "FoldScaleAxis",
    "FuseOps",
    "Inline",
    "SimplifyExpr",
    "SimplifyInference",
    "ToANormalForm",
    "ToGraphNormalForm",
)
"""A test holds them against what `relay.transform` hands on."""

"""`relay.operators`: what it takes to add an operator, which `docs/adding_an_operator.md` does from nothing."""

from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.operator import Effect
from relay.ops.build import builder, call
from relay.ops.layout_rule import (
    AxisAttribute,
    Broadcasting,
    Elementwise,
    LayoutAttribute,
    OwnLayout,
    PerAxisAttributes,
)
from relay.ops.record import (
    FloatClass,
    FromTypes,
    FromValues,
    FusionKind,
    NoCompute,
    NoFormula,
    NotDifferentiable,
    OperatorRecord,
    PrecisionRule,
    define,
)
from relay.ops.registry import operators, register_operator, unregister_operator
from relay.ops.relating import RelationRun

__all__ = [
    "Attributes",
    "AxisAttribute",
    "Broadcasting",
    "Effect",
    "Elementwise",
    "FloatClass",
    "FromTypes",
    "FromValues",
    "FusionKind",
    "LayoutAttribute",
    "NoCompute",
    "NoFormula",
    "NotDifferentiable",
    "OperatorRecord",
    "OwnLayout",
    "PerAxisAttributes",
    "PrecisionRule",
    "RelationRun",
    "builder",
    "call",
    "define",
    "frozen",
    "operators",
    "register_operator",
    "unregister_operator",
]

"""`relay.operators`: what it takes to add an operator, which `docs/adding_an_operator.md` does from nothing."""

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.operator import Effect
from relay.ops.framework.batch_rule import (
    ALONG_AXIS,
    AlongAxes,
    ByElement,
    HasBatchAxis,
    KeepsOrder,
    NoBatchRule,
    PermutesAxes,
    Repeats,
    RowsTimesMatrix,
    TakesEntries,
)
from relay.ops.framework.build import builder, call
from relay.ops.framework.layout_rule import (
    AxisAttribute,
    Broadcasting,
    Elementwise,
    KernelResult,
    LayoutAttribute,
    OwnLayout,
    PerAxisAttributes,
)
from relay.ops.framework.record import (
    FromTypes,
    FromValues,
    FusionKind,
    IndexFault,
    NoCompute,
    NoFormula,
    NotDifferentiable,
    NotYetDifferentiable,
    OperatorRecord,
    PrecisionRule,
    StatementFault,
    define,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.scale_role import Adds, AddsBias, Channels, NoScale, PassesScale, Scales, WeightedSum
from relay.ops.registry import operators, register_operator, unregister_operator

__all__ = [
    "ALONG_AXIS",
    "Adds",
    "AddsBias",
    "AlongAxes",
    "Attributes",
    "AxisAttribute",
    "Broadcasting",
    "ByElement",
    "Channels",
    "Effect",
    "Elementwise",
    "FloatingPointClass",
    "FromTypes",
    "FromValues",
    "FusionKind",
    "HasBatchAxis",
    "IndexFault",
    "KeepsOrder",
    "KernelResult",
    "LayoutAttribute",
    "NoBatchRule",
    "NoCompute",
    "NoFormula",
    "NoScale",
    "NotDifferentiable",
    "NotYetDifferentiable",
    "OperatorRecord",
    "OwnLayout",
    "PassesScale",
    "PerAxisAttributes",
    "PermutesAxes",
    "PrecisionRule",
    "RelationRun",
    "Repeats",
    "RowsTimesMatrix",
    "Scales",
    "StatementFault",
    "TakesEntries",
    "WeightedSum",
    "builder",
    "call",
    "define",
    "frozen",
    "operators",
    "register_operator",
    "unregister_operator",
]

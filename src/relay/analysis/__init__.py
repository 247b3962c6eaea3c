"""Questions about programs."""

from relay.analysis.call_graph import CallGraph, call_graph
from relay.analysis.effects import Effects, ModuleEffects, effects_of, effects_of_call
from relay.analysis.features import Feature, detect_feature
from relay.infer.exhaustiveness import unmatched_cases
from relay.infer.kinds import check_kind
from relay.ir.structural import structural_equal, structural_hash
from relay.ir.traversal import post_order
from relay.ir.type_variables import all_type_vars, bound_type_vars, free_type_vars
from relay.ir.variables import all_vars, bound_vars, free_vars
from relay.ir.well_formed import well_formed

__all__ = [
    "CallGraph",
    "Effects",
    "Feature",
    "ModuleEffects",
    "all_type_vars",
    "all_vars",
    "bound_type_vars",
    "bound_vars",
    "call_graph",
    "check_kind",
    "detect_feature",
    "effects_of",
    "effects_of_call",
    "free_type_vars",
    "free_vars",
    "post_order",
    "structural_equal",
    "structural_hash",
    "unmatched_cases",
    "well_formed",
]

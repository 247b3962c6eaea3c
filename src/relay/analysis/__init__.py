"""Questions about programs."""

from relay.analysis.call_graph import CallGraph, call_graph
from relay.analysis.dtypes import all_dtypes
from relay.analysis.effects import Effects, ModuleEffects, effects_of, effects_of_call
from relay.analysis.features import Feature, detect_feature
from relay.analysis.liveness import Liveness, liveness
from relay.analysis.multiply_adds import get_total_mac_number
from relay.analysis.parts import AnnotatedRegion, annotated_regions, extract_fused_functions
from relay.infer.exhaustiveness import unmatched_cases
from relay.infer.kinds import check_kind
from relay.ir.structural import structural_equal, structural_hash
from relay.ir.traversal import post_order, post_order_visit
from relay.ir.type_variables import all_type_vars, bound_type_vars, free_type_vars
from relay.ir.variables import all_vars, bound_vars, free_vars
from relay.ir.well_formed import well_formed

__all__ = [
    "AnnotatedRegion",
    "CallGraph",
    "Effects",
    "Feature",
    "Liveness",
    "ModuleEffects",
    "all_dtypes",
    "all_type_vars",
    "all_vars",
    "annotated_regions",
    "bound_type_vars",
    "bound_vars",
    "call_graph",
    "check_kind",
    "detect_feature",
    "effects_of",
    "effects_of_call",
    "extract_fused_functions",
    "free_type_vars",
    "free_vars",
    "get_total_mac_number",
    "liveness",
    "post_order",
    "post_order_visit",
    "structural_equal",
    "structural_hash",
    "unmatched_cases",
    "well_formed",
]

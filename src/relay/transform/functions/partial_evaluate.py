"""Evaluate what is known of a program before it runs: PartialEvaluate.

    before: def @power(%n: Nat, %x: float32) -> float32 {
              match (%n) { Z => 1f, S(%m) => multiply(%x, @power(%m, %x)) }
            }
            def @main(%x: float32) { @power(S(S(Z)), %x) }
    after:  def @main(%x: float32) { let %a = multiply(%x, 1f); let %b = multiply(%x, %a); %b }      (@power stays)

Tuples, data cells, functions and refs are followed while their parts are unknown; a match on a known constructor, an
if on a known condition, the projection of a known tuple, the read of a ref whose contents are known and operators on
constants are resolved; known functions are evaluated where they are called, recursive ones along known data, and made
anew for the known parts of their arguments where the recursion depends on the run. The result is in A-normal form;
DeadCodeElimination removes what is not needed any more (refs that are only written, functions that are entered
everywhere). After Roesch et al., "Relay: A High-Level Compiler for Deep Learning" (2019), section 4.3, with a store
that forgets only what may be reached, and with limits.

Effects happen once and in their order; what fails or does not end still does, and this pass always ends. At most
`PartialEvaluationLimits.max_growth` times the operations of the input come out. Not followed: functions with attributes
and those whose declared extents are symbols of their own or `?` (their calls check extents); what a function that is
kept finds in refs; the results of branches that the run takes. Run twice, it may go further than once: the second run
has the limits of a larger program. Floating point: EXACT.
"""

from __future__ import annotations

from relay.infer.infer_type import infer_type
from relay.ir.module import IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import PartialEvaluationLimits, operations_of
from relay.transform.functions.known_values.calls import Calls
from relay.transform.functions.known_values.choices import Choices
from relay.transform.functions.known_values.evaluator import Evaluator, evaluated
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.residual import Residual
from relay.transform.functions.known_values.sites import Site
from relay.transform.functions.known_values.values import is_known
from relay.transform.functions.known_values.variants import Variants

NOT_ENTERED = ("Primitive", "Compiler")


@module_pass(level=1)
def PartialEvaluate(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Evaluate what is known, within the limits for programs that ask for none."""
    return partially_evaluated(module, PartialEvaluationLimits())


def partially_evaluated(module: IRModule, limits: PartialEvaluationLimits) -> IRModule:
    """The module with every function evaluated as far as it is known (`@main` first, while the limits are not used
    up), and with the variants that were made; the same module if nothing was known."""
    module = infer_type(module)
    functions = Functions(module)
    operations = operations_of(module)
    residual = Residual(
        copies=True,
        parts=functions.parts_of,
        max_operations=int((limits.max_growth - 1) * operations) + limits.max_growth_besides,
        steps_left=limits.max_steps_each * operations + limits.max_steps_besides,
    )
    evaluator = Evaluator(functions, residual)
    variants = Variants(functions, residual, evaluator, limits.max_variants, _is_known, _known_name, may_know_less=True)
    evaluator.policy = Calls(functions, residual, evaluator, variants)
    evaluator.choice = Choices(evaluator).value
    changed = dict(module.functions)
    for name in sorted(module.functions, key=lambda each: each.name_hint != "main"):
        if not any(attribute in module[name].attrs for attribute in NOT_ENTERED):
            changed[name] = evaluated(name, functions, evaluator)
    return module.with_functions({**changed, **variants.made})


def _is_known(site: Site) -> bool:
    return any(map(is_known, site.arguments))


def _known_name(site: Site) -> str:
    return f"{site.name}_known"

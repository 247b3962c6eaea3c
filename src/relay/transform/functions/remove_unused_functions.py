"""Leave out functions that nothing reaches: RemoveUnusedFunctions.

    before: def @main(%x: float32) { @f(%x) }   def @f(%x: float32) { exp(%x) }   def @g(%x: float32) { log(%x) }
    after:  def @main(%x: float32) { @f(%x) }   def @f(%x: float32) { exp(%x) }

Reached is what `@main` names, directly or over others; in a module without `@main` every function may be called from
outside, and all stay.
"""

from __future__ import annotations

from relay.analysis.call_graph import call_graph
from relay.ir.expr import GlobalVar
from relay.ir.module import IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass

MAIN = GlobalVar("main")


@module_pass(level=1)
def RemoveUnusedFunctions(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Keep what `@main` reaches."""
    if MAIN not in module:
        return module
    reached = set(call_graph(module).reachable([MAIN]))
    if len(reached) == len(module.functions):
        return module
    return IRModule({name: each for name, each in module.functions.items() if name in reached}, module.type_definitions)

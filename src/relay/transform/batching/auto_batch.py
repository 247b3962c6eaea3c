"""Run independent calls of recursive functions together: AutoBatch. How is said in `batched.py`, which is loaded when
a program has a function that calls itself.
"""

from __future__ import annotations

from relay.analysis.call_graph import call_graph
from relay.base.floating_point import FloatingPointClass
from relay.base.names.loading import when_called
from relay.ir.module import IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass

_batched = when_called("relay.transform.batching.batched", "batched")


@module_pass(level=3, floating_point=FloatingPointClass.ROUNDING)
def AutoBatch(module: IRModule, context: PassContext) -> IRModule:
    """Batch what can be batched."""
    is_recursive = bool(call_graph(module).recursive)
    return _batched(module, context.layouts.dense_blocks, context.rates) if is_recursive else module

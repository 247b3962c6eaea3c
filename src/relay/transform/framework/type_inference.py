"""Find the types of all expressions: InferType.

Every other pass takes typed programs and gives them, and types those that are not; this one is for looking at types.
Floating point: EXACT.
"""

from __future__ import annotations

from relay.infer.infer_type import infer_type
from relay.ir.module import IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass


@module_pass(level=0)
def InferType(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Find the types of all expressions."""
    return infer_type(module)

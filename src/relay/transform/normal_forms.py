"""The normal forms as passes."""

from __future__ import annotations

from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form
from relay.transform.context import PassContext
from relay.transform.framework import function_pass


@function_pass("ToBasicBlockNormalForm", level=1)
def basic_block_normal_form(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Name what crosses scopes."""
    return to_basic_block_normal_form(function)

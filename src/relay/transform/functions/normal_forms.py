"""The normal forms as passes."""

from __future__ import annotations

from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.normalize.a_normal_form import to_a_normal_form
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form
from relay.normalize.continuation_passing import cps_name, direct_name, is_cps, to_cps, un_cps
from relay.normalize.graph_normal_form import to_graph_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import function_pass, module_pass
from relay.transform.functions.remove_unused_functions import MAIN


@function_pass(level=0)
def ToANormalForm(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Name every intermediate value."""
    return to_a_normal_form(function)


@function_pass(level=1)
def ToGraphNormalForm(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Replace pure bindings by sharing, so that what follows sees the data flow."""
    return to_graph_normal_form(function)


@function_pass(level=1)
def ToBasicBlockNormalForm(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Name what crosses scopes."""
    return to_basic_block_normal_form(function)


@module_pass(level=1)
def ToCPS(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Say what comes next by a function: every function `@f` becomes `@f_cps`, and `@main` calls `@main_cps`."""
    if cps_name(MAIN) in module:
        return module
    converted = {cps_name(name): to_cps(function, module) for name, function in module.functions.items()}
    if MAIN in module:
        converted = {MAIN: un_cps(cps_name(MAIN), converted[cps_name(MAIN)]), **converted}
    return module.with_functions(converted)


@module_pass(level=1)
def UnCPS(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Let functions in continuation-passing style be called without it: for every `@f_cps` a function `@f` that takes
    the result out."""
    faces = {
        direct_name(name): un_cps(name, function)
        for name, function in module.functions.items()
        if is_cps(function) and direct_name(name) not in module
    }
    return module.with_functions({**module.functions, **faces}) if faces else module

"""Put the bodies of functions that are marked where they are called: Inline.

    before: def @square(%a: float32, Inline=1) { multiply(%a, %a) }
            def @main(%x: float32) { add(@square(tanh(%x)), @cube(%x)) }
    after:  def @main(%x: float32) { %0 = tanh(%x); add(multiply(%0, %0), @cube(%x)) }       (@square stays)

Those and no others, of any size. Not put in place, though marked: functions that call themselves (over others neither),
generic ones, those that have arguments or a result whose extents the run must check, and what another compiler takes.
One of symbolic extents takes those of the call, where that decides them all and the function checks nothing about them
when it runs. Arguments are evaluated once and in their order, before the body. A function in which a call goes is
walked as CaseOfKnownConstructor does it: what the call hid is known there. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from relay.analysis.call_graph import call_graph
from relay.base.names.loading import when_called
from relay.infer.checks import checks_of, node_checks
from relay.ir.expr import Call, Expr, Function, GlobalVar
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes
from relay.ir.type_traversal import type_symbols
from relay.normalize.a_normal_form import to_a_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import Extents, extents_of_call, function_at
from relay.transform.functions.known_values.functions import Functions

_simplified = when_called("relay.transform.functions.known_values.once", "simplified")

INLINE = "Inline"


@module_pass(level=0)
def Inline(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Put the bodies of functions that are marked where they are called."""
    return calls_in_place(module, lambda _, callee: is_marked(callee))


def is_marked(function: Function) -> bool:
    """Whether a program asks for a function to be put in place."""
    return bool(function.attrs.get(INLINE))


def calls_in_place(module: IRModule, wanted: Callable[[GlobalVar, Function], bool]) -> IRModule:
    """Put the bodies of the functions that are wanted (by name, and as they are by then) where they are called, callees
    first. Recursive and generic ones stay where they are, and those with other attributes than the mark."""
    graph, known = call_graph(module), Functions(module)
    functions = dict(module.functions)
    for component in graph.components:
        for name in component:
            calls = {callee: functions[callee] for callee in graph.callees[name] if callee not in graph.recursive}
            fitting = {
                callee: to_a_normal_form(each) for callee, each in calls.items()
                if _fits(each, module) and wanted(callee, each)
                and not _checks_extents(module.functions[callee], module)
            }  # fmt: skip
            if fitting:
                functions[name] = _simplified(functions[name], known, partial(_for_call, fitting, module))
    return module.with_functions({name: functions[name] for name in module.functions})


def _is_checked(node: Expr, module: IRModule) -> bool:
    """Whether the run must check extents of a call's arguments, or of a function's result."""
    return bool(node_checks(node, module, frozenset()))


def _fits(function: Function, module: IRModule) -> bool:
    type_ = function.checked_type
    if function.attrs.keys() - {INLINE} or function.type_params or type_ is None or _is_checked(function, module):
        return False
    return not any(isinstance(node, Function) and node.attrs.get("Primitive") for node in body_nodes(function))


def _checks_extents(function: Function, module: IRModule) -> bool:
    """Whether a function of symbolic extents says something about them that only the run can tell."""
    type_ = function.checked_type
    return type_ is not None and bool(type_symbols(type_)) and bool(checks_of(function, module))


def _for_call(callees: Mapping[GlobalVar, Function], module: IRModule, call: Call) -> Function | None:
    """A copy of the function that a call calls, with the extents of its arguments; None where the body of none may
    stand for the call."""
    function = callees.get(call.op) if isinstance(call.op, GlobalVar) else None
    if function is None or _is_checked(call, module):
        return None
    extents: Extents | None = {}
    if type_symbols(known_type(function)):
        given = [each.checked_type for each in call.args if each.checked_type is not None]
        params = list(map(known_type, function.params))
        extents = extents_of_call(params, given) if len(given) == len(params) else None
    if extents is None:
        return None
    fresh = function_at(function, extents)
    return fresh if fresh.body.checked_type == call.checked_type else None

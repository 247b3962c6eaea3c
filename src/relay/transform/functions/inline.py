"""Put the bodies of functions that are marked where they are called: Inline.

    before: def @square(%a: float32, Inline=1) { multiply(%a, %a) }
            def @main(%x: float32) { add(@square(tanh(%x)), @cube(%x)) }
    after:  def @main(%x: float32) { let %a = tanh(%x); add(multiply(%a, %a), @cube(%x)) }   (@square stays)

Those and no others, of any size. Not put in place, though marked: functions that call themselves (over others neither),
generic ones, those that have arguments or a result whose extents the run must check, and what another compiler takes.
One of symbolic extents takes those of the call, where that decides them all and the function checks nothing about them
when it runs. Arguments are evaluated once and in their order, before the body. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from relay.analysis.call_graph import call_graph
from relay.infer.checks import checks_of, node_checks
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar, Let, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.traversal import post_order
from relay.ir.type_traversal import type_symbols
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied, extents_of_call, function_at

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
    graph = call_graph(module)
    functions = dict(module.functions)
    recursive = {name for name in functions if name in graph.callees[name]}
    recursive.update(name for component in graph.components if len(component) > 1 for name in component)
    for component in graph.components:
        for name in component:
            calls = {callee: functions[callee] for callee in graph.callees[name] if callee not in recursive}
            fitting = {
                callee: each for callee, each in calls.items()
                if _fits(each, module) and wanted(callee, each)
                and not _checks_extents(module.functions[callee], module)
            }  # fmt: skip
            if fitting:
                functions[name] = _with_bodies(functions[name], fitting, module)
    return module.with_functions({name: functions[name] for name in module.functions})


def _is_checked(node: Expr, module: IRModule) -> bool:
    """Whether the run must check extents of a call's arguments, or of a function's result."""
    return bool(node_checks(node, module, frozenset()))


def _fits(function: Function, module: IRModule) -> bool:
    type_ = function.checked_type
    if function.attrs.keys() - {INLINE} or function.type_params or type_ is None or _is_checked(function, module):
        return False
    return not any(isinstance(node, Function) and node.attrs.get("Primitive") for node in post_order(function.body))


def _checks_extents(function: Function, module: IRModule) -> bool:
    """Whether a function of symbolic extents says something about them that only the run can tell."""
    type_ = function.checked_type
    return type_ is not None and bool(type_symbols(type_)) and bool(checks_of(function, module))


def _with_bodies(function: Function, callees: Mapping[GlobalVar, Function], module: IRModule) -> Function:
    def step(expr: Expr) -> Expr:
        match expr:
            case Call(op=GlobalVar() as name, args=args) if name in callees and not _is_checked(expr, module):
                fresh = _for_call(callees[name], args)
                return expr if fresh is None else _in_place(fresh, args)
            case _:
                return expr

    return rewrite_nodes(function, lambda _, expr: step(expr))


def _for_call(function: Function, args: tuple[Expr, ...]) -> Function | None:
    """A copy for one call, with the extents of its arguments; None when these do not decide the function's own."""
    type_ = function.checked_type
    if type_ is None or not type_symbols(type_):
        return copied(function)
    params, given = [each.checked_type for each in function.params], [each.checked_type for each in args]
    known = [each for each in (*params, *given) if each is not None]
    extents = extents_of_call(known[: len(params)], known[len(params) :]) if len(known) == 2 * len(params) else None
    return None if extents is None else function_at(function, extents)


def _in_place(fresh: Function, args: tuple[Expr, ...]) -> Expr:
    """The body with variables for its parameters; arguments that cost nothing stand for themselves."""
    free: dict[Expr, Expr] = {}
    bound: list[tuple[Var, Expr]] = []
    for var, arg in zip(fresh.params, args, strict=True):
        if isinstance(arg, Var | Constant | GlobalVar):
            free[var] = arg
        else:
            bound.append((var, arg))
    body = rewrite_nodes(fresh, lambda _, expr: free.get(expr, expr)).body
    for var, arg in reversed(bound):
        body = typed_as(Let(var, arg, body), body)
    return body

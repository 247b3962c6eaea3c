"""Interprocedural constant propagation into recursive functions: PropagateConstantArguments.

    before: def @f(%n: int32, %w: float32) -> float32 { if (%n == 0) { %w } else { @f(%n - 1, %w) } }
            def @main(%n: int32) { @f(%n, 2f) }
    after:  def @f_given(%n: int32) -> float32 { if (%n == 0) { 2f } else { @f_given(%n - 1) } }
            def @main(%n: int32) { @f_given(%n) }                                          (@f stays)

A parameter is given away when every call from outside hands over one and the same constant and every call from inside
hands on the parameter itself. So weights are constants inside recursive functions, where they can be packed and need
not be passed. A function that is used as a value keeps its parameters, and so does one of any type or extent, where
the constant has one. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Iterator

from relay.analysis.call_graph import call_graph
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Call, Constant, Expr, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import body_nodes, children
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied


@module_pass(level=2)
def PropagateConstantArguments(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Specialise functions that call themselves to the constants they are called with."""
    graph = call_graph(module)
    functions = dict(module.functions)
    names = FreshNames(module.__contains__)
    for component in reversed(graph.components):  # callers first: what they are given goes on to their callees
        if len(component) != 1 or component[0] not in graph.recursive:
            continue
        (name,) = component
        given = _given(name, functions)
        if given:
            new = GlobalVar(names.take(f"{name.name_hint}_given"))
            functions[new] = _specialised(functions[name], name, new, given)
            for caller, function in list(functions.items()):
                if caller not in (name, new):
                    functions[caller] = _calling(function, name, new, given)
    return module.with_functions(functions)


def _given(name: GlobalVar, functions: dict[GlobalVar, Function]) -> dict[int, Constant]:
    """The positions of parameters that always get one constant, and that constant."""
    function = functions[name]
    found: dict[int, Constant] = {}
    open_ = set(range(len(function.params)))
    for caller, each in functions.items():
        for call in _uses(each, name):
            if call is None:
                return {}
            for position in list(open_):
                argument = call.args[position]
                if caller == name:
                    fits = argument is function.params[position]
                elif isinstance(argument, Constant) and argument.checked_type == function.params[position].checked_type:
                    fits = found.setdefault(position, argument).data is argument.data
                else:  # also what is a constant of one type where the function takes any
                    fits = False
                if not fits:
                    open_.discard(position)
    return {position: found[position] for position in sorted(open_) if position in found}


def _uses(function: Function, name: GlobalVar) -> Iterator[Call | None]:
    """The calls of `name`; None for a use that is no call."""
    for node in body_nodes(function):
        if isinstance(node, Call) and node.op == name:
            yield node
        parts = node.args if isinstance(node, Call) else children(node)
        if name in parts:
            yield None


def _specialised(function: Function, name: GlobalVar, new: GlobalVar, given: dict[int, Constant]) -> Function:
    fresh = copied(_calling(function, name, new, given))
    constants: dict[Expr, Expr] = {fresh.params[position]: constant for position, constant in given.items()}
    params = tuple(each for each in fresh.params if each not in constants)
    body = rewrite_nodes(fresh, lambda _, expr: constants.get(expr, expr)).body
    return Function(params, body, fresh.ret_type, fresh.type_params, fresh.attrs, span=fresh.span)


def _calling(function: Function, name: GlobalVar, new: GlobalVar, given: dict[int, Constant]) -> Function:
    """The function with calls of `new`, without what it was given, in place of calls of `name`."""

    def step(expr: Expr) -> Expr:
        match expr:
            case Call(op=GlobalVar() as callee, args=args) if callee == name:
                kept = tuple(argument for position, argument in enumerate(args) if position not in given)
                return Call(new, kept, span=expr.span)
            case _:
                return expr

    return rewrite_nodes(function, lambda _, expr: step(expr))

"""Functions that are handed to a derivative, inside what is differentiated.

    before: grad(@apply, wrt=1)(%f, %x)
    after:  grad(fn (%x: float32) { @apply(%f, %x) }, wrt=0)(%x)

A function is no value that a derivative could take; what it takes along is constant, as all that is around what is
differentiated. Floating point: EXACT.
"""

from __future__ import annotations

from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Var
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite
from relay.ir.traversal import body_nodes, children, post_order, rebuild
from relay.ir.types import FuncType, Type, type_parts
from relay.ops.transformations import WrtAttributes, places_of, transformation_of


def with_functions_inside(module: IRModule) -> IRModule:
    """The typed module, in which derivatives take no functions where they are called; not yet typed anew."""
    return module.with_functions({name: _inside(each, module) for name, each in module.functions.items()})


def _inside(function: Function, module: IRModule) -> Function:
    nodes = body_nodes(function)
    taking: dict[Expr, FuncType] = {}
    for node in nodes:
        if isinstance(node, Call) and transformation_of(node) and isinstance(node.attrs, WrtAttributes):
            type_ = _type(node.args[0], module)
            if any(map(_is_function, type_.arg_types)):
                taking[node] = type_
    if not taking:
        return function
    bound = {node.var: node.value for node in nodes if isinstance(node, Let)}
    done: dict[Expr, Expr] = {}
    for node in nodes:
        done[node] = made = rebuild(node, [done[part] for part in children(node)])
        if isinstance(node, Call) and isinstance(made, Call):
            callee = bound.get(node.op, node.op) if isinstance(node.op, Var) else node.op
            if callee in taking:
                done[node] = _with_function(made, callee, taking[callee])
    body = done[function.body]
    used = {node for node in post_order(body) if isinstance(node, Var)}

    def without_unused(node: Expr) -> Expr:
        return node.body if isinstance(node, Let) and node.value in taking and node.var not in used else node

    body = rewrite(body, without_unused)
    own = function.type_params, function.attrs
    return Function(function.params, body, function.ret_type, *own, span=function.span)


def _type(function: Expr, module: IRModule) -> FuncType:
    type_ = module[function].checked_type if isinstance(function, GlobalVar) else function.checked_type
    assert isinstance(type_, FuncType)
    return type_


def _is_function(type_: Type) -> bool:
    return any(isinstance(part, FuncType) for part in type_parts(type_))


def _with_function(call: Call, derivative: Expr, type_: FuncType) -> Call:
    assert isinstance(derivative, Call)
    count = len(type_.arg_types)
    left = [at for at, each in enumerate(type_.arg_types) if not _is_function(each)]
    params = {at: Var(f"x{at}", type_.arg_types[at], span=call.span) for at in left}
    inner = tuple(params.get(at, arg) for at, arg in enumerate(call.args[:count]))
    whole = Function(tuple(params.values()), Call(derivative.args[0], inner, span=call.span), span=derivative.span)
    assert isinstance(derivative.attrs, WrtAttributes)
    wrt = derivative.attrs.wrt
    places = tuple(left.index(at) for at in places_of(wrt, count))
    attributes = WrtAttributes(places[0] if isinstance(wrt, int) else places)
    made = Call(derivative.op, (whole,), attributes, span=derivative.span)
    return Call(made, (*(call.args[at] for at in left), *call.args[count:]), span=call.span)

"""Functions with a pullback of their own, while a program may be differentiated and afterwards.

    before: custom_gradient(%f, %back)
    between: fn (%x) {
               let %value = %f(%x); let %cotangent = its_cotangent(%value);
               let %cotangents = %back(%x, %value, %cotangent);
               with_pullback(%value, (%x,), %cotangent, %cotangents)
             }
    after:  fn (%x) { let %value = %f(%x); %value }

Between the two, passes and derivatives see plain calls, whose parts belong together by what they name.
Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.names.fresh_names import FreshNames
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Op, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions, rewrite_nodes
from relay.ir.traversal import body_nodes, children
from relay.ir.types import FuncType, TensorType, TupleType, Type
from relay.ops.creation.create import zeros_like
from relay.ops.transformations import CUSTOM_GRADIENT, ITS_COTANGENT, WITH_PULLBACK
from relay.transform.functions.remove_unused_functions import MAIN


def with_own_pullback(call: Call, function: Expr, pullback: Expr) -> Function:
    """What a call of `custom_gradient` gives, while that matters."""
    type_ = call.checked_type
    assert isinstance(type_, FuncType)
    params = tuple(Var(f"x{at}", each) for at, each in enumerate(type_.arg_types))
    value, cotangent, cotangents = Var("value"), Var("cotangent"), Var("cotangents")
    body: Expr = Call(Op(WITH_PULLBACK), (value, Tuple(params), cotangent, cotangents))
    body = Let(cotangents, Call(pullback, (*params, value, cotangent), span=call.span), body)
    body = Let(cotangent, Call(Op(ITS_COTANGENT), (value,)), body)
    body = Let(value, Call(function, params, span=call.span), body)
    return Function(params, body, type_.ret_type, span=call.span)


def joined(function: IRModule, pullback: IRModule) -> IRModule:
    """The module whose `@main` is the `@main` of one, with that of another as its pullback."""
    names = FreshNames(lambda name: name == MAIN.name_hint, "_", 0)
    functions: dict[GlobalVar, Function] = {}
    both: list[GlobalVar] = []
    for module, title in ((function, "function"), (pullback, "pullback")):
        own = {each: GlobalVar(names.take(title if each == MAIN else each.name_hint)) for each in module}
        functions |= renamed_functions(infer_type(module).functions, own)
        both.append(own[MAIN])
    params = tuple(Var(each.name_hint, known_type(each), span=each.span) for each in functions[both[0]].params)
    main = Function(params, Call(Call(Op(CUSTOM_GRADIENT), tuple(both)), params))
    return IRModule({**functions, MAIN: main}, {**function.type_definitions, **pullback.type_definitions})


def without_own_pullbacks(module: IRModule) -> IRModule:
    """The program, which nothing will differentiate: values without their pullbacks."""
    functions = {name: _without(each) for name, each in module.functions.items()}
    if all(each is module.functions[name] for name, each in functions.items()):
        return module
    return infer_type(module.with_functions(functions))


def _without(function: Function) -> Function:
    nodes = body_nodes(function)
    if not any(_is_call_of(node, WITH_PULLBACK, ITS_COTANGENT) for node in nodes):
        return function
    later = _of_cotangents(nodes)

    def step(node: Expr, rebuilt: Expr) -> Expr:
        match rebuilt:
            case Let(_, _, body) if isinstance(node, Let) and node.value in later:
                return body
            case Call(args=(value, *_)) if _is_call_of(node, WITH_PULLBACK):
                return value
            case Call(args=(value,)) if _is_call_of(node, ITS_COTANGENT):
                return _zeros(value, known_type(value))
            case _:
                return rebuilt

    return rewrite_nodes(function, step)


def _of_cotangents(nodes: Sequence[Expr]) -> set[Expr]:
    """What depends on cotangents that the way back would have."""
    bound = {node.var: node.value for node in nodes if isinstance(node, Let)}
    found: set[Expr] = set()
    for node in nodes:
        match node:
            case Var():
                depends = bound.get(node) in found
            case Let(_, _, body):
                depends = body in found
            case _:
                of_parts = not _is_call_of(node, WITH_PULLBACK) and any(each in found for each in children(node))
                depends = of_parts or _is_call_of(node, ITS_COTANGENT)
        if depends:
            found.add(node)
    return found


def _zeros(value: Expr, type_: Type) -> Expr:
    match type_:
        case TensorType(_, dtype) if dtype.is_float:
            return zeros_like(value)
        case TupleType(fields):
            return Tuple(tuple(_zeros(TupleGetItem(value, at), each) for at, each in enumerate(fields)))
        case _:
            return Tuple(())


def _is_call_of(node: Expr, *operators: object) -> bool:
    return isinstance(node, Call) and isinstance(node.op, Op) and any(node.op.operator is each for each in operators)

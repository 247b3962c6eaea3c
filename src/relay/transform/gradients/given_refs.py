"""Refs that a function takes, which its derivative takes, too: what they hold is what it is differentiated by.

    before: def @main(%r: ref(float32), %x: float32) { %r := multiply(%r^, %x); %r^ }
    apart:  def @main(%r: float32, %x: float32) {
              let %ref = ref(%r); let %value = @main_of_refs(%ref, %x); (%value, (%ref^,))
            }
    after:  def @main(%r: ref(float32), %x: float32) {
              let %whole = @main_of_contents(%r^, %x); %r := %whole.0.1.0; (%whole.0.0, %whole.1)
            }

So a ref's cotangent and tangent are those of what it holds when the function is called; when the derivative is done it
holds what the function leaves in it, once. Refs that come in are different ones. Floating point: EXACT.
"""

from __future__ import annotations

from relay.autodiff.chain import Chain
from relay.base.names.fresh_names import FreshNames
from relay.infer.infer_type import infer_type
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    GlobalVar,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.operator import Operator
from relay.ir.rewriting import renamed_functions
from relay.ir.types import FuncType, RefType, TupleType
from relay.ops.transformations import JVP, LINEARIZE
from relay.transform.functions.remove_unused_functions import MAIN


def takes_refs(module: IRModule) -> bool:
    """Whether the `@main` of a typed module takes refs."""
    return any(isinstance(known_type(each), RefType) for each in module[MAIN].params)


def with_contents(module: IRModule) -> IRModule:
    """The typed module whose `@main` takes what refs hold in their places, and gives what they hold in the end behind
    its value: `(value, (one for each ref,))`."""
    main = module[MAIN]
    chain = Chain()
    params: list[Var] = []
    args: list[Expr] = []
    refs: list[Expr] = []
    for each in main.params:
        type_ = known_type(each)
        param = Var(each.name_hint, type_.value if isinstance(type_, RefType) else type_, span=each.span)
        params.append(param)
        args.append(chain.bind("ref", RefCreate(param)) if isinstance(type_, RefType) else param)
        refs += [args[-1]] if isinstance(type_, RefType) else []
    functions, inner = _under_another_name(module, "main_of_refs")
    value = chain.bind("value", Call(inner, tuple(args), span=main.span))
    body = chain.before(Tuple((value, Tuple(tuple(map(RefRead, refs))))))
    return infer_type(
        IRModule({**functions, MAIN: Function(tuple(params), body, span=main.span)}, module.type_definitions)
    )


def on_refs(module: IRModule, derived: IRModule, transformation: Operator) -> IRModule:
    """A derivative of what `with_contents` gave for `module`, which takes refs as `module` does, and leaves in them
    what that leaves."""
    inner_main, main = derived[MAIN], module[MAIN]
    own = tuple(Var(each.name_hint, known_type(each), span=each.span) for each in main.params)
    more = tuple(Var(each.name_hint, known_type(each), span=each.span) for each in inner_main.params[len(own) :])
    refs = [each for each in own if isinstance(each.type_annotation, RefType)]
    functions, inner = _under_another_name(derived, "main_of_contents")
    chain = Chain()
    given = [RefRead(each) if each in refs else each for each in own]
    whole = chain.bind("whole", Call(inner, (*given, *more), span=main.span))
    both, by_parameters = (chain.bind(hint, TupleGetItem(whole, at)) for at, hint in enumerate(("both", "by")))
    held = chain.bind("held", TupleGetItem(both, 1))
    for at, each in enumerate(refs):
        chain.bind("written", RefWrite(each, TupleGetItem(held, at)))
    result = Tuple((TupleGetItem(both, 0), _of_value(by_parameters, inner_main, transformation)))
    made = Function((*own, *more), chain.before(result), None, main.type_params, main.attrs, span=main.span)
    return infer_type(IRModule({**functions, MAIN: made}, derived.type_definitions))


def _of_value(found: Expr, derived: Function, transformation: Operator) -> Expr:
    """What a derivative gives beside the value: cotangents of the parameters, or the tangent of the value without those
    of what refs hold, or a function that gives that."""
    type_ = known_type(derived.body)
    assert isinstance(type_, TupleType)
    match type_.fields[1]:
        case FuncType(arg_types) if transformation is LINEARIZE:
            params = tuple(Var("d", each) for each in arg_types)
            return Function(params, TupleGetItem(Call(found, params), 0))
        case TupleType(fields) if transformation is not JVP:
            return Tuple(tuple(TupleGetItem(found, at) for at in range(len(fields))))
        case _:
            return TupleGetItem(found, 0)


def _under_another_name(module: IRModule, title: str) -> tuple[dict[GlobalVar, Function], GlobalVar]:
    """The functions of a module with `@main` under a name that is free."""
    inner = GlobalVar(FreshNames(module.__contains__, "_", 0).take(title))
    return renamed_functions(module.functions, {MAIN: inner}), inner

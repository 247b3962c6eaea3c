"""A program some of whose arguments are known, reduced to what the others decide.

    before: def @main(%n: int32, %x: float32) {
              if (%n == 0) { 1f } else { multiply(%x, @main(%n - 1, %x)) }
            }
    after:  def @main(%x: float32) { let %a = multiply(%x, 1f); multiply(%x, %a) }                       (%n known as 2)

The known arguments become bindings in front of the body, PartialEvaluate follows them with the limits of
`ASKED_FOR`, and what nothing needs or reaches any more goes. Functions that call `@main` call it as it was. Floating
point: EXACT.
"""

from __future__ import annotations

from collections.abc import Mapping

from relay.base.names.fresh_names import FreshNames
from relay.infer.checks import checks_of
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions
from relay.ir.types import Type
from relay.transform.functions.budgets import ASKED_FOR
from relay.transform.functions.extents import Extents, function_at, type_at
from relay.transform.functions.partial_evaluate import partially_evaluated
from relay.transform.functions.remove_unused_functions import MAIN, RemoveUnusedFunctions
from relay.transform.simplify.dead_code_elimination import DeadCodeElimination


def specialized(module: IRModule, known: Mapping[int, Expr], extents: Extents) -> IRModule:
    """The module whose `@main` has no longer the parameters at the places `known`, which are these expressions.
    `extents` are what the symbols in their types are."""
    names = FreshNames({each.name_hint for each in module}.__contains__, "_", 0)
    original = GlobalVar(names.take("unspecialized"))
    module = infer_type(IRModule(renamed_functions(module.functions, {MAIN: original}), module.type_definitions))
    bound = infer_type(module.with_function(MAIN, _bound(module, original, known, extents)))
    reduced = infer_type(partially_evaluated(bound, ASKED_FOR))
    return RemoveUnusedFunctions(DeadCodeElimination(reduced))


def _bound(module: IRModule, name: GlobalVar, known: Mapping[int, Expr], extents: Extents) -> Function:
    """The function without the parameters that are known. One that has checks of extents, which its types at other
    extents would lose, is called."""
    function = module[name]
    if extents and checks_of(function, module):
        params = tuple(Var(each.name_hint, _at(known_type(each), extents)) for each in function.params)
        body: Expr = Call(name, params, span=function.span)
        ret_type = None
    else:
        copy = function_at(function, extents)
        params, body, ret_type = copy.params, copy.body, copy.ret_type
    for at, value in known.items():
        body = Let(params[at], value, body)
    kept = tuple(each for at, each in enumerate(params) if at not in known)
    return Function(kept, body, ret_type, function.type_params, function.attrs, span=function.span)


def _at(type_: Type, extents: Extents) -> Type:
    return type_at(type_, lambda symbol: extents.get(symbol, symbol))

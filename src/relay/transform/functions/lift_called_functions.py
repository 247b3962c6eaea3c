"""Make functions that are only called global, without a closure: LiftCalledFunctions.

    before: def @main(%n: int32, %k: float32) {
              let %loop = fn (%i: int32, %x: float32) -> float32 {
                if (%i == 0) { %x } else { %loop(%i - 1, multiply(%x, %k)) }
              };
              %loop(%n, %k)
            }
    after:  def @main(%n: int32, %k: float32) { @main_loop(%k, %n, %k) }
            def @main_loop(%k: float32, %i: int32, %x: float32) -> float32 {
              if (%i == 0) { %x } else { @main_loop(%k, %i - 1, multiply(%x, %k)) }
            }

What a function takes from around it, and what the functions that it calls take, become parameters (Johnsson, "Lambda
lifting: transforming programs to recursive equations" (1985)). So nothing is made where such a function is defined, be
it in every turn of a loop, and its calls are known wherever they stand. LambdaLift makes all functions global, those
that are values too, and leaves closures; this one leaves values alone. Not lifted: functions with attributes, generic
ones, those that would get many parameters, those with extents of the function around them that no parameter tells, and
those that are called at other extents than theirs: there the run compares, which it would no longer where a call says
what the extents are. Values that cross scopes are named first (basic-block normal form), so nothing is computed twice.
Floating point: EXACT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from relay.arith.expr import Symbol
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import children, post_order
from relay.ir.type_traversal import free_type_leaves, has_extents_of, is_closed
from relay.ir.types import TensorType
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.lifting import Lifting, captures_of, tells_extents


@module_pass(level=2)
def LiftCalledFunctions(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Make functions that are only called global, with what they take from around them as parameters."""
    lifting = Lifting(FreshNames(module.__contains__), {})
    functions = {name: _without_called(name, function, lifting) for name, function in module.functions.items()}
    return module.with_functions({**functions, **lifting.functions}) if lifting.functions else module


def _without_called(name: GlobalVar, function: Function, lifting: Lifting) -> Function:
    if function.attrs or not _only_called(function):
        return function
    normal = to_basic_block_normal_form(function)
    lifted = {var: lifting.lifted(name, var, each) for var, each in _captures(_only_called(normal)).items()}

    def step(_: Expr, rebuilt: Expr) -> Expr:
        match rebuilt:
            case Let(var, Function() as value, body) if var in lifted:
                lifting.lift_called(lifted[var], value)
                return body
            case Call(op=Var() as callee) if callee in lifted:
                return lifted[callee].called(rebuilt)
            case _:
                return rebuilt

    return rewrite_nodes(normal, step) if lifted else function


def _only_called(function: Function) -> dict[Var, Function]:
    """The functions inside that are bound by lets and used in no other way than by calling them, outer and earlier ones
    first."""
    nodes = post_order(function.body)
    lets = [node for node in reversed(nodes) if isinstance(node, Let)]
    found = {let.var: let.value for let in lets if isinstance(let.value, Function) and _is_liftable(let.value)}
    if not found:
        return found
    bindings = Counter(let.value for let in lets)
    used: set[Expr] = {function.body}
    for node in nodes:
        used.update(node.args if isinstance(node, Call) else children(node))
    moved = {node.op for node in nodes if isinstance(node, Call) and node.op in found and _compares(node, found)}
    return {var: each for var, each in found.items() if var not in used and var not in moved and bindings[each] == 1}


def _compares(call: Call, functions: Mapping[Var, Function]) -> bool:
    """Whether a call is at types that the run must compare with those of the parameters, which have symbols."""
    assert isinstance(call.op, Var)
    pairs = zip((each.checked_type for each in call.args), map(known_type, functions[call.op].params), strict=True)
    return any(given != type_ and not is_closed(type_) for given, type_ in pairs)


def _is_liftable(function: Function) -> bool:
    type_ = function.checked_type
    plain = not function.attrs and not function.type_params and type_ is not None and not free_type_leaves(type_)
    return plain and tells_extents(function, None)


def _captures(functions: Mapping[Var, Function]) -> dict[Var, tuple[Var, ...]]:
    """For each function that can be lifted the variables that it needs: its own from around it, and those of the
    functions that it calls. These are earlier ones, or around it."""
    free = {var: captures_of(function, var) for var, function in functions.items()}
    lifted = dict(functions)
    while True:
        found: dict[Var, tuple[Var, ...]] = {}
        for var in lifted:
            needed = dict.fromkeys(each for name in free[var] for each in found.get(name, (name,)))
            found[var] = tuple(needed)
        refused = {var for var in lifted if not _may_be_parameters(found[var], functions[var])}
        if not refused:
            return found
        lifted = {var: each for var, each in lifted.items() if var not in refused}


def _may_be_parameters(captures: tuple[Var, ...], function: Function) -> bool:
    """Whether variables may become parameters beside those of a function: together they are not many, and the
    tensors among them tell all extents in its type and theirs."""
    params = [known_type(each) for each in (*captures, *function.params)]
    if len(params) > BUDGETS.lifted_parameters:
        return False
    extents = (extent for type_ in params if isinstance(type_, TensorType) for extent in type_.shape)
    told = {extent for extent in extents if isinstance(extent, Symbol)}
    types = (*params, known_type(function))
    return all(not free_type_leaves(each) and has_extents_of(each, told) for each in types)

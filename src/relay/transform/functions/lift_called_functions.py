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
that are values too, and leaves closures; this one leaves values alone. Generic functions, and those inside generic
ones, become generic. Not lifted: functions with attributes, those that would get many
parameters, those with extents of the function around them that no parameter tells, and those that are called at other
extents than theirs: there the run compares, which it would no longer where a call says what the extents are. Values
that cross scopes are named first (basic-block normal form), so nothing is computed twice. Floating point: EXACT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from relay.arith.expr import Symbol
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Let, Op, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.traversal import body_nodes, children, post_order
from relay.ir.type_traversal import free_type_leaves, has_extents_of, instantiated, is_closed, type_leaves, type_symbols
from relay.ir.types import FuncType, IncompleteType, TensorType, Type, TypeVar
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
    inner = _only_called(normal)
    taken = _captures(inner, normal.params)
    around = _around(inner, taken)
    lifted = {var: lifting.lifted(name, var, each, around[var]) for var, each in taken.items()}

    def step(node: Expr, rebuilt: Expr) -> Expr:
        match node, rebuilt:
            case _, Let(var, Function() as value, body) if var in lifted:
                lifting.lift_called(lifted[var], value)
                return body
            case Call(type_args=type_args), Call(op=Var() as callee) if callee in lifted:
                return lifted[callee].called(rebuilt, tuple(type_args))
            case _:
                return rebuilt

    return rewrite_nodes(normal, step) if lifted else function


def _only_called(function: Function) -> dict[Var, Function]:
    """The functions inside that are bound by lets and used in no other way than by calling them, outer and earlier ones
    first."""
    nodes = body_nodes(function)
    lets = [node for node in reversed(nodes) if isinstance(node, Let)]
    functions = ((let.var, let.value) for let in lets if isinstance(let.value, Function))
    found = {var: each for var, each in functions if _is_liftable(each, function.params)}
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
    function = functions[call.op]
    types = dict(zip(_type_params(function), call.type_args, strict=False))
    params = (instantiated(known_type(each), types) for each in function.params)
    pairs = zip((each.checked_type for each in call.args), params, strict=True)
    return any(given != type_ and not is_closed(type_) for given, type_ in pairs)


def _is_liftable(function: Function, around: Sequence[Var]) -> bool:
    return not function.attrs and _is_known(function.checked_type) and tells_extents(function, None, around)


def _type_params(function: Function) -> tuple[TypeVar, ...]:
    """Those that are written out, or that inference found."""
    type_ = known_type(function)
    return type_.type_params if isinstance(type_, FuncType) else ()


def _is_known(type_: Type | None) -> bool:
    return type_ is not None and not any(isinstance(leaf, IncompleteType) for leaf in type_leaves(type_))


def _captures(functions: Mapping[Var, Function], around: Sequence[Var]) -> dict[Var, tuple[Var, ...]]:
    """For each function that can be lifted the variables that it needs: its own from around it, those parameters of
    `around` that tell its extents, and those of the functions that it calls. These are earlier ones, or around it."""
    free: dict[Var, tuple[Var, ...]] = {}
    for var, function in functions.items():
        captures = captures_of(function, var)
        free[var] = (*captures, *_witnesses(function, captures, around))
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
    told = {symbol for each in params for symbol in _told(each)}
    types = (*params, known_type(function))
    return all(_is_known(each) and has_extents_of(each, told) for each in types)


def _witnesses(function: Function, captures: Sequence[Var], around: Sequence[Var]) -> list[Var]:
    """The parameters that tell extents in a function which nothing that it takes tells."""
    values = (node for node in post_order(function) if not isinstance(node, Op | Constructor) and node.checked_type)
    missing = {symbol for node in values for symbol in type_symbols(known_type(node))}
    missing -= {symbol for each in (*captures, *function.params) for symbol in _told(known_type(each))}
    found: list[Var] = []
    for each in around:
        if missing & _told(known_type(each)):
            missing -= _told(known_type(each))
            found.append(each)
    return found


def _told(type_: Type) -> set[Symbol]:
    """The extents that hold where there is a value of a type."""
    return {extent for extent in type_.shape if isinstance(extent, Symbol)} if isinstance(type_, TensorType) else set()


def _around(functions: Mapping[Var, Function], lifted: Mapping[Var, tuple[Var, ...]]) -> dict[Var, tuple[TypeVar, ...]]:
    """For each function that is lifted the type variables from around it that it needs, and those that the functions
    that it calls need."""
    found: dict[Var, tuple[TypeVar, ...]] = {}
    for var, captures in lifted.items():
        nodes = post_order(functions[var])
        own = {each for node in nodes if isinstance(node, Function) for each in _type_params(node)}
        types = (node.checked_type for node in (*captures, *nodes) if not isinstance(node, Op | Constructor))
        named = (leaf for type_ in types if type_ is not None for leaf in free_type_leaves(type_))
        called = (each for node in nodes if isinstance(node, Var) for each in found.get(node, ()))
        needed = dict.fromkeys(each for each in (*named, *called) if isinstance(each, TypeVar) and each not in own)
        found[var] = tuple(needed)
    return found

"""Functions inside functions as global ones: lambda lifting (Johnsson 1985).

What a function takes from around it, its captures, becomes the first parameters of a global function. That either does
the work at once, where all uses are calls (`lift_called`), or gives the closure, where the function is a value too
(`lift_closure`): LiftCalledFunctions and LambdaLift. SpecializeFunctions needs no lifting: copies for closures are
variants, whose parameters are what is not known of these.
"""

from __future__ import annotations

from collections.abc import Iterable

from relay.arith.expr import Symbol
from relay.base.frozen import frozen
from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, Op, Var, record_type
from relay.ir.known_types import known_type, typed_var
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.traversal import body_nodes, post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.type_variables import free_type_vars
from relay.ir.types import FuncType, Type, TypeVar
from relay.ir.variables import free_vars
from relay.transform.functions.extents import copied


@frozen(eq=False)
class Lifted:
    """The global function that one inside another becomes; the variables, and the type variables, from around that one,
    which it takes."""

    name: GlobalVar
    captures: tuple[Var, ...]
    around: tuple[TypeVar, ...] = ()

    def called(self, call: Call, type_args: tuple[Type, ...] = ()) -> Call:
        """The call of the function that was inside, at the types `type_args` where it is generic."""
        types = (*self.around, *type_args)
        return Call(self.name, (*self.captures, *call.args), type_args=types, span=call.span)


@frozen
class Lifting:
    """The functions that were made of functions inside others."""

    names: FreshNames
    functions: dict[GlobalVar, Function]

    def lifted(
        self, outer: GlobalVar, own: Var | None, captures: Iterable[Var], around: Iterable[TypeVar] = ()
    ) -> Lifted:
        """A name for a function inside `outer` that is bound to `own`."""
        name = self.names.take(f"{outer.name_hint}_{own.name_hint if own else 'fn'}")
        return Lifted(GlobalVar(name), tuple(captures), tuple(around))

    def lift_called(self, lifted: Lifted, function: Function) -> None:
        """Make the function that does at once what `function` does. Its types are written out."""
        params = (*lifted.captures, *function.params)
        given = {each: typed_var(each.name_hint, known_type(each)) for each in params}
        body = rewrite_nodes(function, lambda _, new: given.get(new, new) if isinstance(new, Var) else new).body
        signature = known_type(function)
        assert isinstance(signature, FuncType)
        own, type_params = tuple(given.values()), (*lifted.around, *signature.type_params)
        whole = Function(own, body, signature.ret_type, type_params, span=function.span)
        type_ = FuncType(tuple(map(known_type, own)), signature.ret_type, type_params)
        self.functions[lifted.name] = copied(record_type(whole, type_))

    def lift_closure(self, lifted: Lifted, function: Function, own: Var | None) -> Expr:
        """Make the function that gives `function`, which knows itself as `own`, as a value; gives that value. A
        function that takes nothing is global as it is."""
        value: Expr = Call(lifted.name, lifted.captures, span=function.span) if lifted.captures else lifted.name
        whole = function
        if own is not None:
            function = whole = rewrite_nodes(function, lambda _, new: value if new is own else new)
        if lifted.captures:
            whole = Function(lifted.captures, function.with_attr("Closure", 1), span=function.span)
        self.functions[lifted.name] = copied(_quantified(whole, (*lifted.captures, function)))
        return typed_as(value, function)


def captures_of(function: Function, own: Var | None) -> tuple[Var, ...]:
    """What a function takes from around it, but for the variable by which it knows itself."""
    return tuple(each for each in free_vars(function) if each is not own)


def tells_extents(function: Function, own: Var | None, given: Iterable[Var] = ()) -> bool:
    """Whether the extents in what a function computes are told by what it takes, from its caller and from around it, or
    by what is `given` to it besides."""
    inside = [node for node in body_nodes(function) if not isinstance(node, Op | Constructor)]
    functions = (node for node in inside if isinstance(node, Function))
    takers = (*given, *function.params, *free_vars(function), *(param for each in functions for param in each.params))
    told = {symbol for each in takers if each is not own for symbol in _symbols(each)}
    return all(told.issuperset(_symbols(node)) for node in inside if node is not own)


def _symbols(node: Expr) -> tuple[Symbol, ...]:
    return () if node.checked_type is None else type_symbols(node.checked_type)


def _quantified(function: Function, typed: tuple[Expr, ...]) -> Function:
    """The function, generic in the type variables of its surroundings."""
    own = {each for node in post_order(function) if isinstance(node, Function) for each in node.type_params}
    types = [each.checked_type for each in typed if each.checked_type is not None]
    around = dict.fromkeys(variable for type_ in types for variable in free_type_vars(type_) if variable not in own)
    type_params = (*around, *function.type_params)
    return Function(function.params, function.body, function.ret_type, type_params, function.attrs, span=function.span)

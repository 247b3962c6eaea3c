"""Generalisation: which type parameters a function quantifies.

A function quantifies its `type_params`, and the type variables that stand first in the types of its parameters: those
that an earlier inference found. A function bound by a let or a definition that gives no type parameters quantifies
besides what its type leaves open and nothing outside determines (Milner 1978). Functions are the only values whose
types can be quantified, so a ref or a partial application is never generalised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING

from relay.base.diagnostics import CompilerBug, RelayError
from relay.infer.explain import describe
from relay.ir.expr import Expr, Function, Var
from relay.ir.sharing import Scopes
from relay.ir.traversal import LEAVES, post_order
from relay.ir.type_traversal import free_type_leaves
from relay.ir.types import FuncType, IncompleteType, Type, TypeVar
from relay.ir.variables import free_vars

if TYPE_CHECKING:
    from relay.infer.walk import Inference

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def own_type_params(function: Function, params: Iterable[Type], around: frozenset[TypeVar]) -> tuple[TypeVar, ...]:
    """The type parameters of a function whose parameters have these types, before generalisation."""
    found = dict.fromkeys(function.type_params)
    for param in params:
        found.update((leaf, None) for leaf in free_type_leaves(param) if isinstance(leaf, TypeVar))
    return tuple(variable for variable in found if variable not in around or variable in function.type_params)


def generalised(inference: Inference, function: Function, type_: FuncType, itself: Var) -> FuncType:
    """`type_` of a function that a let binds to `itself`: all is quantified that nothing outside determines."""
    if not open_leaves(inference, type_):
        return type_
    inference.solver.drain()
    fixed = set(_outside(inference, function, itself))
    return close(inference, type_, [leaf for leaf in open_leaves(inference, type_) if leaf not in fixed])


def close(inference: Inference, type_: FuncType, leaves: list[TypeVar | IncompleteType]) -> FuncType:
    """`type_` with `leaves` quantified: those still to be found become type variables."""
    whole = inference.unifier.zonk(type_)
    taken = {leaf.name for leaf in (*free_type_leaves(whole), *inference.type_vars) if isinstance(leaf, TypeVar)}
    names = (name for name in _names() if name not in taken)
    variables: list[TypeVar] = []
    for leaf in leaves:
        if isinstance(leaf, TypeVar):
            variables.append(leaf)
        else:
            variables.append(TypeVar(next(names)))
            inference.unifier.bind(leaf, variables[-1])
    final = inference.unifier.zonk(type_)
    if not isinstance(final, FuncType):
        raise CompilerBug("infer", "a function type became another type")
    return FuncType(final.arg_types, final.ret_type, (*type_.type_params, *variables))


def open_leaves(inference: Inference, type_: FuncType) -> list[TypeVar | IncompleteType]:
    """The variables in a type that no function around quantifies, each once."""
    whole = inference.unifier.zonk(type_)
    around = inference.type_vars
    return [leaf for leaf in free_type_leaves(whole) if leaf not in around]


def _names() -> Iterator[str]:
    yield from _LETTERS
    for number in count(1):
        yield from (f"{letter}{number}" for letter in _LETTERS)


def _outside(inference: Inference, function: Function, itself: Var) -> Iterator[Type]:
    """The variables in the types of what a function takes from outside (the functions around it that are not finished
    have one type while they are), and in what is not solved yet."""
    zonk = inference.unifier.zonk
    around: list[Type] = [inference.type_of_var(var) for var in free_vars(function) if var is not itself]
    around += [type_ for type_, known in inference.signatures.values() if not known]
    around += [inference.type_of(node) for node in _shared_with_outside(function, inference.scopes())]
    around += inference.solver.waiting()
    for type_ in around:
        yield from free_type_leaves(zonk(type_))


def _shared_with_outside(function: Function, found: Scopes) -> list[Expr]:
    """The nodes in the body of a function that are evaluated before the function is made, since others use them."""
    inside = found.inner(function)[0].depth
    nodes = (node for node in post_order(function.body) if not isinstance(node, LEAVES))
    return [node for node in nodes if found.of(node).depth < inside]


def check_escape(inference: Inference, function: Function) -> None:
    """A variable from outside a function must not have a type that mentions the function's own type parameters."""
    for var in free_vars(function):
        type_ = inference.unifier.zonk(inference.type_of_var(var))
        escaped = [v.name for v in function.type_params if v in set(free_type_leaves(type_))]
        if escaped and var not in inference.unfinished:
            raise RelayError(
                rule="type-parameter-escapes",
                message=f"%{var.name_hint} would be of type {type_}, but {escaped[0]} is chosen by each call",
                span=function.span,
                expected=f"a type without {escaped[0]}",
                found=f"{type_}, the type of {describe(var)}",
                remedy=f"pass %{var.name_hint} as a parameter, or annotate it",
            )

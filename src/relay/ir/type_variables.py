"""Which type variables a program or a type binds and which it takes from outside."""

from __future__ import annotations

from collections.abc import Iterator

from relay.ir.expr import Call, Expr, ExprBase, Function, Var
from relay.ir.traversal import post_order
from relay.ir.types import FuncType, Type, TypeVar, type_parts
from relay.ir.variables import vars_bound_at


def all_type_vars(part: Expr | Type) -> tuple[TypeVar, ...]:
    """The type variables that a program (its annotations, not what inference found) or a type names, each once, in
    order of first appearance.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> [variable.name for variable in all_type_vars(FuncType((b,), a, (a,)))]
    ['a', 'b']
    """
    return tuple(dict.fromkeys(variable for variable, _ in _named(part)))


def bound_type_vars(part: Expr | Type) -> tuple[TypeVar, ...]:
    """The type parameters of the functions and function types in a program or type.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> [variable.name for variable in bound_type_vars(FuncType((b,), a, (a,)))]
    ['a']
    """
    return tuple(dict.fromkeys(variable for variable, binds in _named(part) if binds))


def free_type_vars(part: Expr | Type) -> tuple[TypeVar, ...]:
    """The type variables that a program or type names and does not bind.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> [variable.name for variable in free_type_vars(FuncType((b,), a, (a,)))]
    ['b']
    """
    bound = set(bound_type_vars(part))
    return tuple(variable for variable in all_type_vars(part) if variable not in bound)


def _named(part: Expr | Type) -> Iterator[tuple[TypeVar, bool]]:
    """The type variables where they stand, with whether they are bound there."""
    if not isinstance(part, ExprBase):
        yield from _in_type(part)
        return
    for node in post_order(part):
        if isinstance(node, Function):
            yield from ((variable, True) for variable in node.type_params)
            if node.ret_type is not None:
                yield from _in_type(node.ret_type)
        if isinstance(node, Call):
            for type_ in node.given_type_args:
                yield from _in_type(type_)
        variables = (node,) if isinstance(node, Var) else vars_bound_at(node)
        for var in variables:
            if var.type_annotation is not None:
                yield from _in_type(var.type_annotation)


def _in_type(type_: Type) -> Iterator[tuple[TypeVar, bool]]:
    for part in type_parts(type_):
        if isinstance(part, TypeVar):
            yield part, False
        if isinstance(part, FuncType):
            yield from ((variable, True) for variable in part.type_params)

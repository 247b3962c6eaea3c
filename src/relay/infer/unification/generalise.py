"""Generalisation: which type parameters a function quantifies.

A function quantifies its `type_params`, and the type variables that stand first in the types of its parameters: those
that an earlier inference found. A function bound by a let or a definition that gives no type parameters quantifies
besides what its type leaves open and nothing outside determines (Milner 1978). Functions are the only values whose
types can be quantified, so a ref or a partial application is never generalised.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import count

from relay.base.diagnostics import CompilerBug
from relay.infer.unification.unify import Unifier
from relay.ir.type_traversal import free_type_leaves
from relay.ir.types import FuncType, IncompleteType, Type, TypeVar

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def open_leaves(unifier: Unifier, type_: Type, around: Set[TypeVar] = frozenset()) -> list[TypeVar | IncompleteType]:
    """The variables in a type that no function `around` quantifies, each once."""
    return [leaf for leaf in free_type_leaves(unifier.zonk(type_)) if leaf not in around]


def quantified(
    unifier: Unifier, type_: FuncType, leaves: list[TypeVar | IncompleteType], around: Set[TypeVar] = frozenset()
) -> FuncType:
    """`type_` with `leaves` quantified: those still to be found become type variables, whose names are none of those
    `around`.

    >>> hole = IncompleteType()
    >>> print(quantified(Unifier(), FuncType((TypeVar("a"), hole), hole), [hole]))
    fn [b](a, b) -> b
    """
    taken = {leaf.name for leaf in (*free_type_leaves(unifier.zonk(type_)), *around) if isinstance(leaf, TypeVar)}
    names = (name for name in _names() if name not in taken)
    variables = [leaf if isinstance(leaf, TypeVar) else TypeVar(next(names)) for leaf in leaves]
    for leaf, variable in zip(leaves, variables, strict=True):
        mismatch = None if isinstance(leaf, TypeVar) else unifier.bind(leaf, variable)
        if mismatch is not None:
            raise CompilerBug("infer", f"a new type variable does not fit: {mismatch.fact}")
    final = unifier.zonk(type_)
    if not isinstance(final, FuncType):
        raise CompilerBug("infer", "a function type became another type")
    return FuncType(final.arg_types, final.ret_type, (*type_.type_params, *variables))


def _names() -> Iterator[str]:
    yield from _LETTERS
    for number in count(1):
        yield from (f"{letter}{number}" for letter in _LETTERS)

"""What of some values is known, as a key; and the same values over other names.

Two calls of a function whose arguments have one key can share one variant of it: the unknown places, `leaves`, become
its parameters, in the order in which they are met.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable
from dataclasses import field
from typing import Any

from relay.arith.expr import Symbol
from relay.base.frozen import mutable
from relay.ir.expr import Var
from relay.ir.type_traversal import is_closed
from relay.ir.types import Type, TypeVar
from relay.transform.functions.budgets import BUDGETS
from relay.transform.functions.known_values.functions import Functions
from relay.transform.functions.known_values.values import (
    Block,
    Environment,
    KnownData,
    KnownFunction,
    KnownName,
    KnownRef,
    KnownTensor,
    KnownTuple,
    PartialValue,
)


@mutable
class Abstraction:
    """`possible` is false when a value cannot be given to a function elsewhere; `spoken`: the symbols and type
    variables of which the closures among what is known speak."""

    functions: Functions
    tokens: list[Hashable] = field(default_factory=list)
    leaves: dict[Var, Type] = field(default_factory=dict)
    possible: bool = True
    spoken: set[Symbol | TypeVar] = field(default_factory=set)
    _met: dict[PartialValue, int] = field(default_factory=dict)
    _indices: dict[Var, int] = field(default_factory=dict)

    def add(self, values: Iterable[PartialValue]) -> Hashable:
        """The key of `values`; what they share with earlier ones is seen."""
        start = len(self.tokens)
        stack = list(values)
        while stack and self.possible:
            value = stack.pop()
            if isinstance(value.static, KnownFunction):
                before = self._met.get(value)
                if before is not None:
                    self.tokens.append(before)
                    continue
                self._met[value] = len(self._met)
            self._add(value)
            stack += self.functions.parts_of(value)
            self.possible = self.possible and len(self.tokens) <= BUDGETS.key_cells
        return tuple(self.tokens[start:])

    def _add(self, value: PartialValue) -> None:
        match value.static:
            case KnownTensor(data):
                content = data.tobytes() if data.nbytes <= BUDGETS.key_bytes else id(data)  # no array has a hash
                self.tokens.append((str(data.dtype), data.shape, content))
            case KnownTuple(fields):
                self.tokens.append(("tuple", len(fields)))
            case KnownData(constructor):
                self.tokens.append((constructor, value.type_))
                self._require(value.type_)
            case KnownFunction(function, environment):
                self.spoken |= self.functions.spoken_of(function)
                self.tokens.append((function, tuple(environment.types.items())))
                for each in environment.types.values():
                    self._require(each)
            case KnownName(name):
                self.tokens.append(name)
            case KnownRef() | None:
                if not isinstance(value.atom, Var):
                    self.possible = False
                    return
                self._require(value.type_)
                self.leaves.setdefault(value.atom, value.type_)
                self.tokens.append((self._indices.setdefault(value.atom, len(self._indices)), value.type_))

    def _require(self, type_: Type) -> None:
        self.possible = self.possible and is_closed(type_)


def over(
    value: PartialValue,
    leaves: dict[Var, PartialValue],
    home: Block,
    functions: Functions,
    done: dict[PartialValue, PartialValue],
) -> Generator[Any, Any, PartialValue]:
    """`value` with other values for its leaves, born in `home`."""
    known = done.get(value)
    if known is not None:
        return known
    match value.static:
        case KnownTuple(fields) | KnownData(_, fields):
            parts: list[PartialValue] = []
            for each in fields:
                parts.append((yield over(each, leaves, home, functions, done)))
            static = (
                KnownData(value.static.constructor, tuple(parts))
                if isinstance(value.static, KnownData)
                else KnownTuple(tuple(parts))
            )
            new = PartialValue(static, value.type_, None, home, value.name)
        case KnownFunction(function, environment):
            inner = Environment(None, environment.types)
            new = PartialValue(KnownFunction(function, inner), value.type_, None, home, value.name)
            done[value] = new
            for var in functions.free_vars(function):
                inner.values[var] = yield over(environment.find(var), leaves, home, functions, done)
        case KnownTensor() | KnownName():
            new = value
        case KnownRef() | None:
            new = leaves[value.atom]  # type: ignore[index]
    done[value] = new
    return new

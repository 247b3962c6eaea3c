"""What the pass adds to a module: functions and data types under names that are not taken yet."""

from __future__ import annotations

from collections.abc import Sequence

from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Pattern,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    TupleGetItem,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.structural import structural_equal
from relay.ir.types import GlobalTypeVar, Type, TypeCall
from relay.text.prelude import prelude_types


@mutable
class Definitions:
    """A module that grows. `functions` may be defined again under the same name."""

    functions: dict[GlobalVar, Function]
    types: dict[GlobalTypeVar, TypeData]
    names: FreshNames
    type_names: FreshNames

    @staticmethod
    def of(module: IRModule) -> Definitions:
        """Beginning with what a module has."""
        types = dict(module.type_definitions)
        taken = {constructor.name_hint for constructor in module.constructors()}
        taken.update(each.name for each in types)
        names, type_names = FreshNames(module.__contains__), FreshNames(taken.__contains__)
        return Definitions(dict(module.functions), types, names, type_names)

    @property
    def module(self) -> IRModule:
        return IRModule(self.functions, self.types)

    def fresh(self, hint: str) -> GlobalVar:
        """A name for a function, which is to be defined."""
        return GlobalVar(self.names.take(hint))

    def function(self, hint: str, params: Sequence[Var], body: Expr, result: Type) -> GlobalVar:
        """Define a function that does not call itself."""
        name = self.fresh(hint)
        self.functions[name] = Function(tuple(params), body, result)
        return name

    def data(self, header: str, constructors: Sequence[tuple[str, Sequence[Type | None]]]) -> tuple[Constructor, ...]:
        """Define a data type. A field that is None is of the type itself."""
        own = GlobalTypeVar(self.type_names.take(header))
        inputs = [tuple(TypeCall(own, ()) if each is None else each for each in fields) for _, fields in constructors]
        made = tuple(
            Constructor(self.type_names.take(name), fields, own, tag)
            for tag, ((name, _), fields) in enumerate(zip(constructors, inputs, strict=True))
        )
        self.types[own] = TypeData(own, (), made)
        return made

    def lists(self) -> Lists | None:
        """The lists of the prelude, taken in if need be; None if the module has other ones under their names."""
        data = prelude_types()[0]
        own = self.types.get(data.header)
        if own is None:
            names = (data.header.name, *(each.name_hint for each in data.constructors))
            if any(name in self.type_names for name in names):
                return None
            for name in names:
                self.type_names.take(name)
            self.types[data.header] = own = data
        elif not structural_equal(own, data):
            return None
        cons, nil = own.constructors
        return Lists(own.header, cons, nil)


@frozen
class Lists:
    """How lists are made and taken apart."""

    header: GlobalTypeVar
    cons: Constructor
    nil: Constructor

    def of(self, element: Type) -> TypeCall:
        return TypeCall(self.header, (element,))

    def empty(self) -> Expr:
        return Call(self.nil, ())

    def with_first(self, first: Expr, rest: Expr) -> Expr:
        return Call(self.cons, (first, rest))


def chain_pattern(cell: Constructor, firsts: Sequence[Var], rest: Pattern) -> Pattern:
    """`cell(first, cell(second, … rest))`"""
    for var in reversed(firsts):
        rest = PatternConstructor(cell, (PatternVar(var), rest))
    return rest


def items(expr: Expr, count: int) -> tuple[Expr, ...]:
    """The fields of a tuple."""
    return tuple(TupleGetItem(expr, position) for position in range(count))


__all__ = ["Definitions", "Lists", "PatternWildcard", "chain_pattern", "items"]

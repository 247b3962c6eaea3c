"""Patterns and cotangents: what a match takes apart, its way back puts together."""

from __future__ import annotations

from collections.abc import Sequence

from relay.autodiff.cotangents import Cotangent, Cotangents, Parts
from relay.ir.expr import (
    Clause,
    Constructor,
    Expr,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    Var,
    record_type,
)
from relay.ir.types import TupleType, Type


def filled(types: Cotangents, pattern: Pattern, type_: Type) -> Pattern:
    """A pattern that names all that has a cotangent, and that fits the same values of a type: zeros have the extents of
    what they are the cotangents of."""
    match pattern:
        case PatternWildcard() if types.exists(type_):
            return PatternVar(record_type(Var("unused"), type_))
        case PatternConstructor(constructor, patterns):
            inputs = types.inputs(constructor, type_)
            return PatternConstructor(
                constructor, tuple(filled(types, *each) for each in zip(patterns, inputs, strict=True))
            )
        case PatternTuple(patterns):
            assert isinstance(type_, TupleType)
            return PatternTuple(tuple(filled(types, *each) for each in zip(patterns, type_.fields, strict=True)))
        case PatternWildcard() | PatternVar():
            return pattern


def pattern_cotangent(types: Cotangents, pattern: Pattern, type_: Type, cotangents: dict[Var, Cotangent]) -> Cotangent:
    """The cotangent of what a pattern took apart, of those of what it bound, which are zero where `cotangents` has
    none."""
    match pattern:
        case PatternVar(var):
            return cotangents.get(var)
        case PatternTuple(patterns):
            assert isinstance(type_, TupleType)
            fields = tuple(
                pattern_cotangent(types, each, part, cotangents)
                for each, part in zip(patterns, type_.fields, strict=True)
            )
            return None if all(each is None for each in fields) else Parts(fields)
        case PatternConstructor(constructor, patterns):
            made = types.of_constructor(constructor)
            inputs = types.inputs(constructor, type_)
            if made is None:
                return None
            own, counted = made
            found = [pattern_cotangent(types, patterns[at], inputs[at], cotangents) for at in counted]
            if all(each is None for each in found):
                return None
            parts = zip(found, counted, strict=True)
            return types.made(own, type_, [types.whole(each, inputs[at], value_of(patterns[at])) for each, at in parts])
        case PatternWildcard():
            return None


def taken_apart(
    types: Cotangents, constructor: Constructor, cotangent: Expr, fields: Sequence[tuple[Type, Expr]]
) -> Expr:
    """The tuple of the fields of a cotangent that `constructor` made, or of zeros where it is zero; `fields` are the
    types and values of what these are the cotangents of."""
    parts = [Var(f"d{at}") for at in range(len(fields))]
    clauses = (
        Clause(PatternConstructor(constructor, tuple(map(PatternVar, parts))), Tuple(tuple(parts))),
        Clause(PatternWildcard(), Tuple(tuple(types.whole(None, *each) for each in fields))),
    )
    return record_type(Match(cotangent, clauses), TupleType(tuple(types.type_of(type_) for type_, _ in fields)))


def value_of(pattern: Pattern) -> Expr:
    """What a pattern fits, where zeros ask for extents: tuples and tensors."""
    match pattern:
        case PatternVar(var):
            return var
        case PatternTuple(patterns):
            return Tuple(tuple(map(value_of, patterns)))
        case PatternConstructor() | PatternWildcard():
            return Tuple(())

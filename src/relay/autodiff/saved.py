"""What a second half needs of the first: data types with a constructor for each way that a choice can go.

    before:   if (%c) { let %a = exp(%x); multiply(%a, %a) } else { %x }
    first:    if (%c) { let %a = exp(%x); (multiply(%a, %a), Way0(%a)) } else { (%x, Way1) }
    second:   match (%way) { Way0(%a) => ..., Way1 => ... }

Fields have the types of what they keep, with `?` for extents that have a name there: a data type knows no names of
extents. Where such a value is taken out again, the name is stated anew, and the run checks it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from relay.arith.expr import Symbol
from relay.autodiff.chain import Chain
from relay.autodiff.program import typed
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    If,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternVar,
    Tuple,
    TupleGetItem,
    Var,
    pattern_vars,
    record_type,
)
from relay.ir.traversal import rebuild
from relay.ir.type_traversal import map_type, type_symbols
from relay.ir.types import ANY, GlobalTypeVar, TupleType, Type, TypeCall
from relay.ir.variables import free_vars, substitute


@frozen(eq=False)
class Branch:
    """The first half of a branch: its bindings, and what it gives."""

    chain: Chain
    result: Expr

    def bound(self) -> set[Var]:
        """The variables that it binds."""
        return {var for var, _ in self.chain.bindings}


@frozen(eq=False)
class Remembered:
    """A choice whose value is a pair: what it was, and a way, of `type`."""

    choice: Expr
    type: Type
    ways: Sequence[Constructor]
    kept: Sequence[Sequence[Var]]

    def again(self, way: Var, ends: Sequence[Expr], extents: Set[Symbol]) -> Expr:
        """What one of `ends` is, by the way that the choice went."""
        parts = zip(self.ways, self.kept, ends, strict=True)
        return Match(way, tuple(unpacked(*part, extents) for part in parts))


@mutable
class Saved:
    """The data types that are made for one module."""

    names: FreshNames
    definitions: dict[GlobalTypeVar, TypeData]

    def ways(self, kept: Sequence[Sequence[Var]]) -> list[Constructor]:
        """A constructor for each way, of what it keeps."""
        header = GlobalTypeVar(self.names.take("Ways"))
        made = [
            Constructor(f"{header.name}_{at}", tuple(map(kept_type, values)), header, at)
            for at, values in enumerate(kept)
        ]
        self.definitions[header] = TypeData(header, (), tuple(made))
        return made

    def remembered(
        self, choice: If | Match, patterns: Sequence[Pattern], branches: Sequence[Branch], ends: Sequence[Expr]
    ) -> Remembered:
        """A choice that says which way it went, and keeps what `ends`, what its branches come to later, need of it."""
        bound = [branch.bound() | set(pattern_vars(p)) for branch, p in zip(branches, patterns, strict=True)]
        kept = [[v for v in free_vars(end) if v in own] for end, own in zip(ends, bound, strict=True)]
        ways = self.ways(kept)
        made = [
            branch.chain.before(Tuple((branch.result, Call(way, tuple(own)))))
            for branch, way, own in zip(branches, ways, kept, strict=True)
        ]
        return Remembered(rebuilt_choice(choice, patterns, made), TypeCall(ways[0].belong_to, ()), ways, kept)

    def declare(self, wanted: str) -> GlobalTypeVar:
        """A data type of one constructor, whose fields are `define`d once they are known: they may be of that type."""
        return GlobalTypeVar(self.names.take(wanted))

    def define(self, header: GlobalTypeVar, kept: Sequence[Var]) -> Constructor:
        made = Constructor(f"{header.name}_kept", tuple(map(kept_type, kept)), header, 0)
        self.definitions[header] = TypeData(header, (), (made,))
        return made


def rebuilt_choice(choice: If | Match, patterns: Sequence[Pattern], branches: Sequence[Expr]) -> Expr:
    """A choice with other branches."""
    if isinstance(choice, If):
        return rebuild(choice, (choice.cond, *branches))
    return Match(choice.data, tuple(map(Clause, patterns, branches)), choice.complete, span=choice.span)


def unpaired(chain: Chain, var: Var, made: Expr, kept_type: Type) -> Var:
    """Bind `var` to the first of a pair; gives the name of the second, what is kept."""
    kept = record_type(Var("kept"), kept_type)
    pair = chain.bind("pair", made, TupleType((typed(var), kept_type)))
    chain.bind_to(var, TupleGetItem(pair, 0))
    chain.bind_to(kept, TupleGetItem(pair, 1))
    return kept


def kept_type(var: Var) -> Type:
    """The type of a field that keeps a variable's value."""
    if var.checked_type is None:
        raise CompilerBug("autodiff", f"%{var.name_hint} is kept and has no type")
    return map_type(var.checked_type, dimension=lambda extent: extent if isinstance(extent, int) else ANY)


def unpacked(constructor: Constructor, kept: Sequence[Var], body: Expr, extents: Set[Symbol]) -> Clause:
    """The clause that takes what was kept out again: `body`, which speaks of it under its old names. `extents` are the
    names of extents that hold where the clause stands."""
    fields = [Var(var.name_hint) for var in kept]
    names: dict[Var, Expr] = {}
    stated: list[tuple[Var, Var]] = []
    for var, own in zip(kept, fields, strict=True):
        names[var] = own
        if _is_stated(var, extents):
            names[var] = again = Var(var.name_hint, var.checked_type)
            stated.append((again, own))
    body = substitute(body, names)
    for again, own in reversed(stated):
        body = Let(again, own, body)
    return Clause(PatternConstructor(constructor, tuple(map(PatternVar, fields))), body)


def _is_stated(var: Var, extents: Set[Symbol]) -> bool:
    symbols = type_symbols(var.checked_type) if var.checked_type is not None else ()
    return bool(symbols) and extents >= set(symbols)

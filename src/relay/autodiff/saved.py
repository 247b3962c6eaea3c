"""What the way back needs of the way forward: data types with a constructor for each way that a choice can go.

Fields have the types of what they keep, with `?` for extents that have a name there: a data type knows no names of
extents. Where such a value is taken out again, the name is stated anew, and the run checks it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.names.fresh_names import FreshNames
from relay.ir.datatype import TypeData
from relay.ir.expr import Clause, Constructor, Expr, Let, PatternConstructor, PatternVar, Var
from relay.ir.type_traversal import map_type, type_symbols
from relay.ir.types import ANY, GlobalTypeVar, Type, TypeCall
from relay.ir.variables import substitute


@dataclass(slots=True, eq=False)
class Saved:
    """The data types that are made for one module."""

    names: FreshNames
    definitions: dict[GlobalTypeVar, TypeData] = field(default_factory=dict)

    def ways(self, kept: Sequence[Sequence[Var]]) -> list[Constructor]:
        """A constructor for each way, of what it keeps."""
        header = GlobalTypeVar(self.names.take("Ways"))
        made = [
            Constructor(f"{header.name}_{at}", tuple(map(kept_type, values)), header, at)
            for at, values in enumerate(kept)
        ]
        self.definitions[header] = TypeData(header, (), tuple(made))
        return made

    def type_of_ways(self, ways: Sequence[Constructor]) -> Type:
        return TypeCall(ways[0].belong_to, ())

    def declare(self, wanted: str) -> GlobalTypeVar:
        """A data type of one constructor, whose fields are `define`d once they are known: they may be of that type."""
        return GlobalTypeVar(self.names.take(wanted))

    def define(self, header: GlobalTypeVar, kept: Sequence[Var]) -> Constructor:
        made = Constructor(f"{header.name}_kept", tuple(map(kept_type, kept)), header, 0)
        self.definitions[header] = TypeData(header, (), (made,))
        return made


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

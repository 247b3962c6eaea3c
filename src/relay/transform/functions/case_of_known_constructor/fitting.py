"""Patterns against values of which a part is known: what fits, and what is left to ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    Var,
)

Facts = Callable[[Expr], Expr | None]
"""What is known of an atom: a tuple or a constructor's call of atoms, or a constant."""


@dataclass(slots=True, eq=False)
class Fit:
    """A clause that may be taken: what its variables stand for, and which patterns the run must still try."""

    clause: Clause
    bound: list[tuple[Var, Expr]] = field(default_factory=list)
    asked: list[tuple[Var, Pattern]] = field(default_factory=list)

    @property
    def is_certain(self) -> bool:
        return not self.asked


def fits_of(clauses: Sequence[Clause], data: Expr, facts: Facts) -> list[Fit]:
    """The clauses that may be taken, up to the first that certainly fits; none where nothing is certain of types."""
    found: list[Fit] = []
    for clause in clauses:
        fit = Fit(clause)
        outcome = _fits(fit, data, facts)
        if outcome is None:
            return []
        if outcome:
            found.append(fit)
            if fit.is_certain:
                break
    return found


def _fits(fit: Fit, data: Expr, facts: Facts) -> bool | None:
    """Whether the clause may be taken; None when a variable has another type than the part that it stands for, or a
    part is asked twice."""
    stack: list[tuple[Pattern, Expr]] = [(fit.clause.lhs, data)]
    while stack:
        pattern, atom = stack.pop()
        match pattern:
            case PatternWildcard():
                continue
            case PatternVar(var):
                if var.checked_type != atom.checked_type:
                    return None
                fit.bound.append((var, atom))
                continue
            case PatternConstructor(constructor, patterns):
                known = facts(atom)
                if isinstance(known, Call):
                    if known.op != constructor:
                        return False
                    stack.extend(reversed(list(zip(patterns, known.args, strict=True))))
                    continue
            case PatternTuple(patterns):
                known = facts(atom)
                if isinstance(known, Tuple):
                    stack.extend(reversed(list(zip(patterns, known.fields, strict=True))))
                    continue
            case _:
                assert_never(pattern)
        if not isinstance(atom, Var) or any(each is atom for each, _ in fit.asked):
            return None
        fit.asked.append((atom, pattern))
    return True


def asked_of(fits: Sequence[Fit]) -> list[Var]:
    """What any of the clauses asks about, each once, in a fixed order."""
    return list(dict.fromkeys(atom for fit in fits for atom, _ in fit.asked))


def patterns_for(fits: Sequence[Fit], asked: Sequence[Var]) -> tuple[Pattern, ...]:
    """The patterns for a match on `asked`: on the one of them, or on the tuple of all."""
    rows = [[dict(fit.asked).get(atom, PatternWildcard()) for atom in asked] for fit in fits]
    return tuple(row[0] if len(row) == 1 else PatternTuple(tuple(row)) for row in rows)

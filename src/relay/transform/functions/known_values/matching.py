"""Patterns against values of which a part is known: what fits, and what is left to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import assert_never

from relay.base.frozen import frozen, mutable
from relay.ir.expr import (
    Clause,
    Expr,
    If,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Var,
)
from relay.transform.functions.known_values.values import KnownData, KnownTensor, KnownTuple, PartialValue

MayStand = Callable[[PartialValue, Var], bool]
"""Whether a value may be written wherever a variable is."""


@mutable
class Fit:
    """A clause that may be taken: what its variables stand for, and which patterns the run must still try."""

    clause: Clause
    bound: dict[Var, PartialValue] = field(default_factory=dict)
    asked: dict[PartialValue, Pattern] = field(default_factory=dict)

    @property
    def is_certain(self) -> bool:
        return not self.asked


def fits_of(clauses: Sequence[Clause], data: PartialValue, may_stand: MayStand) -> list[Fit]:
    """The clauses that may be taken, up to the first that certainly fits; none where a part is asked twice or may not
    stand for the variable of a pattern."""
    found: list[Fit] = []
    for clause in clauses:
        fit = Fit(clause)
        outcome = _fits(fit, data, may_stand)
        if outcome is None:
            return []
        if outcome:
            found.append(fit)
            if fit.is_certain:
                break
    return found


def _fits(fit: Fit, data: PartialValue, may_stand: MayStand) -> bool | None:
    """Whether the clause may be taken; None where that cannot be said in other patterns."""
    stack: list[tuple[Pattern, PartialValue]] = [(fit.clause.lhs, data)]
    while stack:
        pattern, part = stack.pop()
        match pattern:
            case PatternWildcard():
                continue
            case PatternVar(var):
                if not may_stand(part, var):
                    return None
                fit.bound[var] = part
                continue
            case PatternConstructor(constructor, patterns):
                if isinstance(part.static, KnownData):
                    if part.static.constructor != constructor:
                        return False
                    stack.extend(reversed(list(zip(patterns, part.static.fields, strict=True))))
                    continue
            case PatternTuple(patterns):
                if isinstance(part.static, KnownTuple):
                    stack.extend(reversed(list(zip(patterns, part.static.fields, strict=True))))
                    continue
            case _:
                assert_never(pattern)
        if part in fit.asked:
            return None
        fit.asked[part] = pattern
    return True


def asked_of(fits: Sequence[Fit]) -> list[PartialValue]:
    """What any of the clauses asks about, each once, in a fixed order."""
    return list(dict.fromkeys(part for fit in fits for part in fit.asked))


def patterns_for(fits: Sequence[Fit], asked: Sequence[PartialValue]) -> list[Pattern]:
    """The patterns for a match on `asked`: on the one of them, or on the tuple of all."""
    rows = [[fit.asked.get(part, PatternWildcard()) for part in asked] for fit in fits]
    return [row[0] if len(row) == 1 else PatternTuple(tuple(row)) for row in rows]


def renamed(pattern: Pattern, fresh: Callable[[Var], PartialValue], bound: dict[Var, PartialValue]) -> Pattern:
    """A pattern of other variables, those that name `fresh` values; fills in which."""
    match pattern:
        case PatternWildcard():
            return pattern
        case PatternVar(var):
            value = bound[var] = fresh(var)
            return PatternVar(value.atom) if isinstance(value.atom, Var) else PatternWildcard()
        case PatternConstructor(constructor, patterns):
            return PatternConstructor(constructor, tuple(renamed(each, fresh, bound) for each in patterns))
        case PatternTuple(patterns):
            return PatternTuple(tuple(renamed(each, fresh, bound) for each in patterns))
        case _:
            assert_never(pattern)


def told(pattern: Pattern, bound: dict[Var, PartialValue]) -> KnownData | KnownTuple | None:
    """What a clause knows of the value that its pattern fits, all of whose parts its variables, in `bound`, name."""
    if not isinstance(pattern, PatternConstructor | PatternTuple):
        return None
    parts = [bound[each.var] for each in pattern.patterns if isinstance(each, PatternVar)]
    if len(parts) < len(pattern.patterns):
        return None
    if isinstance(pattern, PatternTuple):
        return KnownTuple(tuple(parts))
    return KnownData(pattern.constructor, tuple(parts))


# ---------------------------------------------------------------------------------------------------- choices


@frozen(eq=False)
class Branch:
    """The code that a choice comes to, and what the variables of its pattern stand for."""

    body: Expr
    bound: Mapping[Var, PartialValue]


def branch_of(node: If | Match, value: PartialValue, may_stand: MayStand) -> Branch | None:
    """What a choice comes to when it is made by this value, if that is known."""
    if isinstance(node, If):
        if not isinstance(value.static, KnownTensor):
            return None
        return Branch(node.true_branch if value.static.data else node.false_branch, {})
    fits = fits_of(node.clauses, value, may_stand)
    return Branch(fits[0].clause.rhs, fits[0].bound) if fits and fits[0].is_certain else None


@frozen(eq=False)
class Question:
    """A match as far as the run must make it: which parts of the value it asks, and for each clause the pattern of
    these, what variables stand for known parts, and the body. `is_less` than the match of the program."""

    parts: Sequence[PartialValue]
    clauses: Sequence[tuple[Pattern, Mapping[Var, PartialValue], Expr]]
    is_less: bool


def question_of(node: Match, data: PartialValue, may_stand: MayStand) -> Question:
    """What a match on `data` asks."""
    fits = fits_of(node.clauses, data, may_stand)
    parts = [data] if data.static is None else asked_of(fits)
    if not fits or not parts:  # nothing fits, or patterns cannot say what is left
        return Question([data], [(each.lhs, {}, each.rhs) for each in node.clauses], False)
    patterns = patterns_for(fits, parts)
    if isinstance(data.static, KnownTuple) and list(data.static.fields) == parts:
        parts = [data]
    clauses = [(pattern, fit.bound, fit.clause.rhs) for pattern, fit in zip(patterns, fits, strict=True)]
    return Question(parts, clauses, parts != [data] or len(fits) < len(node.clauses))

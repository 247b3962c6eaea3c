"""Whether one clause of a match always fits, and if not, which values none fits.

The algorithm is I of Luc Maranget, "Warnings for pattern matching" (Journal of Functional Programming 17(3), 2007),
section 5, which gives one example; here each constructor that is missing gives one. It walks the patterns, not the
values, so recursive data types are no danger.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

from relay.base.diagnostics import RelayError
from relay.base.trampoline import run
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
)
from relay.ir.module import IRModule
from relay.ir.types import GlobalTypeVar

MAX_CASES = 8
Row: TypeAlias = "tuple[Pattern, ...]"
Head: TypeAlias = "Constructor | int"
"""What the outermost pattern asks for: a constructor, or a tuple of so many fields."""
_ANY = PatternWildcard()


def unmatched_cases(match: Match, module: IRModule | None = None) -> tuple[Pattern, ...]:
    """Patterns of values that no clause fits, at most `MAX_CASES`; none when the match is complete. Data types are
    those of `module`.

    Raises `RelayError` (rule `unknown-type`) for a constructor of a data type that the module does not define.

    >>> from relay.ir.expr import Var
    >>> unmatched_cases(Match(Var("x"), (Clause(PatternTuple((PatternWildcard(), PatternWildcard())), Var("y")),)))
    ()
    """
    return unmatched(match.clauses, (module or IRModule()).type_definitions)


def unmatched(clauses: tuple[Clause, ...], definitions: Mapping[GlobalTypeVar, TypeData]) -> tuple[Pattern, ...]:
    """Patterns of values that none of `clauses` fits."""
    rows = [(clause.lhs,) for clause in clauses]
    return tuple(row[0] for row in run(_missing(rows, 1, definitions)))


def _missing(
    rows: list[Row], width: int, definitions: Mapping[GlobalTypeVar, TypeData]
) -> Generator[Any, Any, list[Row]]:
    """Rows of `width` patterns that no row of the matrix fits; the columns are decided left to right."""
    if not rows:
        return [(_ANY,) * width]
    if any(all(isinstance(each, PatternWildcard | PatternVar) for each in row) for row in rows):
        return []  # that row fits whatever is left
    heads = _heads(rows)
    if not heads:
        rest = yield _missing([row[1:] for row in rows], width - 1, definitions)
        return [(_ANY, *row) for row in rest]
    found: list[Row] = []
    for head in _signature(heads[0], definitions):
        if len(found) >= MAX_CASES:
            break
        arity = _arity(head)
        inner = [row for row in (_specialised(row, head) for row in rows) if row is not None]
        rest = yield _missing(inner, arity + width - 1, definitions)
        found += [(_rebuilt(head, row[:arity]), *row[arity:]) for row in rest]
    return found[:MAX_CASES]


def _heads(rows: list[Row]) -> list[Head]:
    """What the first column asks for, each once."""
    found: dict[Head, None] = {}
    for row in rows:
        match row[0]:
            case PatternConstructor(constructor):
                found[constructor] = None
            case PatternTuple(patterns):
                found[len(patterns)] = None
            case PatternWildcard() | PatternVar():
                pass
    return list(found)


def _signature(head: Head, definitions: Mapping[GlobalTypeVar, TypeData]) -> tuple[Head, ...]:
    """Everything that could stand in the place of `head`."""
    if isinstance(head, int):
        return (head,)
    data = definitions.get(head.belong_to)
    if data is None:
        message = f"the module does not define the data type {head.belong_to.name}"
        raise RelayError(rule="unknown-type", message=message, span=head.span)
    return data.constructors


def _arity(head: Head) -> int:
    return head if isinstance(head, int) else len(head.inputs)


def _specialised(row: Row, head: Head) -> Row | None:
    """What is left of a row for values that begin with `head`; None when they do not fit it."""
    match row[0]:
        case PatternConstructor(constructor, patterns):
            return (*patterns, *row[1:]) if constructor == head else None
        case PatternTuple(patterns):
            return (*patterns, *row[1:])
        case PatternWildcard() | PatternVar():
            return (*(_ANY,) * _arity(head), *row[1:])


def _rebuilt(head: Head, patterns: Row) -> Pattern:
    return PatternTuple(patterns) if isinstance(head, int) else PatternConstructor(head, patterns)


def show_pattern(pattern: Pattern) -> str:
    """A pattern as the text writes it.

    >>> show_pattern(PatternTuple((PatternWildcard(), PatternWildcard())))
    '(_, _)'
    """
    match pattern:
        case PatternWildcard():
            return "_"
        case PatternVar(var):
            return f"%{var.name_hint}"
        case PatternConstructor(constructor, patterns):
            inner = ", ".join(map(show_pattern, patterns))
            return f"{constructor.name_hint}({inner})" if inner else constructor.name_hint
        case PatternTuple(patterns):
            return f"({', '.join(map(show_pattern, patterns))}{',' if len(patterns) == 1 else ''})"

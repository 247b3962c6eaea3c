"""Matches as decision trees: no value is looked at twice on the way to a clause.

    before: match (%p) { (Cons(_, _), Nil) => a, (_, Cons(%x, _)) => b, _ => c }
    after:  switch %p.0 { Cons: switch %p.1 { Nil: a, Cons: b }, else: switch %p.1 { Cons: b, else: c } }

Clauses are tried in order, as columns of tests: the first test of the first row decides (Maranget, "Compiling Pattern
Matching to Good Decision Trees", ML 2008, section 3, with the leftmost column). A clause may be reached by several
leaves; its code is not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

from relay.base.frozen import frozen
from relay.ir.expr import (
    Clause,
    Constructor,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Var,
)

Path: TypeAlias = tuple[int, ...]
"""Where a part stands in the value that is matched: the fields to go through."""


@frozen(eq=False)
class Leaf:
    """Clause number `clause` fits; each of its variables is the part at a path."""

    clause: int
    variables: tuple[tuple[Var, Path], ...]


@frozen(eq=False)
class NoClause:
    """No clause fits."""


@frozen(eq=False)
class Test:
    """Look at the constructor of the part at `path`."""

    path: Path
    cases: tuple[tuple[Constructor, Decision], ...]
    otherwise: Decision


Decision: TypeAlias = Union[Leaf, NoClause, Test]


@frozen(eq=False)
class _Row:
    tests: tuple[tuple[Path, PatternConstructor], ...]  # still to be made, from left to right
    variables: tuple[tuple[Var, Path], ...]
    clause: int


def decide(clauses: Sequence[Clause]) -> Decision:
    """The decision tree of the clauses of a match."""
    rows = [_row([((), clause.lhs)], (), number) for number, clause in enumerate(clauses)]
    return _tree(rows)


def _row(parts: list[tuple[Path, Pattern]], variables: tuple[tuple[Var, Path], ...], clause: int) -> _Row:
    """A row of tests for patterns, tuples opened."""
    tests: list[tuple[Path, PatternConstructor]] = []
    bound = list(variables)
    stack = list(reversed(parts))
    while stack:
        path, pattern = stack.pop()
        match pattern:
            case PatternWildcard():
                pass
            case PatternVar(var):
                bound.append((var, path))
            case PatternTuple(patterns):
                stack.extend(((*path, index), inner) for index, inner in reversed(list(enumerate(patterns))))
            case PatternConstructor():
                tests.append((path, pattern))
    return _Row(tuple(tests), tuple(bound), clause)


def _tree(rows: list[_Row]) -> Decision:
    if not rows:
        return NoClause()
    first = rows[0]
    if not first.tests:
        return Leaf(first.clause, first.variables)
    path = first.tests[0][0]
    seen = dict.fromkeys(test.constructor for row in rows for where, test in row.tests if where == path)
    cases = tuple((constructor, _tree(_fitting(rows, path, constructor))) for constructor in seen)
    rest = [row for row in rows if all(where != path for where, _ in row.tests)]
    return Test(path, cases, _tree(rest))


def _fitting(rows: list[_Row], path: Path, constructor: Constructor) -> list[_Row]:
    """The rows that may fit when the part at `path` was made by `constructor`, without that test."""
    found: list[_Row] = []
    for row in rows:
        here = [test for where, test in row.tests if where == path]
        if not here:
            found.append(row)
        elif here[0].constructor == constructor:
            parts: list[tuple[Path, Pattern]] = []
            for where, test in row.tests:
                if where == path:
                    parts.extend(((*path, index), inner) for index, inner in enumerate(here[0].patterns))
                else:
                    parts.append((where, test))
            found.append(_row(parts, row.variables, row.clause))
    return found

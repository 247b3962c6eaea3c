"""`match`: cases whose patterns are Relay's are one `Match`; where a guard or a literal decides too, each case is tried
after the one before it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, Exits, is_expr
from relay.frontend.python.datatype import DataInstance
from relay.frontend.python.statements.branches import changed_names, changing_names, choose, joined
from relay.frontend.python.statements.patterns import Named, Tests, alternatives, pattern, present
from relay.frontend.python.syntax.assigned import assigned_names, may_fall_through
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import is_named_tuple
from relay.frontend.python.values import as_expr, is_option, known_now
from relay.infer.exhaustiveness import unmatched
from relay.ir.expr import (
    Clause,
    Expr,
    If,
    Match,
    Pattern,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
)
from relay.ops.elementwise.elementwise_binary import logical_and


def match(block: Block, node: ast.Match, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    span = block.span(node.subject)
    found = dispatch.expr(block, node.subject)
    if not is_expr(found) and not isinstance(found, tuple | list | DataInstance) and not is_named_tuple(type(found)):
        return _known(block, node, found, rest, exits)
    chosen = _case_of_nothing(node) if isinstance(found, list) and not found else None
    if chosen is not None:
        return dispatch.some(block, chosen.body, rest, exits)
    subject = block.bind("subject", as_expr(block, found, span), span)
    type_ = block.type_of(subject)
    cases = [ast.match_case(each, case.guard, case.body) for case in node.cases for each in alternatives(case.pattern)]
    is_there = False
    sides: list[tuple[Block, Sequence[ast.stmt]]] = []
    patterns: list[Pattern] = []
    tests: list[Tests] = []
    for case in cases:
        side, tested = block.inside(), Tests()
        named = _with_name(side, case.pattern, subject)
        patterns.append((present if is_there else pattern)(side, named, type_, tested))
        if case.guard is not None:
            tested.append(lambda inner, guard=case.guard: dispatch.truth(inner, guard))
        sides.append((side, case.body))
        tests.append(tested)
        is_there |= is_option(type_) and isinstance(case.pattern, ast.MatchSingleton) and case.guard is None

    if not _covers(block, [each for each, tested in zip(patterns, tests, strict=True) if not tested]):
        patterns.append(PatternWildcard())  # no case is for it: what follows is next
        sides.append((block.inside(), [ast.copy_location(ast.Pass(), node)]))
        tests.append([])
    if not any(tests):
        return choose(
            block, sides, lambda made: Match(subject, tuple(map(Clause, patterns, made)), span=span), rest, exits, span
        )

    def behind(side: Block) -> Expr:
        return dispatch.run(side, rest, exits)

    def ways(fall: End) -> Expr:
        ends = replace(exits, fall=fall)

        def tried(at: Block, number: int) -> Expr:
            """The cases from one on, the others having failed."""
            if not any(tests[number:]):
                return one_of(at, number)
            side, body = sides[number]
            inner = _moved(side, at)

            def either(fail: End) -> Expr:
                holds = _all(inner, tests[number], span)
                if holds is True:
                    made = dispatch.run(inner, body, ends)
                else:
                    then = inner.inside()
                    for each in tests[number]:
                        if isinstance(each, Named):
                            each(then)
                    made = inner.closed(If(holds, dispatch.run(then, body, ends), fail(inner.inside()), span=span))
                clause = Clause(patterns[number], made)
                if _always(patterns[number]):
                    return Match(subject, (clause,), span=span)
                return Match(subject, (clause, Clause(PatternWildcard(), fail(at.inside()))), span=span)

            return joined(at, [], span, either, lambda then: tried(then, number + 1))

        def one_of(at: Block, number: int) -> Expr:
            """Cases that only patterns decide; with those before them that do, where Python has tried them before."""
            is_whole = _covers(block, patterns[number:])
            chosen = [k for k in range(len(sides)) if k >= number or not (is_whole or tests[k])]
            clauses = [Clause(patterns[k], dispatch.run(_moved(sides[k][0], at), sides[k][1], ends)) for k in chosen]
            return Match(subject, tuple(clauses), span=span)

        return tried(block, 0)

    bodies = [body for _, body in sides if may_fall_through(body)]
    changed = changed_names(sides)
    definite = [assigned_names(each, definitely=True) for each in bodies]
    known = changing_names(block, changed)
    names = [name for name in changed if name in known or all(name in each for each in definite)]
    return block.closed(joined(block, names, span, ways, behind))


def _case_of_nothing(node: ast.Match) -> ast.match_case | None:
    """The case of a list that is empty, which needs not tell what it is a list of; None where more than the patterns
    decides."""
    for case in node.cases:
        match case:
            case (
                ast.match_case(pattern=ast.MatchSequence(patterns=[]))
                | ast.match_case(pattern=ast.MatchAs(pattern=None, name=None))
            ) if case.guard is None:
                return case
            case ast.match_case(pattern=ast.MatchSequence(patterns=patterns)) if not all(
                isinstance(each, ast.MatchStar) for each in patterns
            ):
                continue
            case _:
                return None
    return None


def _moved(side: Block, at: Block) -> Block:
    """What a pattern names, in another block."""
    inner = at.inside()
    inner.names.update(side.names)
    return inner


def _all(block: Block, tests: Tests, span: Any) -> Any:
    """Whether all tests hold: a bool that is known now, or an expression. A guard may rely on what stands before it."""
    found: Any = True
    for position, test in enumerate(tests):
        if found is True:
            found = test(block)
            continue
        side = block.inside()
        rest = as_expr(side, _all(side, tests[position:], span), span)
        if not side.bindings:
            return logical_and(found, rest)
        return block.bind("holds", If(found, side.closed(rest), as_expr(side, False, span), span=span), span)
    return found


def _known(block: Block, node: ast.Match, subject: Any, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    """A value that is known now: the first case that fits is the program."""
    for case in node.cases:
        for each in alternatives(case.pattern):
            names = _fits(block, each, subject)
            if names is None:
                continue
            block.names.update(names)
            if case.guard is not None:
                holds = dispatch.truth(block, case.guard)
                if is_expr(holds):
                    raise refusal(block.span(case.guard), "this guard of a value that is known now", "use `if`")
                if not holds:
                    continue
            return dispatch.some(block, case.body, rest, exits)
    return None


def _fits(block: Block, node: ast.pattern, value: Any) -> dict[str, Any] | None:
    """The names that a pattern gives to a value that is known now; None where it does not fit."""
    match node:
        case ast.MatchAs(pattern=inner, name=name):
            found = {} if inner is None else _fits(block, inner, value)
            return found if found is None or name is None else {**found, name: value}
        case ast.MatchSingleton(value=wanted):
            return {} if value is wanted else None
        case ast.MatchValue(value=wanted):
            return {} if known_now(block.span(node), lambda: value == dispatch.operand(block, wanted)) else None
        case _:
            raise refusal(block.span(node), f"this pattern for a {type(value).__name__}", "use `if`")


def _with_name(block: Block, node: ast.pattern, subject: Expr) -> ast.pattern:
    """`pattern as name`, whose name is all that is matched."""
    if isinstance(node, ast.MatchAs) and node.pattern is not None and node.name is not None:
        block.names[node.name] = subject
        return node.pattern
    return node


def _covers(block: Block, patterns: Sequence[Pattern]) -> bool:
    """Whether one of the patterns is for each value."""
    return not unmatched(tuple(Clause(each, Tuple(())) for each in patterns), block.session.types)


def _always(found: Pattern) -> bool:
    match found:
        case PatternVar() | PatternWildcard():
            return True
        case PatternTuple(patterns=patterns):
            return all(map(_always, patterns))
        case _:
            return False

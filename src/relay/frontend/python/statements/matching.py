"""`match`: cases whose patterns are Relay's are one `Match`; where a guard or a literal decides too, each case is tried
after the one before it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias, cast

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, Exits, is_expr
from relay.frontend.python.datatype import DataInstance, constructor_of, field_names
from relay.frontend.python.expressions.operators import comparison
from relay.frontend.python.statements.branches import changed_names, changing_names, choose, joined
from relay.frontend.python.syntax.assigned import assigned_names, may_fall_through
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import form_in, is_named_tuple
from relay.frontend.python.values import as_expr, constructor_named, is_list, is_option, known_now
from relay.infer.exhaustiveness import unmatched
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
    Tuple,
    Var,
)
from relay.ir.types import GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from relay.ops.elementwise.elementwise_binary import logical_and
from relay.ops.framework.build import with_known_type

Tests: TypeAlias = list[Callable[[Block], Any]]
"""What must hold besides the pattern, each in the block where its names are known."""


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


def alternatives(node: ast.pattern) -> list[ast.pattern]:
    """A pattern without `|` inside, for each way through it."""
    match node:
        case ast.MatchOr(patterns=patterns):
            return [each for part in patterns for each in alternatives(part)]
        case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
            return [ast.copy_location(ast.MatchAs(each, name), node) for each in alternatives(inner)]
        case ast.MatchSequence(patterns=patterns):
            ways = product(*map(alternatives, patterns))
            return [ast.copy_location(ast.MatchSequence(list(way)), node) for way in ways]
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            count = len(patterns)
            ways = product(*map(alternatives, [*patterns, *named]))
            made = [ast.MatchClass(cls, list(way[:count]), names, list(way[count:])) for way in ways]
            return [ast.copy_location(each, node) for each in made]
        case _:
            return [node]


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


def pattern(block: Block, node: ast.pattern, type_: Type, tests: Tests) -> Pattern:
    """A pattern for values of a type; the names it binds join the block, and what it does not say itself the tests."""
    match node, type_:
        case ast.MatchAs(pattern=None, name=None), _:
            return PatternWildcard()
        case ast.MatchAs(pattern=None, name=str() as name), _:
            var = block.names[name] = Var(name, type_, span=block.span(node))
            block.type_of(var)
            return PatternVar(var)
        case ast.MatchValue(value=value), TensorType(shape=()):
            return _equal(block, dispatch.operand(block, value), type_, tests, node)
        case ast.MatchSingleton(value=bool() as value), TensorType(shape=(), dtype=DType.BOOL):
            return _equal(block, value, type_, tests, node)
        case ast.MatchClass(cls=cls), _:
            return _of_class(block, node, dispatch.expr(block, cls), type_, tests)
        case ast.MatchSequence(patterns=patterns), TupleType(fields=fields) if len(patterns) == len(fields):
            return PatternTuple(tuple(pattern(block, *pair, tests) for pair in zip(patterns, fields, strict=True)))
        case ast.MatchSequence(patterns=patterns), TypeCall() if is_list(type_):
            return _of_list(block, node, patterns, type_, tests)
        case ast.MatchSingleton(value=None), _ if is_option(type_):
            return PatternConstructor(constructor_named(block, "Option", "None"))
        case _:
            raise refusal(
                block.span(node), f"this pattern for a value of type {type_}",
                "use constructors, tuples, [first, *rest], numbers, names and _",
            )  # fmt: skip


def present(block: Block, node: ast.pattern, type_: Type, tests: Tests) -> Pattern:
    """A pattern behind `case None`: for what is there."""
    assert isinstance(type_, TypeCall)
    some = constructor_named(block, "Option", "Some")
    return PatternConstructor(some, (pattern(block, node, type_.args[0], tests),))


def _equal(block: Block, wanted: Any, type_: Type, tests: Tests, node: ast.pattern) -> Pattern:
    """A pattern for one number."""
    var = with_known_type(Var("number", type_, span=block.span(node)))
    tests.append(lambda inner: comparison(inner, ast.Eq(), var, wanted, inner.span(node)))
    return PatternVar(var)


def _of_class(block: Block, node: ast.MatchClass, cls: Any, type_: Type, tests: Tests) -> Pattern:
    form = form_in(type_)
    if isinstance(type_, TupleType) and form is not None and cls is form.kind:
        inner = zip(_by_name(block, node, form.kind.__name__, form.names), type_.fields, strict=True)
        return PatternTuple(tuple(pattern(block, each, field, tests) for each, field in inner))
    header = type_.func if isinstance(type_, TypeCall) else type_
    if not isinstance(cls, type) or getattr(cls, "__relay_type__", None) != header:
        raise RelayError(
            rule="bad-pattern", message=f"the pattern is of another type than the value, a {type_}",
            span=block.span(node), found=str(getattr(cls, "__qualname__", cls)),
        )  # fmt: skip
    constructor = constructor_of(cls, block.session.types)
    patterns = _by_name(block, node, cls.__name__, field_names(cls))
    fields = block.session.types.fields(cast("TypeCall | GlobalTypeVar", type_))[constructor.name_hint]
    inner = tuple(pattern(block, each, field, tests) for each, field in zip(patterns, fields, strict=True))
    return PatternConstructor(constructor, inner)


def _by_name(block: Block, node: ast.MatchClass, name: str, order: Sequence[str]) -> list[ast.pattern]:
    """The pattern for each field, in order. Raises `RelayError` (rule `arity`)."""
    given = {
        **dict(zip(order, node.patterns, strict=False)),
        **dict(zip(node.kwd_attrs, node.kwd_patterns, strict=True)),
    }
    count = len(node.patterns) + len(node.kwd_patterns)
    if len(node.patterns) > len(order) or len(given) != count or not given.keys() <= set(order):
        raise RelayError(
            rule="arity", message=f"the pattern `{name}` has {count} parts",
            span=block.span(node), expected=f"{len(order)}: {', '.join(order)}",
        )  # fmt: skip
    return [given.get(name, ast.copy_location(ast.MatchAs(), node)) for name in order]


def _of_list(block: Block, node: ast.AST, patterns: Sequence[ast.pattern], type_: TypeCall, tests: Tests) -> Pattern:
    """`[]`, `[first]`, `[first, *rest]` for a Relay list."""
    result: Pattern = PatternConstructor(constructor_named(block, "List", "Nil"))
    cons, heads = constructor_named(block, "List", "Cons"), list(patterns)
    if heads and isinstance(heads[-1], ast.MatchStar):
        star = cast("ast.MatchStar", heads.pop())
        result = pattern(block, ast.copy_location(ast.MatchAs(None, star.name), star), type_, tests)
    if any(isinstance(each, ast.MatchStar) for each in heads):
        raise refusal(block.span(node), "`*` before the end of a pattern", "put it last: [first, *rest]")
    found = [pattern(block, each, type_.args[0], tests) for each in heads]
    for each in reversed(found):
        result = PatternConstructor(cons, (each, result))
    return result

"""`if` and `match`. What follows a branch that may leave early is a local function of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.assigned import assigned_names, leaves_early, may_fall_through
from relay.frontend.python.block import Block, End, Exits, Unset, is_expr
from relay.frontend.python.datatype import constructor_of
from relay.frontend.python.source import refusal
from relay.frontend.python.values import alike, as_expr, constructor_named, is_list, is_option
from relay.ir.expr import (
    Call,
    Clause,
    Expr,
    Function,
    If,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.type_traversal import map_type
from relay.ir.types import GlobalTypeVar, TupleType, Type, TypeCall


@dataclass(slots=True, eq=False)
class _Join:
    """The local function. Its parameters are the variables that may differ, as the first way that enters has them;
    `owned` are those that every way has alone."""

    names: Sequence[str]
    span: Span
    var: Var
    owned: list[bool]
    params: tuple[Var, ...] | None = None

    def enter(self, block: Block) -> Expr:
        wanted = [None] * len(self.names) if self.params is None else [block.type_of(each) for each in self.params]
        worth = [block.names[name] for name in self.names]
        values = [as_expr(block, v, self.span, w, declared=False) for v, w in zip(worth, wanted, strict=True)]
        owns = block.ownership.owns
        self.owned = [is_owned and owns(value) for is_owned, value in zip(self.owned, worth, strict=True)]
        if self.params is None:
            self.params = tuple(Var(n, block.type_of(value)) for n, value in zip(self.names, values, strict=True))
            for each in self.params:
                block.type_of(each)
        return block.closed(Call(self.var, tuple(values)))


def joined(block: Block, names: Sequence[str], span: Span, ways: Callable[[End], Expr], behind: End) -> Expr:
    """What `ways` makes, whose ways end by what it is given, and enter `behind` there: that is part of the program
    once, and sees the variables `names` as the way that was taken left them."""
    join = _Join(names, span, Var("after"), [True] * len(names))
    made = ways(join.enter)
    if join.params is None:
        return made  # no way leads there
    inner = block.inside()
    inner.names.update(zip(names, join.params, strict=True))
    for param, is_owned in zip(join.params, join.owned, strict=True):
        if is_owned:
            block.ownership.own(param)
    return Let(join.var, Function(join.params, behind(inner)), made)


def changing_names(block: Block, names: Sequence[str]) -> list[str]:
    """Those of the names that have a value here."""
    return [name for name in names if name in block.names and not isinstance(block.names[name], Unset)]


Sides: TypeAlias = Sequence[tuple[Block, Sequence[ast.stmt]]]
"""Runs of statements of which one is taken, each with the block that it begins in."""


def if_else(block: Block, node: ast.If, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    condition = dispatch.truth(block, node.test)
    if not is_expr(condition):  # known now: only one side is part of the program
        return dispatch.some(block, node.body if condition else node.orelse, rest, exits)
    sides = [(block.inside(), node.body), (block.inside(), node.orelse)]
    span = block.span(node.test)
    return _choose(block, sides, lambda made: If(condition, made[0], made[1], span=span), rest, exits, span)


def match(block: Block, node: ast.Match, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    span = block.span(node.subject)
    subject = block.bind("subject", as_expr(block, dispatch.expr(block, node.subject), span), span)
    type_ = block.type_of(subject)
    sides: list[tuple[Block, Sequence[ast.stmt]]] = []
    patterns: list[Pattern] = []
    is_there = False
    for case in node.cases:
        if case.guard is not None:
            raise refusal(block.span(case.guard), "a guard", "test it with `if` inside the case")
        side = block.inside()
        patterns.append((present if is_there else pattern)(side, case.pattern, type_))
        sides.append((side, case.body))
        is_there |= is_option(type_) and isinstance(case.pattern, ast.MatchSingleton)

    def combine(made: list[Expr]) -> Expr:
        return Match(subject, tuple(map(Clause, patterns, made)), span=span)

    return _choose(block, sides, combine, rest, exits, span)


def _choose(
    block: Block, sides: Sides, combine: Callable[[list[Expr]], Expr], rest: Sequence[ast.stmt], exits: Exits,
    span: Span,
) -> Expr | None:  # fmt: skip
    """One of several runs of statements, and then `rest`."""
    if not any(leaves_early(statements) for _, statements in sides):
        _go_on(block, sides, combine, span)
        return None

    def behind(side: Block) -> Expr:
        return dispatch.run(side, rest, exits)

    def ways(fall: End) -> Expr:
        ends = replace(exits, fall=fall)
        return combine([dispatch.run(side, statements, ends) for side, statements in sides])

    falling = [statements for _, statements in sides if may_fall_through(statements)]
    if len(falling) <= 1:
        return block.closed(ways(behind))
    changed = _changed_names(sides)
    definite = [assigned_names(each, definitely=True) for each in falling]
    known = changing_names(block, changed)
    names = [name for name in changed if name in known or all(name in each for each in definite)]
    return block.closed(joined(block, names, span, ways, behind))


def _changed_names(sides: Sides) -> list[str]:
    return list(dict.fromkeys(name for _, statements in sides for name in assigned_names(statements)))


def _go_on(block: Block, sides: Sides, combine: Callable[[list[Expr]], Expr], span: Span) -> None:
    """Sides that all go on behind the branch: it is worth the variables that they changed."""
    for side, statements in sides:
        dispatch.straight(side, statements)
    names: list[str] = []
    for name in _changed_names(sides):
        worth = [side.names.get(name, Unset(span)) for side, _ in sides]
        unset = next((each for each in worth if isinstance(each, Unset)), None)
        if unset is not None or all(each is worth[0] for each in worth):
            block.names[name] = unset or worth[0]
        else:
            names.append(name)
    columns = [alike([(side, side.names[name]) for side, _ in sides], span) for name in names]
    owned = [all(block.ownership.owns(side.names[name]) for side, _ in sides) for name in names]
    results: list[Expr] = []
    for position, (side, _) in enumerate(sides):
        fields = tuple(column[position] for column in columns)
        results.append(side.closed(fields[0] if len(fields) == 1 else Tuple(fields, span=span)))
    take_state(block, names, combine(results), "chosen" if names else "unused", span)
    for name, is_owned in zip(names, owned, strict=True):
        if is_owned:
            block.ownership.own(block.names[name])


def take_state(block: Block, names: Sequence[str], state: Expr, hint: str, span: Span) -> None:
    """The variables `names` are what an expression is worth: its fields, or itself where there is one."""
    if len(names) == 1:
        block.names[names[0]] = block.bind(names[0], state, span)
        return
    whole = block.bind(hint, state, span)
    for position, name in enumerate(names):
        block.names[name] = block.bind(name, TupleGetItem(whole, position, span=span), span)


def pattern(block: Block, node: ast.pattern, type_: Type) -> Pattern:
    """A pattern for values of a type; the names it binds join the block."""
    match node, type_:
        case ast.MatchAs(pattern=None, name=None), _:
            return PatternWildcard()
        case ast.MatchAs(pattern=None, name=str() as name), _:
            var = block.names[name] = Var(name, type_, span=block.span(node))
            block.type_of(var)
            return PatternVar(var)
        case ast.MatchClass(cls=cls, patterns=patterns, kwd_patterns=[]), _:
            return _of_class(block, node, dispatch.expr(block, cls), patterns, type_)
        case ast.MatchSequence(patterns=patterns), TupleType(fields=fields) if len(patterns) == len(fields):
            return PatternTuple(tuple(pattern(block, *pair) for pair in zip(patterns, fields, strict=True)))
        case ast.MatchSequence(patterns=patterns), TypeCall() if is_list(type_):
            return _of_list(block, node, patterns, type_)
        case ast.MatchSingleton(value=None), _ if is_option(type_):
            return PatternConstructor(constructor_named(block, "Option", "None"))
        case _:
            raise refusal(
                block.span(node), f"this pattern for a value of type {type_}",
                "use constructors, tuples, [first, *rest], names and _",
            )  # fmt: skip


def present(block: Block, node: ast.pattern, type_: Type) -> Pattern:
    """A pattern behind `case None`: for what is there."""
    assert isinstance(type_, TypeCall)
    some = constructor_named(block, "Option", "Some")
    return PatternConstructor(some, (pattern(block, node, type_.args[0]),))


def _of_class(block: Block, node: ast.AST, cls: Any, patterns: Sequence[ast.pattern], type_: Type) -> Pattern:
    header = type_.func if isinstance(type_, TypeCall) else type_
    if not isinstance(cls, type) or getattr(cls, "__relay_type__", None) != header:
        raise RelayError(
            rule="bad-pattern", message=f"the pattern is of another type than the value, a {type_}",
            span=block.span(node), found=str(getattr(cls, "__qualname__", cls)),
        )  # fmt: skip
    constructor = constructor_of(cls, block.session.types)
    if len(patterns) != len(constructor.inputs):
        raise RelayError(
            rule="arity", message=f"the pattern `{constructor.name_hint}` has {len(patterns)} parts",
            span=block.span(node), expected=f"{len(constructor.inputs)}",
        )  # fmt: skip
    data = block.session.types[cast("GlobalTypeVar", header)]
    chosen: dict[Type, Type] = dict(zip(data.type_vars, getattr(type_, "args", ()), strict=True))
    fields = [map_type(each, lambda part: chosen.get(part, part)) for each in constructor.inputs]
    inner = tuple(pattern(block, each, field) for each, field in zip(patterns, fields, strict=True))
    return PatternConstructor(constructor, inner)


def _of_list(block: Block, node: ast.AST, patterns: Sequence[ast.pattern], type_: TypeCall) -> Pattern:
    """`[]`, `[first]`, `[first, *rest]` for a Relay list."""
    result: Pattern = PatternConstructor(constructor_named(block, "List", "Nil"))
    cons, heads = constructor_named(block, "List", "Cons"), list(patterns)
    if heads and isinstance(heads[-1], ast.MatchStar):
        star = cast("ast.MatchStar", heads.pop())
        result = pattern(block, ast.copy_location(ast.MatchAs(None, star.name), star), type_)
    if any(isinstance(each, ast.MatchStar) for each in heads):
        raise refusal(block.span(node), "`*` before the end of a pattern", "put it last: [first, *rest]")
    found = [pattern(block, each, type_.args[0]) for each in heads]
    for each in reversed(found):
        result = PatternConstructor(cons, (each, result))
    return result

"""`if` and `match`. What follows a branch that may leave early is a local function of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from relay.base.frozen import mutable
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, Exits, Unset, is_expr
from relay.frontend.python.expressions.operators import tested_name
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.syntax.assigned import assigned_names, leaves_early, may_fall_through, named_in
from relay.frontend.python.tuples import Form, common, form_of
from relay.frontend.python.values import alike, as_expr
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    If,
    Let,
    Tuple,
    TupleGetItem,
    Var,
)


@mutable
class _Join:
    """The local function. Its parameters are the variables that may differ, as the first way that enters has them;
    `held` is how every way holds them at least, and `forms` are those that they have on each."""

    names: Sequence[str]
    span: Span
    var: Var
    held: list[Held]
    forms: list[list[Form | None]]
    params: tuple[Var, ...] | None = None

    def enter(self, block: Block) -> Expr:
        wanted = [None] * len(self.names) if self.params is None else [block.type_of(each) for each in self.params]
        worth = [block.names[name] for name in self.names]
        values = [as_expr(block, v, self.span, w, declared=False) for v, w in zip(worth, wanted, strict=True)]
        self.held = [min(held, block.ownership.held(value)) for held, value in zip(self.held, worth, strict=True)]
        self.forms.append(list(map(form_of, worth)))
        if self.params is None:
            self.params = tuple(Var(n, block.type_of(value)) for n, value in zip(self.names, values, strict=True))
            for each in self.params:
                block.type_of(each)
        return block.closed(Call(self.var, tuple(values)))


def joined(block: Block, names: Sequence[str], span: Span, ways: Callable[[End], Expr], behind: End) -> Expr:
    """What `ways` makes, whose ways end by what it is given, and enter `behind` there: that is part of the program
    once, and sees the variables `names` as the way that was taken left them."""
    join = _Join(names, span, Var("after"), [Held.WITH_PARTS] * len(names), [])
    made = ways(join.enter)
    if join.params is None:
        return made  # no way leads there
    inner = block.inside()
    for param, held in zip(join.params, join.held, strict=True):
        block.ownership.own(param, held)
    forms = map(common, zip(*join.forms, strict=True))
    worth = (inner.named(form, each) for form, each in zip(forms, join.params, strict=True))
    inner.names.update(zip(names, worth, strict=True))
    return Let(join.var, Function(join.params, behind(inner)), made)


def changing_names(block: Block, names: Sequence[str]) -> list[str]:
    """Those of the names that have a value here."""
    return [name for name in names if name in block.names and not isinstance(block.names[name], Unset)]


Sides: TypeAlias = Sequence[tuple[Block, Sequence[ast.stmt]]]
"""Runs of statements of which one is taken, each with the block that it begins in."""


def if_else(block: Block, node: ast.If, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
    match node.test:
        case ast.Compare(left=ast.NamedExpr(target=name) as first, comparators=[ast.Constant(value=None)] as none):
            dispatch.operand(block, first)  # if (x := f()) is None
            test = ast.copy_location(ast.Compare(name, node.test.ops, none), node.test)
            node = ast.copy_location(ast.If(test, node.body, node.orelse), node)
        case _:
            pass
    by_presence = _is_there(block, node)
    if by_presence is not None:
        return dispatch.some(block, [by_presence], rest, exits)
    apart = _one_by_one(block, node)
    if apart is not None:
        return dispatch.some(block, [apart], rest, exits)
    condition = dispatch.truth(block, node.test)
    if not is_expr(condition):  # known now: only one side is part of the program
        return dispatch.some(block, node.body if condition else node.orelse, rest, exits)
    sides = [(block.inside(), node.body), (block.inside(), node.orelse)]
    span = block.span(node.test)
    return choose(block, sides, lambda made: If(condition, made[0], made[1], span=span), rest, exits, span)


def _one_by_one(block: Block, node: ast.If) -> ast.If | None:
    """`if a and b:` as `if a: if b:`, where `b` names something, or `a` asks whether a variable is there: what is known
    behind both is known in the body."""
    if not isinstance(node.test, ast.BoolOp) or not isinstance(node.test.op, ast.And):
        return None
    first, *others = node.test.values
    if not any(map(named_in, others)) and tested_name(block, first) is None:
        return None
    rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(ast.And(), others), others[0])
    inner = ast.copy_location(ast.If(rest, node.body, node.orelse), rest)
    return ast.copy_location(ast.If(first, [inner], node.orelse), node)


def _is_there(block: Block, node: ast.If) -> ast.Match | None:
    """`if x is None:` of a variable that may be missing, as a `match`, behind which it is what is there."""
    tested = tested_name(block, node.test)
    if tested is None:
        return None
    name, if_missing = tested
    left = ast.copy_location(ast.Name(name, ast.Load()), node.test)
    missing, there = (node.body, node.orelse) if if_missing else (node.orelse, node.body)
    nothing = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
    cases = [
        ast.match_case(ast.copy_location(ast.MatchSingleton(None), left), None, missing or [nothing]),
        ast.match_case(ast.copy_location(ast.MatchAs(None, name), left), None, there or [nothing]),
    ]
    return ast.copy_location(ast.Match(left, cases), node)


def choose(
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
    changed = changed_names(sides)
    definite = [assigned_names(each, definitely=True) for each in falling]
    known = changing_names(block, changed)
    names = [name for name in changed if name in known or all(name in each for each in definite)]
    return block.closed(joined(block, names, span, ways, behind))


def changed_names(sides: Sides) -> list[str]:
    """The variables that some side changes. A name that is none here stands for something outside: `np.sort`."""
    return list(dict.fromkeys(n for side, statements in sides for n in assigned_names(statements) if n in side.names))


def _go_on(block: Block, sides: Sides, combine: Callable[[list[Expr]], Expr], span: Span) -> None:
    """Sides that all go on behind the branch: it is worth the variables that they changed."""
    for side, statements in sides:
        dispatch.straight(side, statements)
    names: list[str] = []
    for name in changed_names(sides):
        worth = [side.names.get(name, Unset(span)) for side, _ in sides]
        unset = next((each for each in worth if isinstance(each, Unset)), None)
        if unset is not None or all(each is worth[0] for each in worth):
            block.names[name] = unset or worth[0]
        else:
            names.append(name)
    columns = [alike([(side, side.names[name]) for side, _ in sides], span) for name in names]
    held = [min(block.ownership.held(side.names[name]) for side, _ in sides) for name in names]
    forms = [common([form_of(side.names[name]) for side, _ in sides]) for name in names]
    results: list[Expr] = []
    for position, (side, _) in enumerate(sides):
        fields = tuple(column[position] for column in columns)
        results.append(side.closed(fields[0] if len(fields) == 1 else Tuple(fields, span=span)))
    take_state(block, names, combine(results), "chosen" if names else "unused", span)
    for name, each, form in zip(names, held, forms, strict=True):
        block.names[name] = block.named(form, block.ownership.own(block.names[name], each), span)


def take_state(block: Block, names: Sequence[str], state: Expr, hint: str, span: Span) -> None:
    """The variables `names` are what an expression is worth: its fields, or itself where there is one."""
    if len(names) == 1:
        block.names[names[0]] = block.bind(names[0], state, span)
        return
    whole = block.bind(hint, state, span)
    for position, name in enumerate(names):
        block.names[name] = block.bind(name, TupleGetItem(whole, position, span=span), span)

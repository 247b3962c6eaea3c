"""`if` and `match`. What follows a branch that may leave early is a local function of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from relay import op
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, End, Exits, Unset, is_expr
from relay.frontend.python.expressions.operators import narrows, tested_name
from relay.frontend.python.facts.ownership import Held, Seen
from relay.frontend.python.library.meeting import Meeting, alike
from relay.frontend.python.statements.simple import told
from relay.frontend.python.syntax.assigned import assigned_names, leaves_early, may_fall_through
from relay.ir.expr import (
    Call,
    Expr,
    Function,
    If,
    Let,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ops.elementwise.elementwise_unary import logical_not


def joined(block: Block, names: Sequence[str], span: Span, ways: Callable[[End], Expr], behind: End) -> Expr:
    """What `ways` makes, whose ways end by what it is given, and enter `behind` there: that is a local function of the
    program, which sees the variables `names` as the way that was taken left them."""
    meeting, ownership = Meeting([f"`{name}`" for name in names]), block.ownership
    seen, held = list[Seen](), list[list[Held]]()

    def end(side: Block) -> Expr:
        worth = [side.names[name] for name in names]
        seen.append(ownership.seen())
        held.append([ownership.meets(each) for each in worth])
        return meeting.end(side, worth, span)

    made = ways(end)
    if not meeting.ways:
        return made  # no way leads there
    columns = meeting.met()
    inner, after, params = block.inside(), Var("after"), list[Var]()
    ownership.meet(seen)
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        param = Var(name, meeting.ways[0][1].type_of(column[0]))
        inner.type_of(param)
        ends = zip(held, meeting.ways, strict=True)
        ownership.own(param, min(ownership.held_at_most(way[2][place], each[place]) for each, way in ends))
        params.append(param)
        inner.names[name] = inner.named(param)
    made = meeting.closed(made, columns, lambda values: Call(after, tuple(values)))
    return Let(after, Function(tuple(params), behind(inner)), made)


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
    span = block.span(node.test)
    for raising, other, holds in (
        (node.body, node.orelse, logical_not(condition)),
        (node.orelse, node.body, condition),
    ):
        match raising:
            case [ast.Raise(exc=raised)]:
                block.bind("asserted", op.checked(const(True), holds, told(block, raised)), span)
                return dispatch.some(block, other, rest, exits)
            case _:
                pass
    sides = [(block.inside(), node.body), (block.inside(), node.orelse)]
    return choose(block, sides, lambda made: If(condition, made[0], made[1], span=span), rest, exits, span)


def _one_by_one(block: Block, node: ast.If) -> ast.If | None:
    """A branch whose test has parts that tell something by themselves, as branches of which each asks for one:
    `if a and b:` as `if a: if b:`. What is known behind all of them is known in the body."""
    if not narrows(block, node.test):
        return None
    nothing: list[ast.stmt] = [ast.Pass(lineno=node.lineno, col_offset=node.col_offset)]
    test, body, orelse = node.test, node.body, node.orelse
    match test:
        case ast.UnaryOp(operand=inside):
            test, body, orelse = inside, orelse or nothing, body
        case ast.BoolOp(op=ast.Or(), values=values):  # none of them fails
            each: list[ast.expr] = [ast.copy_location(ast.UnaryOp(ast.Not(), value), value) for value in values]
            test, body, orelse = ast.copy_location(ast.BoolOp(ast.And(), each), test), orelse or nothing, body
        case ast.BoolOp(values=[first, *others]):
            rest = others[0] if len(others) == 1 else ast.copy_location(ast.BoolOp(ast.And(), others), others[0])
            behind: list[ast.stmt] = [ast.copy_location(ast.If(rest, body, orelse), rest)]
            test, body = first, behind
        case _:  # a variable: whether it is there, and then whether it is true
            is_there = ast.Compare(test, [ast.IsNot()], [ast.copy_location(ast.Constant(None), test)])
            behind = [ast.copy_location(ast.If(test, body, orelse), node)]
            test, body = ast.copy_location(is_there, test), behind
    return ast.copy_location(ast.If(test, body, orelse), node)


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
        ends, each_way = replace(exits, fall=fall), block.ownership.each_way
        return combine([dispatch.run(side, statements, ends) for side, statements in each_way(sides)])

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
    held: list[dict[str, Held]] = []
    assigned = {name for _, statements in sides for name in assigned_names(statements)}
    for side, statements in block.ownership.each_way(sides):
        dispatch.straight(side, statements)
        held.append({name: block.ownership.meets(side.names[name]) for name in assigned if name in side.names})
    names: list[str] = []
    for name in changed_names(sides):
        worth = [side.names.get(name, Unset(span)) for side, _ in sides]
        unset = next((each for each in worth if isinstance(each, Unset)), None)
        if unset is not None or all(each is worth[0] for each in worth):
            block.names[name] = unset or worth[0]
        else:
            names.append(name)
    columns = [alike([(side, side.names[name], span) for side, _ in sides], f"`{name}`") for name in names]
    results: list[Expr] = []
    for position, (side, _) in enumerate(sides):
        fields = tuple(column[position] for column in columns)
        results.append(side.closed(fields[0] if len(fields) == 1 else Tuple(fields, span=span)))
    take_state(block, names, combine(results), "chosen" if names else "unused", span)
    for name in names:
        least = min(each[name] for each in held)
        block.names[name] = block.named(block.ownership.own(block.names[name], least), span)


def take_state(block: Block, names: Sequence[str], state: Expr, hint: str, span: Span) -> None:
    """The variables `names` are what an expression is worth: its fields, or itself where there is one."""
    if len(names) == 1:
        block.names[names[0]] = block.bind(names[0], state, span)
        return
    whole = block.bind(hint, state, span)
    for position, name in enumerate(names):
        block.names[name] = block.bind(name, TupleGetItem(whole, position, span=span), span)

"""Statements. A branch is an `if` or a `match`; a loop is a local function that calls itself in tail position, whose
parameters are the variables that the loop changes; what follows a branch that may leave early is a local function too.

A run of statements is translated to one expression. `Exits` says what stands at each way out of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.span import Span, reading
from relay.frontend.python.assigned import (
    assigned_names,
    is_read_outside,
    leaves_early,
    may_fall_through,
    target_names,
)
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.calls import Calls
from relay.frontend.python.exits import NEVER, End, Exits
from relay.frontend.python.lists import change_list
from relay.frontend.python.loops import Join, Loop
from relay.frontend.python.ownership import changes_in_place
from relay.frontend.python.source import refusal
from relay.frontend.python.stepping import Counting, Stepping, stepping_of
from relay.frontend.python.unrolled import Unrolled, unroll
from relay.frontend.python.values import alike, as_expr, is_list, is_option
from relay.ir.expr import Clause, Expr, If, Match, RefWrite, Tuple, TupleGetItem
from relay.ir.types import TensorType, Type


class Statements(Calls):
    """Translates statements over what `Calls` and `Expressions` do for expressions."""

    def straight(self, block: Block, statements: Sequence[ast.stmt]) -> None:
        self.some(block, statements, (), NEVER)

    def body(self, block: Block, statements: Sequence[ast.stmt], result: Type | None) -> Expr:
        def give(end: Block, value: Any, span: Span) -> Expr:
            return end.closed(self.as_argument(end, value, span, result))

        first = self.source.span(statements[0])
        return self.run(block, statements, Exits(lambda end: give(end, None if result else (), first), give))

    def run(self, block: Block, statements: Sequence[ast.stmt], exits: Exits) -> Expr:
        """The expression that a run of statements is."""
        tail = self.some(block, statements, (), exits)
        return exits.fall(block) if tail is None else tail

    def some(
        self, block: Block, statements: Sequence[ast.stmt], rest: Sequence[ast.stmt], exits: Exits
    ) -> Expr | None:  # fmt: skip
        """Add statements to the block; the whole expression when one of them, with what follows, is the end."""
        for position, statement in enumerate(statements):
            with reading(self.span(statement)):
                tail = self.statement(block, statement, [*statements[position + 1 :], *rest], exits)
            if tail is not None:
                return tail
        return None

    def statement(self, block: Block, node: ast.stmt, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
        """Add one statement to the block; the whole expression when it, with the rest, is the end."""
        match node:
            case ast.Return(value=value):
                return exits.give(block, None if value is None else self.read(block, value), self.span(node))
            case ast.Assign(targets=targets, value=value):
                result = self.popped(block, targets, value)
                for target in targets:
                    self.assign(block, target, result)
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                self.annotated(block, node, target, annotation, value)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augmented(block, node, target, op, value)
            case ast.Expr(value=value):
                self.effect(block, value)
            case ast.FunctionDef():
                block.names[node.name] = self.template(block, node)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(block, test, body, orelse, rest, exits)
            case ast.Match():
                return self.match(block, node, rest, exits)
            case ast.While() | ast.For():
                return self.loop(block, node, rest, exits)
            case ast.Break() if exits.leave is not None:
                return exits.leave(block)
            case ast.Continue() if exits.again is not None:
                return exits.again(block)
            case ast.Pass():
                pass
            case _:
                raise refusal(self.span(node), f"`{type(node).__name__.lower()}`", "leave it out")
        return None

    # ------------------------------------------------------------------------------------------------ assignment

    def assign(self, block: Block, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                before = block.names.get(name)
                if is_expr(before) and is_option(block.type_of(before)):  # what may be missing stays so
                    value = as_expr(block, value, self.span(target), block.type_of(before))
                block.names[name] = block.bind(name, value, self.span(target)) if is_expr(value) else value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for each, part in zip(targets, self.parts(block, value, len(targets), self.span(target)), strict=True):
                    self.assign(block, each, part)
            case ast.Attribute(value=owner, attr="value"):
                cell = as_expr(block, self.expr(block, owner), self.span(target))
                stored = as_expr(block, value, self.span(target), getattr(block.type_of(cell), "value", None))
                block.bind("done", RefWrite(cell, stored, span=self.span(target)))
            case _:
                raise refusal(
                    self.span(target), "an assignment to part of a value",
                    "values do not change: make a new one (relay.where, relay.concatenate), or keep it in a relay.ref",
                )  # fmt: skip

    def augmented(
        self, block: Block, node: ast.AugAssign, target: ast.expr, op: ast.operator, value: ast.expr
    ) -> None:  # fmt: skip
        """`y += x`. An array or a list changes in place: only one that nothing else holds may."""
        read = _as_read(target)
        before = self.operand(block, read)
        result = self.binary(block, op, before, self.operand(block, value), self.span(node))
        type_ = block.type_of(before) if is_expr(before) else None
        has_axes = isinstance(type_, TensorType) and type_.shape != ()
        if has_axes or changes_in_place(before) or (type_ is not None and is_list(type_)):
            text = ast.unparse(read)
            remedy = f"make a new value: {text} = {text} {ast.unparse(node).split()[1].removesuffix('=')} ..."
            block.session.ownership.change(before, "a change in place", remedy, self.span(node))
            _same_type(block, before, result, self.span(node), remedy)
        self.assign(block, target, block.session.ownership.own(result))

    def annotated(
        self, block: Block, node: ast.AnnAssign, target: ast.expr, annotation: ast.expr, value: ast.expr | None
    ) -> None:
        if not isinstance(target, ast.Name) or value is None:
            raise refusal(self.span(node), "a declaration without a value", "assign the variable where it is declared")
        type_ = self.annotation(annotation)
        found = self.expr(block, value)
        given = as_expr(block, found, self.span(value), type_)
        made = block.bind_as(target.id, given, type_, self.span(target))
        block.names[target.id] = block.session.ownership.hand_on(found, made)

    def popped(self, block: Block, targets: Sequence[ast.expr], value: ast.expr) -> Any:
        """The right side of an assignment: an expression, or an element that leaves a list."""
        match targets, value:
            case _, ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop"), args=args):
                element = change_list(self, block, name, "pop", args, self.span(value))
                result = self.expr(block, value) if element is None else element
            case [ast.Tuple()], ast.Tuple(elts=elements):  # a, b = x + 1, y + 1: no tuple is made
                result = tuple(self.expr(block, each) for each in elements)
            case _:
                result = self.expr(block, value)
        if len(targets) > 1:
            block.session.ownership.share(result)
        return result

    def effect(self, block: Block, value: ast.expr) -> None:
        """An expression statement: done for what it does; what it gives is dropped."""
        if isinstance(value, ast.Constant):
            return  # a docstring
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=args):
                if change_list(self, block, name, method, args, self.span(value)) is not None:
                    return
            case _:
                pass
        result = self.expr(block, value)
        if is_expr(result):
            block.bind("unused", result, self.span(value))

    # -------------------------------------------------------------------------------------------------- branches

    def branch(
        self,
        block: Block,
        test: ast.expr,
        body: Sequence[ast.stmt],
        orelse: Sequence[ast.stmt],
        rest: Sequence[ast.stmt],
        exits: Exits,
    ) -> Expr | None:
        condition = self.truth(block, test)
        if not is_expr(condition):  # known now: only one side is part of the program
            return self.some(block, body if condition else orelse, rest, exits)
        sides = [(block.inside(), body), (block.inside(), orelse)]
        span = self.span(test)
        return self.choose(block, sides, lambda made: If(condition, made[0], made[1], span=span), rest, exits, span)

    def choose(
        self,
        block: Block,
        sides: Sequence[tuple[Block, Sequence[ast.stmt]]],
        combine: Callable[[list[Expr]], Expr],
        rest: Sequence[ast.stmt],
        exits: Exits,
        span: Span,
    ) -> Expr | None:
        """One of several runs of statements, and then `rest`."""
        if not any(leaves_early(statements) for _, statements in sides):
            self._straight(block, sides, combine, span)
            return None
        if sum(may_fall_through(statements) for _, statements in sides) <= 1:
            fall: End = lambda side: self.run(side, rest, exits)  # noqa: E731
            made = [self.run(side, statements, replace(exits, fall=fall)) for side, statements in sides]
            return block.closed(combine(made))
        names = self._flowing(block, sides)
        after = Join(names, span)
        made = [self.run(side, statements, replace(exits, fall=after.enter)) for side, statements in sides]
        return block.closed(after.around(combine(made), block, lambda inner: self.run(inner, rest, exits)))

    def _flowing(self, block: Block, sides: Sequence[tuple[Block, Sequence[ast.stmt]]]) -> list[str]:
        """The names that are worth something after the branch, whichever side is taken, and were changed in it."""
        changed = dict.fromkeys(name for _, statements in sides for name in assigned_names(statements))
        falling = [statements for _, statements in sides if may_fall_through(statements)]
        return [
            name for name in changed
            if (name in block.names and not isinstance(block.names[name], Unset))
            or all(name in assigned_names(each, definitely=True) for each in falling)
        ]  # fmt: skip

    def _straight(
        self,
        block: Block,
        sides: Sequence[tuple[Block, Sequence[ast.stmt]]],
        combine: Callable[[list[Expr]], Expr],
        span: Span,
    ) -> None:
        """Sides that all go on behind the branch: it is worth the variables that they changed."""
        for side, statements in sides:
            self.straight(side, statements)
        changed = dict.fromkeys(name for _, statements in sides for name in assigned_names(statements))
        names: list[str] = []
        for name in changed:
            worth = [side.names.get(name, Unset(span)) for side, _ in sides]
            if any(isinstance(each, Unset) for each in worth):
                block.names[name] = next(each for each in worth if isinstance(each, Unset))
            elif all(each is worth[0] for each in worth):
                block.names[name] = worth[0]
            else:
                names.append(name)
        columns = [alike([(side, side.names[name]) for side, _ in sides], span) for name in names]
        ownership = block.session.ownership
        owned = [all(ownership.owns(side.names[name]) for side, _ in sides) for name in names]
        results: list[Expr] = []
        for position, (side, _) in enumerate(sides):
            fields = tuple(column[position] for column in columns)
            results.append(side.closed(fields[0] if len(fields) == 1 else Tuple(fields, span=span)))
        whole = combine(results)
        if not names:
            block.bind("unused", whole, span)
        elif len(names) == 1:
            block.names[names[0]] = block.bind(names[0], whole, span)
        else:
            chosen = block.bind("chosen", whole, span)
            for position, name in enumerate(names):
                block.names[name] = block.bind(name, TupleGetItem(chosen, position, span=span), span)
        for name, is_owned in zip(names, owned, strict=True):
            if is_owned:
                ownership.own(block.names[name])

    def match(self, block: Block, node: ast.Match, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
        subject = as_expr(block, self.expr(block, node.subject), self.span(node.subject))
        subject = block.bind("subject", subject, self.span(node.subject))
        type_ = block.type_of(subject)
        sides: list[tuple[Block, Sequence[ast.stmt]]] = []
        patterns: list[Any] = []
        for position, case in enumerate(node.cases):
            if case.guard is not None:
                raise refusal(self.span(case.guard), "a guard", "test it with `if` inside the case")
            side = block.inside()
            there = is_option(type_) and any(
                isinstance(each.pattern, ast.MatchSingleton) for each in node.cases[:position]
            )
            patterns.append(
                self.present(side, case.pattern, type_) if there else self.pattern(side, case.pattern, type_)
            )
            sides.append((side, case.body))
        span = self.span(node.subject)

        def combine(made: list[Expr]) -> Expr:
            clauses = tuple(Clause(pattern, body) for pattern, body in zip(patterns, made, strict=True))
            return Match(subject, clauses, span=span)

        return self.choose(block, sides, combine, rest, exits, span)

    # ----------------------------------------------------------------------------------------------------- loops

    def loop(self, block: Block, node: ast.While | ast.For, rest: Sequence[ast.stmt], exits: Exits) -> Expr | None:
        if node.orelse:
            raise refusal(self.span(node.orelse[0]), "`else` of a loop", "put it behind the loop, under an `if`")
        stepping = stepping_of(self, block, node)
        if isinstance(stepping, Sequence):
            assert isinstance(node, ast.For)
            return self._unrolled(block, node, stepping, rest, exits)
        changed = assigned_names(node.body)
        targets = [] if isinstance(node, ast.While) else target_names(node.target)
        changed += [name for name in targets if name not in changed and is_read_outside(self.source.tree, node, name)]
        self._begin_targets(block, node, stepping)
        for name in changed:
            block.names.setdefault(name, Unset(self.span(node)))
        carried = [name for name in changed if not isinstance(block.names[name], Unset)]
        whole = leaves_early(node.body, loops=False)  # a `return` inside: what follows is then part of the loop
        return Loop(self, block, node, stepping, carried).made(rest if whole else None, exits)

    def _begin_targets(self, block: Block, node: ast.While | ast.For, stepping: Stepping) -> None:
        """The variable of a loop that runs at least once has a value behind it, whether or not it had one before."""
        if isinstance(node, ast.For) and isinstance(stepping, Counting) and stepping.runs and stepping.rows is None:
            for name in target_names(node.target):
                if isinstance(block.names.get(name, Unset(self.span(node))), Unset):
                    block.names[name] = stepping.counters[0][1]

    def _unrolled(
        self, block: Block, node: ast.For, items: Sequence[Any], rest: Sequence[ast.stmt], exits: Exits
    ) -> Expr | None:
        """A loop over elements whose number is known now: its body once for each."""
        if not leaves_early(node.body):
            for item in items:
                self.assign(block, node.target, item)
                self.straight(block, node.body)
            return None
        if not leaves_early(node.body, loops=False):
            unroll(self, block, node, items)
            return None
        return Unrolled(self, node, items, lambda side: self.run(side, rest, exits), exits.give).turn(block, 0)


def _same_type(block: Block, before: Any, result: Any, span: Span, remedy: str) -> None:
    """Refuse what NumPy refuses, or rounds: a change in place keeps the element type and the shape."""
    if not is_expr(result) or not is_expr(before):
        return
    types = block.type_of(before), block.type_of(result)
    if types[0] != types[1]:
        raise RelayError(
            rule="changes-type", message="a change in place keeps the type of an array", span=span,
            expected=str(types[0]), found=str(types[1]), remedy=remedy,
        )  # fmt: skip


def _as_read(target: ast.expr) -> ast.expr:
    """An assignment's target as the expression that reads it."""
    match target:
        case ast.Name(id=name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Attribute(value=value, attr=attr):
            return ast.copy_location(ast.Attribute(value, attr, ast.Load()), target)
        case _:
            return target

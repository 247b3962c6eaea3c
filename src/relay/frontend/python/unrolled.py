"""Loops over elements whose number is known now, and whose body may leave early: the body once for each element."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relay.frontend.python.assigned import assigned_names, target_names
from relay.frontend.python.block import Block, Unset
from relay.frontend.python.exits import End, Exits
from relay.frontend.python.loops import Join
from relay.ir.expr import Expr

if TYPE_CHECKING:
    from relay.frontend.python.flow import Statements


class Unrolled:
    """One such loop. What follows an element, the next one or what stands behind the loop, is a local function where
    several ways lead there."""

    def __init__(
        self, statements: Statements, node: ast.For, items: Sequence[Any], rest: Sequence[ast.stmt], exits: Exits
    ) -> None:
        self.statements, self.node, self.items = statements, node, items
        self.rest, self.exits = rest, exits
        self.span = statements.span(node)
        self.breaks = _leaves(node.body, ast.Break)
        self.continues = _leaves(node.body, ast.Continue)

    def turn(self, block: Block, position: int, after: Join | None = None) -> Expr:
        """The expression that the loop is from one element on, with what stands behind it."""
        if after is None and self.breaks:
            behind = Join(self._names(block), self.span)
            made = self.turn(block.inside(), position, behind)
            return block.closed(behind.around(made, block, self._behind))
        if position == len(self.items):
            return self._behind(block) if after is None else after.enter(block)
        following: End = lambda side: self.turn(side, position + 1, after)  # noqa: E731
        leave = self._behind if after is None else after.enter
        self.statements.assign(block, self.node.target, self.items[position])
        if not self.continues:
            return self._body(block, Exits(following, self.exits.give, leave, following))
        join = Join(self._names(block), self.span)
        made = self._body(block.inside(), Exits(join.enter, self.exits.give, leave, join.enter))
        return block.closed(join.around(made, block, following))

    def _body(self, block: Block, exits: Exits) -> Expr:
        return self.statements.run(block, self.node.body, exits)

    def _behind(self, block: Block) -> Expr:
        return self.statements.run(block, self.rest, replace(self.exits))

    def _names(self, block: Block) -> list[str]:
        """The variables that an element may change and that have a value where the ways meet, whichever was taken."""
        names = dict.fromkeys([*target_names(self.node.target), *assigned_names(self.node.body)])
        return [name for name in names if not isinstance(block.names.get(name, Unset(self.span)), Unset)]


def _leaves(statements: Sequence[ast.stmt], form: type[ast.stmt]) -> bool:
    """Whether a `break`, or a `continue`, of the loop stands among statements."""
    for statement in statements:
        if isinstance(statement, form):
            return True
        parts = [getattr(statement, name, []) for name in ("body", "orelse")]
        parts += [case.body for case in getattr(statement, "cases", [])]
        if not isinstance(statement, ast.For | ast.While) and any(_leaves(part, form) for part in parts):
            return True
    return False

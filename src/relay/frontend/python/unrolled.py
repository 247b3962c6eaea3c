"""Loops over elements whose number is known now, and whose body may leave early: the body once for each element."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from relay.base.span import Span
from relay.frontend.python.assigned import assigned_names, target_names
from relay.frontend.python.block import Block, Unset
from relay.frontend.python.exits import End, Exits, cannot_give
from relay.frontend.python.loops import Join
from relay.ir.expr import Expr, Tuple, TupleGetItem

if TYPE_CHECKING:
    from relay.frontend.python.flow import Statements


class Unrolled:
    """One such loop. What follows an element, the next one or what stands `behind` the loop, is a local function where
    several ways lead there."""

    def __init__(
        self, statements: Statements, node: ast.For, items: Sequence[Any], behind: End,
        give: Callable[[Block, Any, Span], Expr] = cannot_give,
    ) -> None:  # fmt: skip
        self.statements, self.node, self.items = statements, node, items
        self.behind, self.give = behind, give
        self.span = statements.span(node)
        self.breaks = _leaves(node.body, ast.Break)
        self.continues = _leaves(node.body, ast.Continue)

    def turn(self, block: Block, position: int, after: Join | None = None) -> Expr:
        """The expression that the loop is from one element on, with what stands behind it."""
        if after is None and self.breaks:
            after = Join(changing_names(block, self.node), self.span)
            made = self.turn(block.inside(), position, after)
            return block.closed(after.around(made, block, self.behind))
        leave = self.behind if after is None else after.enter
        if position == len(self.items):
            return leave(block)
        following: End = lambda side: self.turn(side, position + 1, after)  # noqa: E731
        self.statements.assign(block, self.node.target, self.items[position])
        if not self.continues:
            return self._body(block, Exits(following, self.give, leave, following))
        join = Join(changing_names(block, self.node), self.span)
        made = self._body(block.inside(), Exits(join.enter, self.give, leave, join.enter))
        return block.closed(join.around(made, block, following))

    def _body(self, block: Block, exits: Exits) -> Expr:
        return self.statements.run(block, self.node.body, exits)


def unroll(statements: Statements, block: Block, node: ast.For, items: Sequence[Any]) -> None:
    """A loop that nothing returns from: it is worth the variables that it changes."""
    span, names = statements.span(node), changing_names(block, node)
    behind = Join(names, span)
    made = Unrolled(statements, node, items, behind.enter).turn(block.inside(), 0)

    def values(inner: Block) -> Expr:
        return inner.closed(Tuple(tuple(inner.names[name] for name in names), span=span))

    state = block.bind("state", behind.around(made, block, values), span)
    for name in [*target_names(node.target), *assigned_names(node.body)]:
        block.names.setdefault(name, Unset(span))
    for position, (name, is_owned) in enumerate(zip(names, behind.owned, strict=True)):
        found = block.names[name] = block.bind(name, TupleGetItem(state, position, span=span), span)
        if is_owned:
            block.session.ownership.own(found)


def changing_names(block: Block, node: ast.For) -> list[str]:
    """The variables that an element may change and that have a value where the ways meet, whichever was taken."""
    names = dict.fromkeys([*target_names(node.target), *assigned_names(node.body)])
    return [name for name in names if name in block.names and not isinstance(block.names[name], Unset)]


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

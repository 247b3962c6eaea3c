"""Loops, and what follows where several ways meet, as local functions of the program."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.assigned import assigned_names
from relay.frontend.python.block import Block, Unset
from relay.frontend.python.exits import End, Exits, cannot_give
from relay.frontend.python.stepping import Stepping
from relay.frontend.python.values import as_expr
from relay.ir.expr import Call, Expr, Function, Let, Tuple, TupleGetItem, Var
from relay.ir.types import TensorType, TupleType, Type

if TYPE_CHECKING:
    from relay.frontend.python.flow import Statements


class Join:
    """A local function for what follows where several ways meet. Its parameters are the variables that may differ."""

    def __init__(self, names: Sequence[str], span: Span) -> None:
        self.var = Var("after")
        self.names = names
        self.span = span
        self.params: tuple[Var, ...] | None = None
        self.owned = [True] * len(names)

    def enter(self, block: Block) -> Expr:
        span = self.span
        wanted = [None] * len(self.names) if self.params is None else [block.type_of(each) for each in self.params]
        worth = [block.names[name] for name in self.names]
        values = [as_expr(block, v, span, w, declared=False) for v, w in zip(worth, wanted, strict=True)]
        owns = block.session.ownership.owns
        self.owned = [is_owned and owns(value) for is_owned, value in zip(self.owned, worth, strict=True)]
        if self.params is None:
            self.params = tuple(Var(n, block.type_of(value)) for n, value in zip(self.names, values, strict=True))
            for each in self.params:
                block.type_of(each)
        return block.closed(Call(self.var, tuple(values)))

    def around(self, branches: Expr, block: Block, rest: Callable[[Block], Expr]) -> Expr:
        if self.params is None:
            return branches  # no way leads here
        inner, params = block.inside(), self.params
        inner.names.update(zip(self.names, params, strict=True))
        for param, is_owned in zip(params, self.owned, strict=True):
            if is_owned:
                block.session.ownership.own(param)
        return Let(self.var, Function(params, rest(inner)), branches)


class Loop:
    """A loop as a local function over its position and the variables that it changes."""

    def __init__(
        self, statements: Statements, block: Block, node: ast.While | ast.For, stepping: Stepping, names: list[str]
    ) -> None:
        self.statements, self.block, self.node, self.stepping = statements, block, node, stepping
        self.names = names
        self.span = statements.span(node)
        self.start = [self._begin(name) for name in names]
        self.types = [block.type_of(each) for each in self.start]
        self.state = [Var(name, type_, span=self.span) for name, type_ in zip(names, self.types, strict=True)]
        self.position = [Var(hint, type_, span=self.span) for hint, _, type_ in stepping.counters]
        self.function = Var("loop")
        for start, state in zip(self.start, self.state, strict=True):
            block.session.ownership.begin_loop(start, state)

    def _begin(self, name: str) -> Expr:
        """What a variable is before the loop."""
        worth = self.block.names[name]
        found = self.block.bind(name, as_expr(self.block, worth, self.span), self.span)
        return self.block.session.ownership.hand_on(worth, found)

    def made(self, rest: Sequence[ast.stmt] | None, exits: Exits) -> Expr | None:
        """The loop; with `rest` (when the body may return from inside) the whole expression."""
        inner = self.block.inside()
        for name in assigned_names(self.node.body):
            inner.names[name] = Unset(self.span)
        inner.names.update(zip(self.names, self.state, strict=True))
        for each in (*self.state, *self.position):
            inner.type_of(each)
        after: Join | None = None
        if rest is None:
            end: End = self._values
        else:
            after = Join(self.names, self.span)
            end = after.enter
        give = exits.give if rest is not None else cannot_give
        again: End = lambda side: self._again(side)  # noqa: E731
        body_exits = Exits(again, give, leave=end, again=again)
        step = self.stepping.step(inner, self.position)

        def body(side: Block) -> Expr:
            self.stepping.begin(side, self.position)
            return self.statements.run(side, self.node.body, body_exits)

        function = Function((*self.position, *self.state), inner.closed(step(body, end)), span=self.span)
        call = Call(self.function, (*(start for _, start, _ in self.stepping.counters), *self.start), span=self.span)
        if after is not None:
            tail = Let(self.function, function, call, span=self.span)
            return self.block.closed(
                after.around(tail, self.block, lambda side: self.statements.run(side, rest or (), exits))
            )
        self._finish(Let(self.function, function, call, span=self.span))
        return None

    def _values(self, block: Block) -> Expr:
        """What the loop is worth: the variables that it changes."""
        worth = [block.names[name] for name in self.names]
        values = [as_expr(block, v, self.span, t, declared=False) for v, t in zip(worth, self.types, strict=True)]
        for name, value, type_ in zip(self.names, values, self.types, strict=True):
            self._check(block, name, value, type_)
        for state, value in zip(self.state, worth, strict=True):
            if not block.session.ownership.owns(value):
                block.session.ownership.share(state)
        return block.closed(values[0] if len(values) == 1 else Tuple(tuple(values), span=self.span))

    def _again(self, block: Block) -> Expr:
        values: list[Expr] = []
        for name, type_, state in zip(self.names, self.types, self.state, strict=True):
            value = as_expr(block, block.names[name], self.span, type_, declared=False)
            self._check(block, name, value, type_)
            block.session.ownership.turn(state, block.names[name])
            values.append(value)
        return block.closed(Call(self.function, (*self.stepping.next(block, self.position), *values), span=self.span))

    def _check(self, block: Block, name: str, value: Expr, type_: Type) -> None:
        found = block.type_of(value)
        if not _fits(found, type_):
            raise RelayError(
                rule="loop-variable-changes-type",
                message=f"the variable `{name}` has another type after a turn of the loop than before it",
                span=self.span,
                expected=f"{type_}, as before the loop",
                found=f"{found}, at the end of the body",
                remedy=_remedy(name, type_, found),
            )

    def _finish(self, whole: Expr) -> None:
        names = self.block.names
        if len(self.names) == 1:
            names[self.names[0]] = self.block.bind_as(self.names[0], whole, self.types[0], self.span)
            self._hand_on()
            return
        state = self.block.bind_as("state", whole, TupleType(tuple(self.types)), self.span)
        for position, name in enumerate(self.names):
            names[name] = self.block.bind(name, TupleGetItem(state, position, span=self.span), self.span)
        self._hand_on()

    def _hand_on(self) -> None:
        """The variables are behind the loop what they were in it."""
        for name, state in zip(self.names, self.state, strict=True):
            self.block.session.ownership.hand_on(state, self.block.names[name])


def _fits(found: Type, wanted: Type) -> bool:
    if isinstance(found, TensorType) and isinstance(wanted, TensorType):
        pairs = zip(found.shape, wanted.shape, strict=False)
        return found.dtype == wanted.dtype and len(found.shape) == len(wanted.shape) and all(
            str(w) == "?" or f == w for f, w in pairs
        )  # fmt: skip
    if isinstance(found, TupleType) and isinstance(wanted, TupleType) and len(found.fields) == len(wanted.fields):
        return all(_fits(f, w) for f, w in zip(found.fields, wanted.fields, strict=True))
    return found == wanted


def _remedy(name: str, before: Type, after: Type) -> str:
    if isinstance(before, TensorType) and isinstance(after, TensorType):
        if len(before.shape) != len(after.shape) and all(isinstance(extent, int) for extent in after.shape):
            return f'begin with a value of that shape: {name} = relay.zeros({after.shape}, "{after.dtype}")'
        if before.dtype != after.dtype:
            return f"begin with {name} as {after.dtype}, or convert in the loop: .astype({str(before.dtype)!r})"
        if len(before.shape) == len(after.shape):
            shape = ", ".join(repr("?") if b != a else str(b) for b, a in zip(before.shape, after.shape, strict=True))
            return f'say that the extent changes: {name}: relay.Tensor[({shape},), "{before.dtype}"] = ...'
    return "give the variable one type"

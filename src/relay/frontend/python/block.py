"""The code of one scope as it is being made: bindings in order, and what each Python name is worth at this point.

A name is worth a Relay expression (always one whose type is known), or a Python value: a number, an array, a tuple or
list of such, a function, a module. Python values become constants where an operator or a call needs an expression.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python.session import Session
from relay.ir.expr import Constant, Expr, ExprBase, Let, Var
from relay.ir.types import Type


@frozen
class Unset:
    """A name that only some ways to this point have assigned."""

    span: Span


@dataclass(slots=True, eq=False)
class Block:
    """`names` is what the code so far has assigned; `bindings` what it has computed. `live` are the innermost blocks,
    at this point, of the Python functions around it, by their `frame`. `functions` are the local functions that
    templates have become."""

    session: Session
    names: dict[str, Any]
    bindings: list[tuple[Var, Expr, Span | None]] = field(default_factory=list)
    frame: object = field(default_factory=object)
    live: dict[object, Block] = field(default_factory=dict)
    functions: dict[object, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.live = {**self.live, self.frame: self}

    def inside(self) -> Block:
        """A scope inside this one, of the same Python function, that sees what is known here."""
        return Block(self.session, dict(self.names), frame=self.frame, live=self.live, functions=dict(self.functions))

    def entering(self, around: Block, arguments: dict[str, Any]) -> Block:
        """The scope of a call, made here, of a function that was defined in `around`: its code goes on in this one.
        It sees the names around it as they are now."""
        now = self.live.get(around.frame, around)
        return Block(self.session, {**now.names, **arguments}, self.bindings, live=self.live, functions=self.functions)

    def bind(self, hint: str, value: Expr, span: Span | None = None) -> Expr:
        """A variable for the value, computed here; variables and constants are themselves."""
        if isinstance(value, Var | Constant):
            return value
        var = self.bind_as(hint, value, self.type_of(value), span)
        if value in self.session.ranges:
            self.session.ranges[var] = self.session.ranges[value]
        return self.session.ownership.hand_on(value, var)

    def bind_as(self, hint: str, value: Expr, type_: Type, span: Span | None = None) -> Var:
        """A variable for a value whose type is known."""
        var = Var(hint, type_, span=span)
        self.type_of(var)
        self.bindings.append((var, value, span))
        return var

    def type_of(self, expr: Expr) -> Type:
        return self.session.type_of(expr)

    def closed(self, result: Expr) -> Expr:
        """All that was computed here, then `result`."""
        for var, value, span in reversed(self.bindings):
            result = Let(var, value, result, span=span)
        return result


def is_expr(value: object) -> TypeGuard[Expr]:
    """Whether a value is part of the program, not known now."""
    return isinstance(value, ExprBase)

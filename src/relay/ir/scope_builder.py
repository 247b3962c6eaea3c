"""`ScopeBuilder`, under Relay's name: nested lets and branches written in the order in which they run."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import field

from relay.base.arguments import TEXT, expect
from relay.base.diagnostics import RelayError
from relay.base.frozen import mutable
from relay.base.span import caller_span
from relay.ir.expr import EXPRESSION, Expr, If, Let, Var, record_type
from relay.ir.types import Type


@mutable(eq=True)
class _Scope:
    """What is bound in a scope so far, the value it ends with, and a condition that waits for its `else_scope`."""

    bindings: list[tuple[Var, Expr]] = field(default_factory=list)
    result: Expr | None = None
    waiting: tuple[Expr, Expr] | None = None

    @property
    def is_open(self) -> bool:
        return self.result is None and self.waiting is None


class ScopeBuilder:
    """Builds an expression from statements: each `let` is in scope for what follows, `ret` is what the scope is worth,
    and the two branches of an `if` are scopes of their own, which end it.

    Raises `RelayError` (rule `scope-builder`) for statements behind the end of a scope, an `else_scope` without its
    `if_scope`, and a scope without a value.

    >>> from relay.ir.expr import Tuple, const
    >>> builder = ScopeBuilder()
    >>> pair = builder.let("pair", Tuple((const(1), const(2))))
    >>> with builder.if_scope(const(True)):
    ...     builder.ret(pair)
    >>> with builder.else_scope():
    ...     builder.ret(Tuple((pair, pair)))
    >>> type(builder.get()).__name__
    'Let'
    """

    def __init__(self) -> None:
        self._scopes = [_Scope()]

    def let(self, var: Var | str, value: Expr) -> Var:
        """Bind a variable, or a new one of a name, to `value` in what follows; gives the variable."""
        expect(value, EXPRESSION, "what a variable is bound to")
        if not isinstance(var, Var):
            expect(var, TEXT, "the variable of a let")
            var = Var(var, span=caller_span())
            if value.checked_type is not None:
                record_type(var, value.checked_type)
        self._open().bindings.append((var, value))
        return var

    def ret(self, value: Expr) -> None:
        """End the scope: it is worth `value`."""
        expect(value, EXPRESSION, "what a scope is worth")
        self._open().result = value

    @contextmanager
    def if_scope(self, cond: Expr) -> Generator[None]:
        """The branch that is taken when `cond` holds; its `else_scope` must follow."""
        expect(cond, EXPRESSION, "a condition")
        outer = self._open()
        with self._inner() as scope:
            yield
        outer.waiting = cond, _whole(scope)

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """The branch that is taken when the condition of the `if_scope` before does not hold."""
        outer = self._scopes[-1]
        if outer.waiting is None:
            raise _misused("an else_scope without its if_scope", "open `with builder.if_scope(cond):` before it")
        cond, true_branch = outer.waiting
        with self._inner() as scope:
            yield
        outer.result, outer.waiting = If(cond, true_branch, _whole(scope), span=caller_span()), None

    def type_of(self, expr: Expr) -> Type | None:
        """The type of `expr`, where it is known already."""
        return expr.checked_type

    def get(self) -> Expr:
        """What was built."""
        return _whole(self._scopes[-1])

    def _open(self) -> _Scope:
        scope = self._scopes[-1]
        if not scope.is_open:
            raise _misused(
                "a statement behind the end of its scope", "build what follows before ret, or in the branches"
            )
        return scope

    @contextmanager
    def _inner(self) -> Generator[_Scope]:
        self._scopes.append(_Scope())
        try:
            yield self._scopes[-1]
        finally:
            self._scopes.pop()


def _whole(scope: _Scope) -> Expr:
    if scope.result is None:
        raise _misused("a scope ends without a value", "end it with builder.ret(value), or with both branches of an if")
    body = scope.result
    for var, value in reversed(scope.bindings):
        body = Let(var, value, body, span=var.span)
    return body


def _misused(message: str, remedy: str) -> RelayError:
    return RelayError(rule="scope-builder", message=message, remedy=remedy, span=caller_span())

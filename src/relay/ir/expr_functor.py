"""`ExprFunctor`, `ExprVisitor` and `ExprMutator`, under Relay's names: one method a form of expression, memoised.

A form whose method is not overridden costs no recursion, so a walk recurses as deep as overridden methods call `visit`
inside each other. What is written for deep programs is a step for `ir.rewriting`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar, cast

from relay.base.diagnostics import RelayError
from relay.base.graph import post_order
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.traversal import children, rebuild
from relay.ir.variables import renaming, vars_bound_at

Result = TypeVar("Result")

_METHODS: dict[type, str] = {
    Var: "visit_var", GlobalVar: "visit_global_var", Constant: "visit_constant", Tuple: "visit_tuple",
    TupleGetItem: "visit_tuple_getitem", Function: "visit_function", Call: "visit_call", Let: "visit_let",
    If: "visit_if", RefCreate: "visit_ref_create", RefRead: "visit_ref_read", RefWrite: "visit_ref_write",
    Match: "visit_match", Constructor: "visit_constructor", Op: "visit_op",
}  # fmt: skip


class ExprFunctor(Generic[Result]):
    """A function over expressions: `visit(expr)` is what the method of its form gives (`visit_var`, `visit_call`, ...),
    worked out once for each node. A method that is missing is an error (`no-visit-method`) when its form is met.

    >>> from relay.ir.expr import const
    >>> class Depth(ExprFunctor[int]):
    ...     def visit_constant(self, constant):
    ...         return 0
    ...     def visit_tuple(self, whole):
    ...         return 1 + max(map(self.visit, whole.fields))
    >>> Depth().visit(Tuple((const(1), Tuple((const(2),)))))
    2
    """

    def __init__(self) -> None:
        self.memo_map: dict[Expr, Result] = {}

    def visit(self, expr: Expr) -> Result:
        """What stands for `expr`."""
        if expr not in self.memo_map:
            for node in post_order((expr,), self._entered):
                if node not in self.memo_map:
                    self.memo_map[node] = self._method(node)(node)
        return self.memo_map[expr]

    def _method(self, expr: Expr) -> Any:
        name = _METHODS[type(expr)]
        method = getattr(self, name, None)
        if method is None:
            raise RelayError(
                rule="no-visit-method",
                message=f"{type(self).__name__} does not say what becomes of a {type(expr).__name__}",
                span=expr.span,
                remedy=f"give it a method {name}, or derive from ExprVisitor or ExprMutator",
            )
        return method

    def _entered(self, expr: Expr) -> tuple[Expr, ...]:
        """What is visited before `expr` whatever its method does: nothing, unless that is `visit_parts`."""
        is_default = getattr(type(self), _METHODS[type(expr)], None) is _OverParts.visit_parts
        return tuple(each for each in _parts(expr) if each not in self.memo_map) if is_default else ()


class _OverParts(ExprFunctor[Result], ABC):
    """Every form visits the variables that it binds and its parts, in the order of the text."""

    def visit_parts(self, expr: Any, /) -> Result:
        """Visit the parts of an expression, then make of them what stands for it."""
        for each in _parts(expr):
            self.visit(each)
        return self._made(expr)

    @abstractmethod
    def _made(self, expr: Expr) -> Result:
        """What stands for an expression whose parts were visited."""

    visit_var = visit_global_var = visit_constant = visit_tuple = visit_tuple_getitem = visit_function = visit_parts
    visit_call = visit_let = visit_if = visit_ref_create = visit_ref_read = visit_ref_write = visit_parts
    visit_match = visit_constructor = visit_op = visit_parts


class ExprVisitor(_OverParts[None]):
    """Visits every node once: override the methods of the forms to look at, and call `super()` to go on inside.

    >>> class Names(ExprVisitor):
    ...     found = ()
    ...     def visit_var(self, var):
    ...         self.found += (var.name_hint,)
    >>> names = Names()
    >>> x, y = Var("x"), Var("y")
    >>> names.visit(Let(x, Tuple((y, y)), Tuple((x,))))
    >>> names.found
    ('x', 'y')
    """

    def _made(self, expr: Expr) -> None:
        pass


class ExprMutator(_OverParts[Expr]):
    """Rewrites every node once: a method gives what stands for its expression, the new expression is what `visit`
    gives. Where nothing changed the node itself is kept; what is around a change is untyped.

    >>> x, y = Var("x"), Var("y")
    >>> class Renaming(ExprMutator):
    ...     def visit_var(self, var):
    ...         return y if var is x else var
    >>> Renaming().visit(Function((x,), Tuple((x,)))).params == (y,)
    True
    """

    def _made(self, expr: Expr) -> Expr:
        bound = {var: cast("Var", self.memo_map[var]) for var in vars_bound_at(expr)}
        made = rebuild(expr, [self.memo_map[part] for part in children(expr)])
        return made if all(new is var for var, new in bound.items()) else renaming(bound)(made)


def _parts(expr: Expr) -> tuple[Expr, ...]:
    """The variables that a node binds, and its parts."""
    return (*vars_bound_at(expr), *children(expr))

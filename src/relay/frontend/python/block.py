"""The state of reading: the definition that is read, and the code of one scope as it is being made.

All else is functions of a `Block` and a piece of syntax. The code has bindings in order. A Python name is worth, at
this point, a Relay expression (always one whose type is known), or a Python value: a number, an array, a tuple or list
of such, a function, a module. Python values become constants where an operator or a call needs an expression.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, TypeGuard

from relay.arith.expr import Symbol
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen, mutable
from relay.base.span import Span
from relay.frontend.python.facts.ownership import Held, Ownership
from relay.frontend.python.facts.ranges import Range, range_of
from relay.frontend.python.session import Session
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.deletions import without_deletions
from relay.frontend.python.syntax.nonlocals import with_states_passed
from relay.frontend.python.syntax.source import PythonSource, read_source
from relay.frontend.python.syntax.subset import check_subset
from relay.frontend.python.tuples import form_in
from relay.infer.unification.dimensions import close_symbols, has_unknown_dimension
from relay.ir.expr import Constant, Expr, ExprBase, Let, TupleGetItem, Var
from relay.ir.types import Type, TypeCall


@frozen(eq=False)
class Forms:
    """What becomes of Python's forms: of expressions (of some otherwise where they are conditions) and statements by
    the type of their syntax, of what is called and of functions that are used as values by the type of the value."""

    expressions: Mapping[type[ast.AST], Callable[[Block, Any], Any]]
    conditions: Mapping[type[ast.AST], Callable[[Block, Any], Any]]
    statements: Mapping[type[ast.AST], Callable[[Block, Any, Sequence[ast.stmt], Exits], Expr | None]]
    calls: Mapping[type, Callable[[Block, Any, Arguments], Any]]
    closures: Mapping[type, Callable[[Block, Any, Span, Type | None], Expr]]


@frozen(eq=False)
class Definition:
    """A definition of Python that is being read. `find` tells what a name outside it is worth."""

    source: PythonSource
    find: Callable[[str], Any]
    session: Session
    forms: Forms

    @property
    def extents(self) -> set[Symbol]:
        """Those that parameters name, of this function and of those in whose place its body may stand."""
        return self.session.extents


@frozen
class Unset:
    """A name that only some ways to this point have assigned."""

    span: Span


@mutable
class Block:
    """`names` is what the code so far has assigned; `bindings` what it has computed. `live` are the innermost blocks,
    at this point, of the Python functions around it, by their `frame`. `functions` are the local functions that
    templates have become."""

    definition: Definition
    names: dict[str, Any]
    bindings: list[tuple[Var, Expr, Span | None]] = field(default_factory=list)
    frame: object = field(default_factory=object)
    live: dict[object, Block] = field(default_factory=dict)
    functions: dict[object, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.live = {**self.live, self.frame: self}

    @property
    def session(self) -> Session:
        return self.definition.session

    @property
    def ownership(self) -> Ownership:
        return self.definition.session.ownership

    def span(self, node: ast.AST) -> Span:
        return self.definition.source.span(node)

    def inside(self) -> Block:
        """A scope inside this one, of the same Python function, that sees what is known here."""
        return Block(
            self.definition, dict(self.names), frame=self.frame, live=self.live, functions=dict(self.functions)
        )

    def now(self, around: Block) -> Block:
        """The innermost block, at this point, of the Python function that `around` is of."""
        return self.live.get(around.frame, around)

    def entering(self, around: Block, arguments: Mapping[str, Any]) -> Block:
        """The scope of a call, made here, of a function that was defined in `around`: its code goes on in this one.
        It sees the names around it as they are now."""
        names = {**self.now(around).names, **arguments}
        return Block(around.definition, names, self.bindings, live=self.live, functions=self.functions)

    def bind(self, hint: str, value: Expr, span: Span | None = None) -> Expr:
        """A variable for the value, computed here; variables and constants are themselves."""
        if isinstance(value, Var | Constant):
            return value
        var = self.bind_as(hint, value, self.type_of(value), span)
        if value in self.session.ranges:
            self.session.ranges[var] = self.session.ranges[value]
        return self.ownership.hand_on(value, var)

    def bind_as(self, hint: str, value: Expr, type_: Type, span: Span | None = None) -> Var:
        """A variable for a value whose type is known. Where elements of a list have an extent that only the run knows,
        the type says of the others no more than all of the function knows."""
        if isinstance(type_, TypeCall) and has_unknown_dimension(type_):
            type_ = close_symbols(type_, self.definition.extents)
        var = Var(hint, type_, span=span)
        self.type_of(var)
        self.bindings.append((var, value, span))
        return var

    def named(self, value: Expr, span: Span | None = None) -> Any:
        """A value of the program as what it is in Python: a tuple whose parts have names is one with these."""
        form = form_in(value.checked_type)
        if form is None:
            return value
        held, whole, parts = self.ownership.held(value), self.bind("fields", value, span), list[Any]()
        for position in range(len(form.names)):
            part = self.bind("field", TupleGetItem(whole, position, span=span), span)
            self.ownership.own(part, held if held is Held.WITH_PARTS else Held.SHARED)
            parts.append(self.named(part, span))
        return self.ownership.own(form.made(parts), held)

    def as_read(self, value: Any) -> Any:
        """A value as Python reads it: its parts may have names."""
        if not is_expr(value):
            return value
        self.type_of(value)
        return self.named(value)

    def type_of(self, expr: Expr) -> Type:
        return self.session.type_of(expr)

    def range_of(self, value: Any) -> Range:
        return range_of(self.session.ranges, value)

    def closed(self, result: Expr) -> Expr:
        """All that was computed here, then `result`."""
        for var, value, span in reversed(self.bindings):
            result = Let(var, value, result, span=span)
        return result


def is_expr(value: object) -> TypeGuard[Expr]:
    """Whether a value is part of the program, not known now."""
    return isinstance(value, ExprBase)


End: TypeAlias = Callable[[Block], Expr]


def _not_reached(*_: Any) -> NoReturn:
    raise CompilerBug("frontend.python", "statements are left by a way that they do not have")


@frozen
class Exits:
    """What stands where a run of statements ends: after the last one, at `return`, at `break` and at `continue`. Each
    gives the whole expression of the block it is handed."""

    fall: End = _not_reached
    give: Callable[[Block, Any, Span], Expr] = _not_reached
    leave: End = _not_reached
    again: End = _not_reached


def begin(
    session: Session, forms: Forms, function: Callable[..., Any], around: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Definition, ast.FunctionDef]:
    """A definition that is about to be read. Raises `RelayError` (rule `python-subset`) for what is outside."""
    source = read_source(function)
    assert isinstance(source.tree, ast.FunctionDef)
    tree = with_states_passed(without_deletions(source.tree))
    check_subset(source, tree.body)
    return Definition(replace(source, tree=tree), finder(function, around), session, forms), tree


def finder(function: Callable[..., Any], around: Mapping[str, Any]) -> Callable[[str], Any]:
    """What names outside a function are worth: those of the functions around it, then those of its file."""
    code = function.__code__
    cells: Mapping[str, Any] = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def find(name: str) -> Any:
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return around[name] if name in around else function.__globals__[name]

    return find

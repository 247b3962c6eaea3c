"""Relay text into programs. Grammar 0.0.5 with what later versions added, and without the gaps of the published
parser: refs, polymorphic function types, chains of projections, typed literals, escapes, metadata.

    sequence  ::= (binding ';')* expression          binding ::= 'let' var '=' expression | '%0' '=' expression
                                                              | 'free_var' var | expression
    expression::= postfix (operator postfix)*        postfix ::= atom ( type_args? '(' args ')' | '.0' | '^' )*

Expressions nest without recursion, to a depth of `MAX_NESTING` blocks; types and values of attributes less deep.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.base.span import Span
from relay.ir.attributes import Attributes
from relay.ir.expr import (
    Call,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Let,
    Op,
    RefRead,
    RefWrite,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.operator import OperatorTable
from relay.ir.types import Type
from relay.text import forms
from relay.text.attributes import ValueReader, build_attributes, inputs_left_out, read_string
from relay.text.borrowing import DataTypes, Library, no_types
from relay.text.cursor import Cursor
from relay.text.lexer import Kind, Tokens
from relay.text.literals import is_special_float, read_literal, read_metadata
from relay.text.patterns import PatternReader
from relay.text.types import TypeReader

Steps = Generator[Any, Any, Expr]
MAX_NESTING = 100_000
_BINARY: Mapping[str, tuple[int, str]] = {
    "*": (12, "multiply"),
    "/": (12, "divide"),
    "+": (10, "add"),
    "-": (10, "subtract"),
    "<": (8, "less"),
    "<=": (8, "less_equal"),
    ">": (8, "greater"),
    ">=": (8, "greater_equal"),
    "==": (7, "equal"),
    "!=": (7, "not_equal"),
}
_WRITE = (1, "")  # `r := v` binds weakest
_FORMS = frozenset(("if", "match", "fn", "True", "False", "meta", "ref", "ref_read", "ref_write"))


class ExpressionParser:
    """Reads the expressions of one text. A data type that it uses and does not define is that of `library`."""

    def __init__(self, tokens: Tokens, operators: OperatorTable, library: Library = no_types) -> None:
        self.cursor = Cursor(tokens)
        self.operators = operators
        self.data_types = DataTypes(self.cursor, library)
        self.types = TypeReader(self.cursor, self.data_types.headers, self.data_types.borrowed_header)
        self.values = ValueReader(self.cursor, self.types)
        self.global_places: dict[str, Span] = {}
        self.patterns = PatternReader(self)
        self._ops: dict[str, Op] = {}
        self.constants = read_metadata(tokens.metadata)
        self.has_metadata = tokens.metadata is not None
        self._names: dict[str, Expr] = {}
        self._undo: list[tuple[str, Expr | None]] = []
        self._nesting = 0

    # ------------------------------------------------------------------------------------------------- scopes

    @contextmanager
    def scope(self) -> Generator[None, None, None]:
        """Names bound within the `with` are forgotten after it."""
        mark = len(self._undo)
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise RelayError(rule="nested-too-deep", message="the program is nested too deep", span=self.cursor.span())
        yield
        self._nesting -= 1
        while len(self._undo) > mark:
            name, before = self._undo.pop()
            if before is None:
                del self._names[name]
            else:
                self._names[name] = before

    def bind(self, name: str, value: Expr) -> None:
        """`%x` or `%0` means `value` until the scope ends."""
        self._undo.append((name, self._names.get(name)))
        self._names[name] = value

    def variable(self) -> tuple[str, Var]:
        """`%x: T`, not yet bound: the name as written and a new variable."""
        span = self.cursor.span()
        text = self.cursor.expect_kind(Kind.LOCAL, "where a variable is bound")
        annotation = self.types.type_() if self.cursor.accept(":") else None
        return text, Var(plain_name(text, span), annotation, span=span)

    def variable_named(self, text: str, span: Span) -> Expr:
        """What `%x` or `%0` means here."""
        value = self._names.get(text)
        if value is None:
            raise RelayError(
                rule="unbound-variable",
                message=f"{text} is not bound here",
                span=span,
                remedy=near_names(text, self._names) or "a free variable is declared by `free_var %x: T;`",
            )
        return value

    # ----------------------------------------------------------------------------------------------- sequence

    def sequence(self, close: str) -> Steps:
        """Bindings and expressions up to `close` (which is passed; empty: the end of the text)."""
        cursor = self.cursor
        body = yield self.bindings()
        if close:
            cursor.expect(close, "after the value of a block")
        elif cursor.kind is not Kind.END:
            cursor.fail("the expression ends here, but the text goes on")
        return body

    def bindings(self) -> Steps:
        """Bindings and expressions up to the value of the last one: `let %x = 1; %0 = add(%x, 1); (%0, %x)`."""
        cursor = self.cursor
        lets: list[tuple[Var, Expr, Span]] = []
        with self.scope():
            while True:
                first = cursor.position
                if cursor.at("let"):
                    name, var, value = yield self._let()
                    lets.append((var, value, cursor.span_from(first)))
                    if not isinstance(value, Function):
                        self.bind(name, var)
                    cursor.expect(";", "after the value of a let")
                elif cursor.kind is Kind.GRAPH and cursor.peek() == "=":
                    name = cursor.advance()
                    cursor.advance()
                    self.bind(name, (yield self.expression()))
                    cursor.expect(";", f"after the value of {name}")
                elif cursor.at("free_var"):
                    cursor.advance()
                    self.bind(*self.variable())
                    cursor.expect(";", "after a free variable")
                else:
                    body = yield self.expression()
                    if not cursor.at(";"):
                        break
                    lets.append((Var("_"), body, cursor.span_from(first)))
                    cursor.advance()
        for var, value, span in reversed(lets):
            body = Let(var, value, body, span=span)
        return body

    def _let(self) -> Generator[Any, Any, tuple[str, Var, Expr]]:
        """`let %x: T = value`, also `let %x = %0 = value`. A function may use the variable that it is bound to."""
        cursor = self.cursor
        cursor.advance()
        name, var = self.variable()
        cursor.expect("=", "after the variable of a let")
        number = None
        if cursor.kind is Kind.GRAPH and cursor.peek() == "=":
            number = cursor.advance()
            cursor.advance()
        if cursor.at("fn"):
            self.bind(name, var)
        value = yield self.expression()
        if number is not None:
            self.bind(number, value)
        return name, var, value

    # --------------------------------------------------------------------------------------------- expressions

    def expression(self) -> Steps:
        """Operators by precedence, all left-associative but `:=`."""
        cursor = self.cursor
        first = cursor.position
        operands: list[tuple[int, Expr]] = [(first, (yield self.postfix()))]
        pending: list[tuple[int, str]] = []
        while cursor.kind is Kind.MARK and (cursor.text in _BINARY or cursor.text == ":="):
            incoming = _BINARY.get(cursor.text, _WRITE)
            while pending and pending[-1][0] >= incoming[0] and incoming is not _WRITE:
                self._reduce(operands, pending)
            pending.append(incoming)
            cursor.advance()
            operands.append((cursor.position, (yield self.postfix())))
        while pending:
            self._reduce(operands, pending)
        return operands[0][1]

    def _reduce(self, operands: list[tuple[int, Expr]], pending: list[tuple[int, str]]) -> None:
        _, name = pending.pop()
        _, right = operands.pop()
        first, left = operands.pop()
        span = self.cursor.span_from(first)
        value = self.operation(name, (left, right), span) if name else RefWrite(left, right, span=span)
        operands.append((first, value))

    def operation(self, name: str, operands: tuple[Expr, ...], span: Span) -> Call:
        operator = self._operator(name, span)
        return Call(operator, operands, self._attributes(operator, {}, span), span=span)

    def postfix(self) -> Steps:
        cursor = self.cursor
        first = cursor.position
        value = self._leaf()
        if value is None:
            value = yield self._atom()
        while True:
            if cursor.kind is Kind.PROJECTION:
                value = TupleGetItem(value, self._index(), span=cursor.span_from(first))
            elif cursor.kind is not Kind.MARK:
                return self._applied(value, first)
            elif cursor.text == "(":
                value = yield self._call(value, (), first)
            elif cursor.text == "[":
                value = yield self._call(value, self.types.type_args(), first)
            elif cursor.text == "^":
                cursor.advance()
                value = RefRead(value, span=cursor.span_from(first))
            else:
                return self._applied(value, first)

    def _applied(self, value: Expr, first: int) -> Expr:
        """A constructor without fields is a value as it stands."""
        if isinstance(value, Constructor) and not value.inputs:
            return Call(value, (), span=self.cursor.span_from(first))
        return value

    def _index(self) -> int:
        digits = self.cursor.text[1:]
        if len(digits) > 9:
            self.cursor.fail("the position in a tuple is too large")
        self.cursor.advance()
        return int(digits)

    def _call(self, callee: Expr, type_args: tuple[Type, ...], first: int) -> Steps:
        cursor = self.cursor
        cursor.expect("(", "before the arguments")
        arguments: list[Expr] = []
        written: dict[str, tuple[object, Span | None]] = {}
        for _ in cursor.items(")", "arguments"):
            if self.values.at_attribute():
                self._written(written)
                continue
            if written:
                cursor.fail("arguments stand before attributes")
            alone = cursor.peek() in (",", ")")
            leaf = self._leaf() if alone else None
            arguments.append((yield self.expression()) if leaf is None else self._applied(leaf, cursor.position - 1))
        span = cursor.span_from(first)
        if isinstance(callee, Op) and callee.operator.input_defaults:
            arguments += inputs_left_out(callee, len(arguments), written, span)
        attributes = self._attributes(callee, written, span)
        return Call(callee, tuple(arguments), attributes, type_args, span=span)

    def _written(self, written: dict[str, tuple[object, Span | None]]) -> None:
        span = self.cursor.span()
        key = self.values.key()
        if key in written:
            raise RelayError(rule="duplicate-name", message=f"attribute `{key}` stands twice", span=span)
        written[key] = (self.values.value(), span)

    def _attributes(
        self, callee: Expr, written: dict[str, tuple[object, Span | None]], span: Span
    ) -> Attributes | None:
        if isinstance(callee, Op):
            try:
                return build_attributes(callee.name, callee.operator.attributes, written)
            except RelayError as error:
                raise error.at(span) from None
        if written:
            raise RelayError(
                rule="attributes-without-operator",
                message="only a call of an operator has attributes",
                span=span,
                found=", ".join(written),
            )
        return None

    # --------------------------------------------------------------------------------------------------- atoms

    def _leaf(self) -> Expr | None:
        """The commonest atoms; None when something larger stands here."""
        cursor = self.cursor
        kind, text = cursor.kind, cursor.text
        if kind is Kind.LOCAL or kind is Kind.GRAPH:
            value = self._names.get(text)
            if value is None:
                return self.variable_named(text, cursor.span())
            cursor.advance()
            return value
        if kind is Kind.NUMBER:
            span = cursor.span()
            return read_literal(cursor.advance(), False, span)
        if kind is Kind.GLOBAL:
            span = cursor.span()
            name = plain_name(cursor.advance(), span)
            self.global_places.setdefault(name, span)
            return GlobalVar(name, span=span)
        if kind is Kind.NAME and text not in _FORMS:
            return self._named()
        return None

    def _atom(self) -> Steps:
        cursor = self.cursor
        first = cursor.position
        if cursor.accept("("):
            return (yield forms.parenthesis(self, first))
        if cursor.accept("{"):
            return (yield self.sequence("}"))
        if cursor.accept("-"):
            return (yield forms.negation(self, first))
        if cursor.kind is not Kind.NAME:
            cursor.fail("an expression is missing here", "an expression")
        match cursor.text:
            case "if":
                return (yield forms.if_(self))
            case "match":
                return (yield forms.match_(self))
            case "fn":
                cursor.advance()
                return (yield forms.function(self, first))
            case "True" | "False":
                return const(cursor.advance() == "True")
            case "meta":
                return forms.meta(self)
            case _:
                if cursor.peek() != "(":
                    return self._named()
                return (yield forms.ref_(self, first))

    def _named(self) -> Expr:
        """A constructor, an operator, or a special float."""
        cursor = self.cursor
        name, span = cursor.text, cursor.span()
        data_types = self.data_types
        constructor = data_types.constructors.get(name) if name in self.operators else data_types.constructor(name)
        if constructor is not None:
            cursor.advance()
            return constructor
        if name not in self.operators and is_special_float(name):
            return read_literal(cursor.advance(), False, span)
        operator = self._operator(name, span)
        cursor.advance()
        return operator

    def _operator(self, name: str, span: Span) -> Op:
        known = self._ops.get(name)
        if known is None:
            operator = self.operators.get(name)
            if operator is None:
                raise RelayError(
                    rule="unknown-operator",
                    message=f"there is no operator `{name}`",
                    span=span,
                    remedy=near_names(name, [*self.operators, *self.data_types.constructors]),
                )
            known = self._ops[name] = Op(operator)
        return known


def plain_name(token: str, span: Span) -> str:
    """The name that `%x`, `@f` or their quoted forms stand for."""
    return read_string(token[1:], span) if token[1] == '"' else token[1:]

"""The forms that enclose others: parentheses, functions, branches, clauses, cells; each read by one generator."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, cast

from relay.base.diagnostics import RelayError
from relay.ir.attributes import AttributeValue
from relay.ir.expr import Clause, Constant, Expr, Function, If, Match, RefCreate, RefRead, RefWrite, Tuple, Var
from relay.text.lexer import Kind
from relay.text.literals import METADATA_CONSTANTS, is_special_float, read_literal

if TYPE_CHECKING:
    from relay.text.parser import ExpressionParser

Steps = Generator[Any, Any, Expr]
_REF_FORMS = {"ref": 1, "ref_read": 1, "ref_write": 2}


def parenthesis(parser: ExpressionParser, first: int) -> Steps:
    cursor = parser.cursor
    parts: list[Expr] = []
    with parser.scope():
        while not cursor.accept(")"):
            parts.append((yield parser.bindings()))
            if cursor.accept(")"):
                if len(parts) == 1:
                    return parts[0]
                break
            cursor.expect(",", "in a tuple")
    return Tuple(tuple(parts), span=cursor.span_from(first))


def negation(parser: ExpressionParser, first: int) -> Steps:
    """What follows a minus. Those in front of a number are a part of it, and cancel out."""
    cursor = parser.cursor
    minuses = 1
    while cursor.accept("-"):
        minuses += 1
    if cursor.kind is Kind.NUMBER or (cursor.kind is Kind.NAME and is_special_float(cursor.text)):
        span = parser.cursor.tokens.span(first, cursor.position)
        return read_literal(cursor.advance(), minuses % 2 == 1, span)
    operand = yield parser.postfix()
    span = cursor.span_from(first)
    for _ in range(minuses):
        operand = parser.operation("negative", (operand,), span)
    return operand


def if_(parser: ExpressionParser) -> Steps:
    cursor = parser.cursor
    first = cursor.position
    cursor.advance()
    cursor.expect("(", "before a condition")
    cond = yield parser.expression()
    cursor.expect(")", "after a condition")
    cursor.expect("{", "before a branch")
    true_branch = yield parser.sequence("}")
    cursor.expect("else", "after the first branch")
    cursor.expect("{", "before a branch")
    false_branch = yield parser.sequence("}")
    return If(cond, true_branch, false_branch, span=cursor.span_from(first))


def match_(parser: ExpressionParser) -> Steps:
    cursor = parser.cursor
    first = cursor.position
    cursor.advance()
    complete = not cursor.accept("?")
    data = yield parser.expression()
    cursor.expect("{", "before the clauses")
    clauses: list[Clause] = []
    for _ in cursor.items("}", "clauses"):
        with parser.scope():
            pattern = parser.patterns.pattern()
            cursor.expect("=>", "after a pattern")
            clauses.append(Clause(pattern, (yield parser.bindings())))
    return Match(data, tuple(clauses), complete, span=cursor.span_from(first))


def function(parser: ExpressionParser, first: int) -> Steps:
    """What follows `fn` or `def @name`."""
    cursor = parser.cursor
    with parser.scope(), parser.types.type_params() as type_params:
        cursor.expect("(", "before the parameters")
        params: list[Var] = []
        attrs: dict[str, AttributeValue] = {}
        for _ in cursor.items(")", "parameters"):
            if parser.values.at_attribute():
                key = parser.values.key()
                attrs[key] = cast("AttributeValue", parser.values.value())
            else:
                name, var = parser.variable()
                parser.bind(name, var)
                params.append(var)
        ret_type = parser.types.type_() if cursor.accept("->") else None
        span = cursor.span_from(first)
        cursor.expect("{", "before the body of a function")
        body = yield parser.sequence("}")
    return Function(tuple(params), body, ret_type, type_params, attrs, span=span)


def ref_(parser: ExpressionParser, first: int) -> Steps:
    cursor = parser.cursor
    form = cursor.advance()
    cursor.advance()
    parts: list[Expr] = []
    for _ in cursor.items(")", f"the arguments of {form}"):
        parts.append((yield parser.expression()))
    span = cursor.span_from(first)
    if len(parts) != _REF_FORMS[form]:
        raise RelayError(
            rule="arity",
            message=f"{form} takes another number of arguments",
            span=span,
            expected=str(_REF_FORMS[form]),
            found=str(len(parts)),
        )
    match form:
        case "ref":
            return RefCreate(parts[0], span=span)
        case "ref_read":
            return RefRead(parts[0], span=span)
        case _:
            return RefWrite(parts[0], parts[1], span=span)


def meta(parser: ExpressionParser) -> Constant:
    cursor = parser.cursor
    first = cursor.position
    cursor.advance()
    cursor.expect("[", "after `meta`")
    section = cursor.expect_kind(Kind.NAME, "in a reference to the metadata")
    cursor.expect("]", "in a reference to the metadata")
    cursor.expect("[", "in a reference to the metadata")
    number = cursor.expect_kind(Kind.NUMBER, "in a reference to the metadata")
    cursor.expect("]", "in a reference to the metadata")
    if (
        section not in (METADATA_CONSTANTS, "Constant")
        or not number.isdigit()
        or len(number) > 9
        or (int(number) >= len(parser.constants))
    ):
        raise RelayError(
            rule="unknown-metadata",
            message=f"the metadata has no meta[{section}][{number}]",
            span=cursor.span_from(first),
            expected=f"{len(parser.constants)} entries of {METADATA_CONSTANTS}",
            remedy="" if parser.has_metadata else "print with show_meta_data=True to keep constants in the text",
        )
    return parser.constants[int(number)]

"""Patterns of match clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.ir.expr import Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard
from relay.text.cursor import Depth
from relay.text.lexer import Kind

if TYPE_CHECKING:
    from relay.text.parser import ExpressionParser

MAX_PATTERN_DEPTH = 64


class PatternReader:
    """Reads patterns for a parser, which gets their variables bound."""

    def __init__(self, parser: ExpressionParser) -> None:
        self.parser = parser
        self._depth = Depth("a pattern", MAX_PATTERN_DEPTH, parser.cursor)

    def pattern(self) -> Pattern:
        """The pattern that stands here. Raises `RelayError` (rules `syntax`, `unknown-constructor`)."""
        cursor = self.parser.cursor
        with self._depth:
            if cursor.kind is Kind.LOCAL:
                name, var = self.parser.variable()
                self.parser.bind(name, var)
                return PatternVar(var)
            if cursor.accept("_"):
                return PatternWildcard()
            if cursor.accept("("):
                return PatternTuple(self._until_parenthesis())
            return self._constructor()

    def _constructor(self) -> PatternConstructor:
        cursor = self.parser.cursor
        span = cursor.span()
        name = cursor.expect_kind(Kind.NAME, "where a pattern stands")
        constructor = self.parser.data_types.constructor(name)
        if constructor is None:
            raise RelayError(
                rule="unknown-constructor",
                message=f"there is no constructor `{name}`",
                span=span,
                remedy=near_names(name, self.parser.data_types.constructors),
            )
        return PatternConstructor(constructor, self._until_parenthesis() if cursor.accept("(") else ())

    def _until_parenthesis(self) -> tuple[Pattern, ...]:
        return tuple([self.pattern() for _ in self.parser.cursor.items(")", "patterns")])
